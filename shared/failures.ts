/** The failures of gateway requests: codes, HTTP statuses and the error class that carries them. */

/** HTTP status of each failure code. The list is closed. */
export const FAILURES = {
  invalid_request: 400,
  invalid_key: 401,
  insufficient_funds: 402,
  spend_limit_reached: 402,
  key_disabled: 403,
  key_expired: 403,
  pool_expired: 403,
  wrong_host: 403,
  model_not_in_pool: 403,
  ip_not_allowed: 403,
  wallet_frozen: 403,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  idempotency_in_flight: 409,
  idempotency_done: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  unknown_pool: 421,
  idempotency_mismatch: 422,
  upgrade_required: 426,
  rate_limited: 429,
  too_many_concurrent: 429,
  client_closed: 499,
  internal: 500,
  not_implemented: 501,
  upstream_failed: 502,
  upstream_busy: 503,
  unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<string, number>;

export type FailureCode = keyof typeof FAILURES;

/** Failures that a retry cannot fix. They are answered with `x-should-retry: false`, which SDKs obey. */
const FINAL: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'insufficient_funds',
  'spend_limit_reached',
  'key_disabled',
  'key_expired',
  'pool_expired',
  'wrong_host',
  'model_not_in_pool',
  'ip_not_allowed',
  'wallet_frozen',
  'not_implemented',
  'idempotency_done',
]);

interface FailureDetails {
  /** The cause, for the log only; never sent to the client. */
  cause?: unknown;
  /** JSON pointer or parameter name of the offending input. */
  parameter?: string;
  /** A code of the client's format that its SDKs react to, beside the status. */
  formatCode?: string;
  /** How long the client should wait before it retries, in ms. */
  retryAfterMs?: number;
  /** Status and error body of the upstream, if the client may see them (400, 413 and 422 only). */
  upstream?: { status: number; body: string };
  /** True if the upstream itself ended a started answer with this failure, as its format provides. */
  reportedByUpstream?: boolean;
  /** True if the customer caused the failure, by disabling the key: content relayed before is charged. */
  byOwner?: boolean;
}

/** A failure with a stable code, a message that tells the client what to do, and a cause for the log. */
export class GatewayError extends Error {
  readonly code: FailureCode;
  readonly details: FailureDetails;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.details = details;
  }

  /** The HTTP status of the answer: the upstream's if its error is passed on, else that of the code. */
  get status(): number {
    return this.details.upstream?.status ?? FAILURES[this.code];
  }

  /** Value of `x-should-retry`; undefined leaves the decision to the client. */
  get shouldRetry(): boolean | undefined {
    if (this.code === 'idempotency_in_flight') return true;
    return FINAL.has(this.code) ? false : undefined;
  }
}

/**
 * Returns a GatewayError unchanged and wraps anything else as `internal`. The message of a wrapped error
 * never reaches the client.
 */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = 'The gateway failed. Try again; if the error persists, report the request id.';
  return new GatewayError('internal', message, { cause: error });
}
