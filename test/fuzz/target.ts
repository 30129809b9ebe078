/** Target of the fuzzer: a function that takes bytes and throws if our code breaks one of its rules. */

export interface FuzzTarget {
  /** Throws an exception for a violation. It handles the exceptions that our code may throw. */
  run(input: Buffer): void | Promise<void>;
  /** Valid inputs to begin with. */
  seeds: readonly (string | Buffer)[];
  /** Words of the format. The text literals of the code under test are added to them. */
  tokens?: readonly string[];
  /** Further inputs of recorded traffic; none where there are no recordings. */
  recorded?(): (string | Buffer)[];
}

/** A rule that our code broke. */
export class Violation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Violation';
  }
}

/** Throws a Violation unless the condition holds. */
export function demand(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new Violation(typeof message === 'string' ? message : message());
}

/** Names of all targets: files of the folder `targets`. */
export const TARGETS = [
  'json-members',
  'sse',
  'dialect-requests',
  'dialect-answers',
  'dialect-streams',
  'event-stream',
  'multipart',
  'realtime',
  'graphql',
  'proxy-headers',
  'journal',
] as const;

export type TargetName = (typeof TARGETS)[number];

/** Loads a target. */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  const module = (await import(`./targets/${name}.ts`)) as { target: FuzzTarget };
  return module.target;
}
