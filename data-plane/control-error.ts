/** What the node's line to the control plane throws. */

/**
 * No answer, or one that says nothing: the caller may try again. The message names what failed, never a
 * token.
 */
export class ControlError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, cause: unknown) {
    super(message, { cause });
    this.name = 'ControlError';
    this.code = code;
  }
}

/** The failure that a mutation's `userErrors` stand for. */
export function refusal(field: string, errors: { code: string; message: string }[]): ControlError {
  const [first] = errors;
  return new ControlError(
    `${field} was refused: ${first?.message ?? 'without a reason'}`,
    first?.code,
    undefined,
  );
}
