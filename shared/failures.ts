/** Every way a request to the gateway can fail: one table, code → HTTP status. */

/** The closed table of failure codes and the HTTP status each one answers with. */
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

/** Failures that no repetition will mend: official SDKs obey `x-should-retry: false`. */
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

export interface FailureDetails {
  /** Why it happened: for the log, never for the client. */
  cause?: unknown;
  /** JSON pointer or parameter name of the offending input. */
  parameter?: string;
  /** How long the client should wait before it tries again, in ms. */
  retryAfterMs?: number;
  /** An upstream's own error body that the client may see (400, 413 and 422 only), and its status. */
  upstream?: { status: number; body: string };
  /** The upstream told this failure itself, as the proper end of an answer that had begun. */
  told?: boolean;
  /** The customer asked for it: what was relayed until then is paid. */
  byOwner?: boolean;
}

/** A failure with a stable code, a message that tells the client what to do next, and a cause for the log. */
export class GatewayError extends Error {
  readonly code: FailureCode;
  readonly details: FailureDetails;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.details = details;
  }

  /** The HTTP status to answer with: the upstream's own where its error passes, else the table's. */
  get status(): number {
    return this.details.upstream?.status ?? FAILURES[this.code];
  }

  /** False where a repetition cannot help, true where it will; undefined leaves it to the client. */
  get shouldRetry(): boolean | undefined {
    if (this.code === 'idempotency_in_flight') return true;
    return FINAL.has(this.code) ? false : undefined;
  }
}

/** The failure itself, or `internal` around anything unexpected, whose message never reaches the client. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = 'The gateway failed. Try again; if it stays, report the request id.';
  return new GatewayError('internal', message, { cause: error });
}
