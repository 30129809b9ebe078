/** Replaces `components/device-storage.ts` while the build renders pages: nothing is stored. */

/** Stores nothing. */
export function remember(): boolean {
  return false;
}

/** There is no stored value. */
export function recall(): undefined {
  return undefined;
}
