/** Errors of calls to the control plane. */

/**
 * A call to the control plane got no valid answer, or was refused. `code` is the GraphQL or user error code,
 * if there is one. The message never contains a token.
 */
export class ControlError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, cause: unknown) {
    super(message, { cause });
    this.name = 'ControlError';
    this.code = code;
  }
}

/** The error for the `userErrors` of a mutation. */
export function refusalError(field: string, errors: { code: string; message: string }[]): ControlError {
  const [first] = errors;
  return new ControlError(
    `${field} was refused: ${first?.message ?? 'no reason given'}`,
    first?.code,
    undefined,
  );
}
