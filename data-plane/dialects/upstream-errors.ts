/**
 * What an upstream's failure means to the client: one rule for all formats, which only differ in where the
 * words stand.
 */
import { GatewayError } from '@gateway/shared/failures';

/** The statuses whose message is about the client's own request and may reach it. */
const PASSED = new Set([400, 413, 422]);
const BUSY = new Set([429, 529]);
const BUSY_WORDS = /rate_?limit|overloaded|resource_exhausted|too_many|unavailable/i;

/**
 * The failure for an upstream's error answer. Only 400, 413 and 422 carry the upstream's message and body on;
 * everything else speaks of the operator's account or of the upstream's health, which is nobody else's
 * business.
 */
export function upstreamFailure(answer: { status: number; message: string; body: string }): GatewayError {
  const { status, message, body } = answer;
  const cause = `upstream answered ${status}`;
  if (PASSED.has(status)) {
    const code = status === 413 ? 'body_too_large' : 'invalid_request';
    return new GatewayError(code, message || 'The model refused the request.', {
      cause,
      upstream: { status, body },
    });
  }
  if (BUSY.has(status)) return new GatewayError('upstream_busy', BUSY_MESSAGE, { cause });
  return new GatewayError('upstream_failed', FAILED_MESSAGE, { cause });
}

/**
 * The failure for an error inside an answer that had begun with status 200; `kind` is the upstream's own word
 * for it.
 */
export function failureInsideAnswer(kind: string): GatewayError {
  const cause = `upstream error inside the answer: ${kind.slice(0, 100)}`;
  if (BUSY_WORDS.test(kind)) return new GatewayError('upstream_busy', BUSY_MESSAGE, { cause, told: true });
  return new GatewayError('upstream_failed', FAILED_MESSAGE, { cause, told: true });
}

/** The failure for an answer that is not what its format promises. */
export function unreadableAnswer(cause: string): GatewayError {
  return new GatewayError('upstream_failed', 'The model sent an answer that cannot be read. Try again.', {
    cause,
  });
}

const BUSY_MESSAGE = 'The model is busy. Try again in a moment.';
const FAILED_MESSAGE = 'The model could not answer. Try again; if it stays, choose another model.';
