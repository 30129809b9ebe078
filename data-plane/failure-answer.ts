/**
 * Tells a client that its request failed, in its own format, with what its SDK needs to do the right thing
 * next.
 */
import type { GatewayError } from '@gateway/shared/failures';
import type { Inbound } from './dialects/dialect.ts';
import { parseObject } from './dialects/fields.ts';
import type { Reply } from './reply.ts';

/** Writes the error answer; does nothing when the answer has begun or the client is gone. */
export function tellFailure(reply: Reply, error: GatewayError, inbound: Inbound | undefined): void {
  if (reply.begun || error.code === 'client_closed') return;
  const { retryAfterMs } = error.details;
  if (error.shouldRetry !== undefined) reply.header('x-should-retry', String(error.shouldRetry));
  if (retryAfterMs !== undefined) {
    const waitMs = Math.max(1, Math.ceil(retryAfterMs));
    reply.header('retry-after-ms', String(waitMs));
    reply.header('retry-after', String(Math.ceil(waitMs / 1_000)));
  }
  if (error.code === 'invalid_key') reply.header('www-authenticate', 'Bearer');
  reply.whole(error.status, 'application/json', bodyOf(error, inbound));
}

/** An upstream's own error passes as it is, where it is in the client's format at all. */
function bodyOf(error: GatewayError, inbound: Inbound | undefined): string {
  const upstream = error.details.upstream?.body;
  if (upstream !== undefined && parseObject(upstream)?.error !== undefined) return upstream;
  return JSON.stringify(
    inbound?.encodeError(error) ?? { error: { code: error.code, message: error.message } },
  );
}
