/** Reads the settings of the HTTP server from environment variables. */

/** The settings of one node's HTTP server. */
export interface ServerSettings {
  /** Addresses or CIDR blocks of proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: string[];
  /** Bearer token of `/metrics`; undefined serves metrics to local peers alone. */
  metricsToken?: string | undefined;
  /** Age in ms since the last confirmation from which on a configuration is not served: requests get 503. */
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

/** A duration in ms; undefined without a text. Throws an Error for an unreadable text. */
function readDuration(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const match = /^(\d+)([smhd]?)$/.exec(text);
  const unit = UNITS[match?.[2] || 's'];
  if (!match || unit === undefined)
    throw new Error(`MAX_CONFIG_AGE is "${text}"; write it like 24h, 90m or 30s`);
  return Number(match[1]) * unit;
}
