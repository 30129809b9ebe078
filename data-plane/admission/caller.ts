/** Identifies the caller of a request, and sets the rate-limit headers of pools. */
import { GatewayError } from '@gateway/shared/failures';
import { WINDOW_MS } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import { authenticate } from './authenticate.ts';
import type { Caller, Credentials } from './authenticate.ts';
import type { Call } from '../call/call.ts';
import type { RateLimitStatus } from '../permits/permits.ts';
import type { Services } from '../services.ts';

/**
 * The caller of a request. Throws the refusals of `authenticate`. Notes the use of a previous secret, and
 * adds rate-limit headers to the answers of pools.
 */
export function identifyCaller(call: Call, credentials: Credentials, services: Services): Caller {
  const caller = authenticateCounted(call, credentials, services);
  const { key, pool } = caller;
  call.identified(key.walletId);
  if (caller.usedPreviousSecret) services.rotatedKeys.used(key.id);
  if (pool) call.reply.lateHeaders(() => rateHeaders(call, pool, services));
  return caller;
}

/** Throws the refusals of `authenticate`, or `rate_limited` for too many failures of one address. */
function authenticateCounted(call: Call, credentials: Credentials, { strangers }: Services): Caller {
  try {
    return authenticate(call, credentials);
  } catch (error) {
    const isStranger = error instanceof GatewayError && error.code === 'invalid_key';
    throw isStranger ? strangers.failed(call.address, error) : error;
  }
}

/**
 * The rate-limit headers of a pool at this moment. `remaining` counts this node's permits and its share of
 * the free ones. The limit stands alone if the node has requested no permits for a minute.
 * https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-11.html
 */
export function rateHeaders(
  { path }: Pick<Call, 'path'>,
  pool: PoolRecord,
  { permits }: Pick<Services, 'permits'>,
): Record<string, string> {
  const status = permits.rateLimitStatus(pool);
  const limit = String(pool.rpmCap);
  const isMessages = path === '/v1/messages' || path.startsWith('/v1/messages/');
  return {
    'ratelimit-policy': `"pool";q=${limit};w=${WINDOW_MS / 1_000}`,
    'x-ratelimit-limit-requests': limit,
    ...(isMessages ? { 'anthropic-ratelimit-requests-limit': limit } : {}),
    ...(status ? remainingHeaders(status, isMessages) : {}),
  };
}

function remainingHeaders(
  { remaining, resetMs }: RateLimitStatus,
  isMessages: boolean,
): Record<string, string> {
  const seconds = Math.ceil(resetMs / 1_000);
  return {
    ratelimit: `"pool";r=${remaining};t=${seconds}`,
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': `${seconds}s`,
    ...(isMessages
      ? {
          'anthropic-ratelimit-requests-remaining': String(remaining),
          // RFC 3339: https://docs.anthropic.com/en/api/rate-limits
          'anthropic-ratelimit-requests-reset': new Date(Date.now() + resetMs).toISOString(),
        }
      : {}),
  };
}
