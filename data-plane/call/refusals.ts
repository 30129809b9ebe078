/** Refusals that several parts of the request path share. */
import { GatewayError } from '@gateway/shared/failures';

/** `invalid_request`; `parameter` names the member of the request that is wrong. */
export function invalidRequest(message: string, parameter?: string): GatewayError {
  return new GatewayError('invalid_request', message, parameter === undefined ? {} : { parameter });
}

/** `body_too_large`, naming the limit in MiB. */
export function bodyTooLarge(limitBytes: number): GatewayError {
  const mebibytes = Math.floor(limitBytes / (1024 * 1024));
  return new GatewayError(
    'body_too_large',
    `The request body is larger than ${mebibytes} MiB. Send a smaller one.`,
  );
}

/** The failure for a body in so many chunks that they cost far more than its bytes. */
export function tooManyChunks(): GatewayError {
  return invalidRequest('The request body comes in too many small chunks. Send it in larger ones.');
}

/** The failure for a large body of a wallet whose refused bodies cost too much CPU time. */
export function tooMuchRefused(retryAfterMs: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Too many large requests of this account were refused. Correct them, then wait before you send more.',
    { retryAfterMs },
  );
}
