/**
 * Quirks: how an upstream differs from the format that it speaks, as rows of a table that operators edit. A
 * node applies the rows of the upstream, then those of the route, to each chat request that it sends.
 */

/**
 * DROP removes a member. RENAME gives a member of the top level another name. CLAMP limits a number. SET
 * writes a value, and REPLACE writes it in place of one other value. REASONING_ON and REASONING_OFF write a
 * value if the client asks for reasoning, or asks for none. TOOL_NAMES limits the characters and the length
 * of tool names. NO_SYSTEM gives system messages another role. NO_PARALLEL_TOOLS asks for one tool call at a
 * time.
 */
export const QUIRK_KINDS = [
  'DROP',
  'RENAME',
  'CLAMP',
  'SET',
  'REPLACE',
  'REASONING_ON',
  'REASONING_OFF',
  'TOOL_NAMES',
  'NO_SYSTEM',
  'NO_PARALLEL_TOOLS',
] as const;
export type QuirkKind = (typeof QUIRK_KINDS)[number];

/** One row. Fields that its kind does not use are null. */
export interface Quirk {
  kind: QuirkKind;
  /** The member of the upstream's format, for example `max_tokens` or `generationConfig.topK`. */
  member: string | null;
  /** The new name (RENAME), the value to replace as JSON (REPLACE), or `user` or `developer` (NO_SYSTEM). */
  other: string | null;
  /**
   * The value to write as JSON text, or the characters beside letters and digits that tool names may have.
   */
  value: string | null;
  /** Smallest number (CLAMP). */
  min: number | null;
  /** Largest number (CLAMP), or largest length of a tool name (TOOL_NAMES). */
  max: number | null;
}

/** Maximum number of rows of one upstream or route. */
export const QUIRKS_MAX = 40;
/** Maximum number of objects that a member is nested in, itself included. */
const MEMBER_DEPTH = 4;
/** Maximum length of a value, in characters. */
const VALUE_CHARACTERS = 500;
/** Maximum nesting of a value. */
const VALUE_DEPTH = 8;
/** Shortest permitted limit of the length of tool names: it has room for a hash. */
const TOOL_NAME_MIN = 16;
const TOOL_NAME_MAX = 256;
const NAME = /^[a-zA-Z_][\w-]{0,63}$/;
/** Characters that tool names may have beside letters and digits. */
const TOOL_CHARACTERS = /^[_.:/-]{0,5}$/;

/** Names that would reach the prototype of an object. */
const UNSAFE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** Members that decide what is billed, answered or stored. The gateway alone writes them. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'n', 'candidateCount', 'messages', 'input', 'contents', 'instructions'],
  ...['systemInstruction', 'system_instruction', 'store', 'background', 'conversation'],
  ...['previous_response_id', 'cachedContent', 'cached_content', 'container'],
]);

/** The error of a row, as a sentence that says what to enter; undefined if it is valid. */
export function quirkProblem(quirk: Quirk): string | undefined {
  const { kind, member, other, value, min, max } = quirk;
  if (kind === 'NO_PARALLEL_TOOLS') return undefined;
  if (kind === 'NO_SYSTEM')
    return other === 'user' || other === 'developer' ? undefined : 'Choose the role user or developer.';
  if (kind === 'TOOL_NAMES') return toolNamesProblem(value, max);
  const wrong = memberProblem(member);
  if (wrong !== undefined || kind === 'DROP') return wrong;
  if (kind === 'RENAME') return renameProblem(member, other);
  if (kind === 'CLAMP') {
    const isRange = (min !== null || max !== null) && (min ?? -Infinity) <= (max ?? Infinity);
    return isRange ? undefined : 'Enter a smallest or a largest number, the smallest first.';
  }
  if (kind === 'REPLACE' && !isSmallJson(other))
    return 'Enter the value to replace as JSON, for example "none".';
  return isSmallJson(value) ? undefined : 'Enter the value as JSON, for example "low", 0.6 or {"type":"x"}.';
}

function memberProblem(member: string | null): string | undefined {
  const steps = (member ?? '').split('.');
  const isNamed = steps.length <= MEMBER_DEPTH && steps.every((step) => NAME.test(step) && !UNSAFE.has(step));
  if (!isNamed)
    return `Enter a member of letters, digits, _ and -, with dots between at most ${MEMBER_DEPTH} levels.`;
  const reserved = steps.find((step) => RESERVED.has(step));
  return reserved === undefined ? undefined : `The gateway itself writes ${reserved}. Choose another member.`;
}

function renameProblem(member: string | null, other: string | null): string | undefined {
  const isTop = !`${member}${other}`.includes('.') && member !== other;
  if (!isTop) return 'Enter two different members of the top level, without dots.';
  return memberProblem(other);
}

function toolNamesProblem(value: string | null, max: number | null): string | undefined {
  if (!TOOL_CHARACTERS.test(value ?? ''))
    return 'Enter only the characters _ . : / - that tool names may have.';
  if (max !== null && Number.isInteger(max) && max >= TOOL_NAME_MIN && max <= TOOL_NAME_MAX) return undefined;
  return `Enter a largest length from ${TOOL_NAME_MIN} to ${TOOL_NAME_MAX}.`;
}

function isSmallJson(text: string | null): boolean {
  if (text === null || text.length > VALUE_CHARACTERS) return false;
  try {
    return depthOf(JSON.parse(text)) <= VALUE_DEPTH;
  } catch {
    return false;
  }
}

/** Nesting of a JSON value; Infinity if a member has an unsafe name. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Object.keys(value).some((name) => UNSAFE.has(name))) return Infinity;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
