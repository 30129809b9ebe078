/** Turns failures of upstreams into failures for the client, by the same rules for all formats. */
import { GatewayError } from '@gateway/shared/failures';

/** Statuses whose error concerns the client's own request, so that the client may see it. */
const PASSED = new Set([400, 413, 422]);
const BUSY = new Set([429, 529]);
/** Matches the error types and codes by which providers report overload inside an answer. */
const BUSY_KINDS = /rate_?limit|overloaded|resource_exhausted|too_many|unavailable/i;

/**
 * The failure for an upstream's error answer. Only 400, 413 and 422 pass the upstream's message and body on;
 * all others concern the operator's account or the upstream's health, which clients must not see.
 */
export function upstreamFailure(answer: { status: number; message: string; body: string }): GatewayError {
  const { status, message, body } = answer;
  const cause = `upstream answered ${status}`;
  if (PASSED.has(status)) {
    const code = status === 413 ? 'body_too_large' : 'invalid_request';
    return new GatewayError(code, message || 'The upstream refused the request.', {
      cause,
      upstream: { status, body },
    });
  }
  if (BUSY.has(status)) return new GatewayError('upstream_busy', BUSY_MESSAGE, { cause });
  return new GatewayError('upstream_failed', FAILED_MESSAGE, { cause });
}

/**
 * The failure for an error inside an answer that began with status 200. `kind` is the upstream's error type
 * or code.
 */
export function failureInsideAnswer(kind: string): GatewayError {
  const cause = `upstream error inside the answer: ${kind.slice(0, 100)}`;
  const details = { cause, reportedByUpstream: true };
  if (BUSY_KINDS.test(kind)) return new GatewayError('upstream_busy', BUSY_MESSAGE, details);
  return new GatewayError('upstream_failed', FAILED_MESSAGE, details);
}

/** The failure for an answer that violates its format. `cause` goes to the log. */
export function unreadableAnswer(cause: string): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream sent an answer that cannot be read. Try again.', {
    cause,
  });
}

const BUSY_MESSAGE = 'The upstream is busy. Try again in a moment.';
const FAILED_MESSAGE =
  'The upstream could not answer. Try again; if the error persists, choose another model.';
