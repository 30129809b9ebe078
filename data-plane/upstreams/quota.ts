/**
 * The quota of a credential as providers state it with each answer, so that other credentials are used before
 * this one is refused. Pure.
 *
 * OpenAI and those who copied it: https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * Anthropic: https://docs.anthropic.com/en/api/rate-limits#response-headers
 */

/** Share of a limit below which the quota counts as used up: other nodes have requests on their way. */
const SPENT_SHARE = 0.02;
/** How long other credentials are preferred if the provider names no time, in ms. */
const RESET_MS = 5_000;
/** The longest time that a provider may name, in ms. */
const RESET_MAX_MS = 300_000;

type Headers = Record<string, string | string[] | undefined>;

/** The headers of one limit. */
interface LimitHeaders {
  remaining: string;
  limit: string;
  reset: string;
}

const openai = (unit: string): LimitHeaders => ({
  remaining: `x-ratelimit-remaining-${unit}`,
  limit: `x-ratelimit-limit-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
});
const anthropic = (unit: string): LimitHeaders => ({
  remaining: `anthropic-ratelimit-${unit}-remaining`,
  limit: `anthropic-ratelimit-${unit}-limit`,
  reset: `anthropic-ratelimit-${unit}-reset`,
});
const LIMITS: readonly LimitHeaders[] = [
  ...['requests', 'tokens'].map(openai),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(anthropic),
];

/**
 * How long the credential should not be used, in ms, because a quota is nearly used up; 0 if none is. `now`
 * is in ms of the wall clock.
 */
export function spentForMs(headers: Headers, now: number): number {
  let longest = 0;
  for (const { remaining, limit, reset } of LIMITS) {
    const left = headers[remaining];
    if (left === undefined) continue;
    const number = Number(left);
    const all = Number(headers[limit] ?? 0);
    // An empty or odd value says nothing.
    if (left === '' || !(number <= (all > 0 ? all * SPENT_SHARE : 0))) continue;
    longest = Math.max(longest, resetMs(headers[reset], now));
  }
  return longest;
}

/** The time to the reset: a duration such as `6m0s` or `20ms`, seconds, or a date. */
function resetMs(value: Headers[string], now: number): number {
  if (typeof value !== 'string' || value === '') return RESET_MS;
  const duration = durationMs(value) ?? Date.parse(value) - now;
  return Number.isFinite(duration) ? Math.min(Math.max(duration, 0), RESET_MAX_MS) : RESET_MS;
}

const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?$/;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000, 1];

function durationMs(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const parts = DURATION.exec(text)?.slice(1);
  return parts?.reduce((sum, part, index) => sum + Number(part ?? 0) * (UNITS_MS[index] ?? 0), 0);
}
