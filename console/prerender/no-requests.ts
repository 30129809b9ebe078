/** Replaces `early.ts` while the build renders pages: nothing is requested. */

/** A request that is never answered. */
export const fetchOrTake: typeof fetch = () => new Promise(() => undefined);

/** Returns undefined: a page that the build renders has no visitor who sends a form. */
export function takeEarlyForm(): undefined {
  return undefined;
}

/** Does nothing: no answer was requested early. */
export function forgetEarly(): void {
  return undefined;
}
