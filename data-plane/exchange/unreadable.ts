/** Turns an error that a codec throws on an upstream's answer into a failure of the upstream. */
import { GatewayError } from '@gateway/shared/failures';

/** The exception itself if it is a failure, else `upstream_failed` with the exception as its cause. */
export function asUnreadable(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const message = 'The upstream sent an answer that cannot be read. Try again.';
  return new GatewayError('upstream_failed', message, { cause });
}
