/** Who is calling, and what a caller of a pool is told about its requests per minute. */
import { WINDOW_MS } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import { authenticate } from './authenticate.ts';
import type { Caller, Credentials } from './authenticate.ts';
import type { Call } from './call.ts';
import type { RateStanding } from './permits/permits.ts';
import type { Services } from './services.ts';

/**
 * Authenticates (and throws as `authenticate` does), and notes the use of an old secret; answers of pools
 * then carry their rate.
 */
export function callerOf(call: Call, credentials: Credentials, services: Services): Caller {
  const caller = authenticate(call, credentials);
  const { key, pool } = caller;
  if (caller.byOldSecret) services.oldSecrets.used(key.id);
  if (pool) call.reply.late(() => rateHeaders(call, pool, services));
  return caller;
}

/**
 * The headers of any answer of a pool, as it stands when they are written. `remaining` is what this node
 * knows: its permits, and its part of what was free. Where it has not asked for a minute it says the limit
 * alone. https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-11.html
 */
export function rateHeaders(
  { path }: Pick<Call, 'path'>,
  pool: PoolRecord,
  { permits }: Pick<Services, 'permits'>,
): Record<string, string> {
  const standing = permits.standing(pool);
  const limit = String(pool.rpmCap);
  const isMessages = path === '/v1/messages' || path.startsWith('/v1/messages/');
  return {
    'ratelimit-policy': `"pool";q=${limit};w=${WINDOW_MS / 1_000}`,
    'x-ratelimit-limit-requests': limit,
    ...(isMessages ? { 'anthropic-ratelimit-requests-limit': limit } : {}),
    ...(standing ? remainingHeaders(standing, isMessages) : {}),
  };
}

function remainingHeaders({ remaining, resetMs }: RateStanding, isMessages: boolean): Record<string, string> {
  const seconds = Math.ceil(resetMs / 1_000);
  return {
    ratelimit: `"pool";r=${remaining};t=${seconds}`,
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': `${seconds}s`,
    ...(isMessages
      ? {
          'anthropic-ratelimit-requests-remaining': String(remaining),
          // RFC 3339, as https://docs.anthropic.com/en/api/rate-limits says.
          'anthropic-ratelimit-requests-reset': new Date(Date.now() + resetMs).toISOString(),
        }
      : {}),
  };
}
