/** Finds out whether a refusal may come from a wrong clock. Signatures and signed tokens carry the time. */

/** Smaller differences are the resolution of the header and the time on the way, in ms. */
const NOTEWORTHY_MS = 60_000;

/**
 * By how much the clock of this machine is ahead of that of a host, in ms, less than 0 if it is behind;
 * undefined if it hardly differs, or if the host sent no `Date` header
 * (https://www.rfc-editor.org/rfc/rfc9110#name-date). `now` is in ms since the epoch.
 */
export function clockAheadMs(
  headers: Record<string, string | string[] | undefined>,
  now: number,
): number | undefined {
  const date = headers.date;
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  const differenceMs = now - theirs;
  return Number.isNaN(differenceMs) || Math.abs(differenceMs) < NOTEWORTHY_MS ? undefined : differenceMs;
}

/** The difference as a sentence for the log. */
export function clockSentence(differenceMs: number, host: string): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const way = differenceMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this node differs by ${seconds} s: it is ${way} the clock of ${host}. Synchronise it.`;
}
