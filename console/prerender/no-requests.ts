/** Replaces `early.ts` while the build renders pages: nothing is requested. */

/** A request that is never answered. */
export const fetchOrTake: typeof fetch = () => new Promise(() => undefined);

/** Nobody has sent a form. */
export function takeEarlyForm(): undefined {
  return undefined;
}

/** There is nothing to forget. */
export function forgetEarly(): void {
  return undefined;
}
