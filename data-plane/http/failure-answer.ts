/** Sends a failure in the client's own format, with the headers by which SDKs decide about a retry. */
import type { GatewayError } from '@gateway/shared/failures';
import type { Inbound } from '../dialects/dialect.ts';
import { parseObject } from '../dialects/fields.ts';
import type { Reply } from '../call/reply.ts';

/** Sends the error answer. Does nothing if an answer has begun or the client has left. */
export function sendFailure(reply: Reply, error: GatewayError, inbound: Inbound | undefined): void {
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

/** The upstream's own error body if the client may see it and can read it, else the failure in its format. */
function bodyOf(error: GatewayError, inbound: Inbound | undefined): string {
  const upstream = error.details.upstream?.body;
  if (upstream !== undefined && parseObject(upstream)?.error !== undefined) return upstream;
  return JSON.stringify(
    inbound?.encodeError(error) ?? { error: { code: error.code, message: error.message } },
  );
}

/**
 * The cause of a failure for the log. Stack or message only: other fields of an error may hold content of a
 * client or an upstream.
 */
export function causeOf({ code, details: { cause } }: GatewayError): string | undefined {
  if (code === 'internal' && cause instanceof Error) return cause.stack;
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' ? cause : undefined;
}
