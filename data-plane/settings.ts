/** What the request path takes from the environment. */

/** Limits and addresses of one node's request path. */
export interface ServerSettings {
  /** Addresses or CIDR blocks of proxies whose `x-forwarded-for` counts. */
  trustedProxies: string[];
  /** A configuration that was confirmed longer ago than this answers 503, in ms. */
  maxConfigAgeMs: number;
}

const HOUR_MS = 3_600_000;
const MAX_CONFIG_AGE_DEFAULT_MS = 24 * HOUR_MS;
const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS };

/** Reads `TRUST_PROXY` (comma-separated) and `MAX_CONFIG_AGE` (`24h`, `90s`; plain numbers are seconds). */
export function readServerSettings(env: Record<string, string | undefined>): ServerSettings {
  const trustedProxies = (env.TRUST_PROXY ?? '')
    .split(',')
    .map((block) => block.trim())
    .filter((block) => block && block !== 'none');
  return { trustedProxies, maxConfigAgeMs: readDuration(env.MAX_CONFIG_AGE) ?? MAX_CONFIG_AGE_DEFAULT_MS };
}

/** A duration in ms; undefined where none is given. Throws an Error naming what was written otherwise. */
function readDuration(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const match = /^(\d+)([smhd]?)$/.exec(text);
  const unit = UNITS[match?.[2] || 's'];
  if (!match || unit === undefined)
    throw new Error(`MAX_CONFIG_AGE is "${text}"; write it like 24h, 90m or 30s`);
  return Number(match[1]) * unit;
}
