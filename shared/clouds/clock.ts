/** Finds out whether a refusal may come from a wrong clock. Signatures and signed tokens carry the time. */

/** Smaller differences are the resolution of the header and the time on the way, in ms. */
const NOTEWORTHY_MS = 60_000;

/**
 * By how much the clock of this machine differs from that of a host, as a sentence for the log; undefined if
 * it does not, or if the host sent no `Date` header (https://www.rfc-editor.org/rfc/rfc9110#name-date). `now`
 * is in ms since the epoch.
 */
export function clockDifference(
  headers: Record<string, string | string[] | undefined>,
  { host, now }: { host: string; now: number },
): string | undefined {
  const date = headers.date;
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  const differenceMs = now - theirs;
  if (Number.isNaN(differenceMs) || Math.abs(differenceMs) < NOTEWORTHY_MS) return undefined;
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const way = differenceMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this node differs by ${seconds} s: it is ${way} the clock of ${host}. Synchronise it.`;
}
