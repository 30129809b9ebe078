/** Reads the settings of the HTTP server from environment variables. */

/** The settings of one node's HTTP server. */
export interface ServerSettings {
  /** Addresses or CIDR blocks of proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: string[];
  /** Bearer token of `/metrics`. Direct callers with a loopback or private address need none. */
  metricsToken?: string | undefined;
  /**
   * Maximum time in ms since the control plane last confirmed the configuration. After that, requests get
   * 503.
   */
  maxConfigAgeMs: number;
}

const HOUR_MS = 3_600_000;
const MAX_CONFIG_AGE_DEFAULT_MS = 24 * HOUR_MS;
const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS };

/**
 * Reads `TRUST_PROXY` (comma-separated), `MAX_CONFIG_AGE` (`24h`, `90s`; plain numbers are seconds) and
 * `METRICS_TOKEN`.
 */
export function readServerSettings(env: Record<string, string | undefined>): ServerSettings {
  const trustedProxies = (env.TRUST_PROXY ?? '')
    .split(',')
    .map((block) => block.trim())
    .filter((block) => block && block !== 'none');
  return {
    trustedProxies,
    maxConfigAgeMs: readDuration(env.MAX_CONFIG_AGE) ?? MAX_CONFIG_AGE_DEFAULT_MS,
    metricsToken: env.METRICS_TOKEN || undefined,
  };
}

/** The duration in ms; undefined if MAX_CONFIG_AGE is not set. Throws an Error if it is malformed. */
function readDuration(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const match = /^(\d+)([smhd]?)$/.exec(text);
  const unit = UNITS[match?.[2] || 's'];
  if (!match || unit === undefined)
    throw new Error(`MAX_CONFIG_AGE is "${text}". Write a duration such as 24h, 90m or 30s.`);
  return Number(match[1]) * unit;
}
