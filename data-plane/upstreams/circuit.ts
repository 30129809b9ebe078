/**
 * The circuit breaker of an upstream and the retry budget of a node: when an upstream is ejected, and when a
 * request may be retried. Pure; times are ms of a monotonic clock.
 */

/** Failures in a row that eject an upstream. */
export const CONSECUTIVE_FAILURES = 5;
/** Minimum number of requests in a window in which more than one half of failures also ejects an upstream. */
const WINDOW_REQUESTS = 20;
const WINDOW_MS = 10_000;
/** Length of the first ejection; the n-th lasts n times as long, up to the maximum. */
export const EJECTION_MS = 30_000;
export const EJECTION_MAX_MS = 300_000;
/** Retries allowed in a window, as a share of its requests. */
const RETRY_SHARE = 0.1;
/** Retries always allowed in a window, so that a node with few requests can retry at all. */
const RETRY_FLOOR = 10;

/** The recent failures of one upstream, and its ejection. */
export interface Circuit {
  /** Failures in a row. */
  consecutive: number;
  windowStart: number;
  total: number;
  failed: number;
  /** End of the ejection; 0 while the circuit is closed. */
  ejectedUntil: number;
  ejections: number;
  /** Whether a single request is testing if the upstream has recovered. */
  probing: boolean;
}

/** The circuit of an upstream without failures. */
export const CLOSED_CIRCUIT: Circuit = {
  consecutive: 0,
  windowStart: 0,
  total: 0,
  failed: 0,
  ejectedUntil: 0,
  ejections: 0,
  probing: false,
};

/** Which requests may be sent: all, one probe after an ejection, or none. */
export function allowedRequests(circuit: Circuit, now: number): 'all' | 'probe' | 'none' {
  if (circuit.ejectedUntil === 0) return 'all';
  return now >= circuit.ejectedUntil && !circuit.probing ? 'probe' : 'none';
}

/** The circuit after a request was sent. */
export function afterStart(circuit: Circuit, now: number): Circuit {
  return allowedRequests(circuit, now) === 'probe' ? { ...circuit, probing: true } : circuit;
}

/** The circuit after a success, which closes it. */
export function afterSuccess(circuit: Circuit, now: number): Circuit {
  const counted = countRequest(circuit, now);
  // During an ejection only the probe counts: other requests were sent before the upstream failed.
  if (circuit.ejectedUntil > 0 && !circuit.probing) return counted;
  return { ...counted, consecutive: 0, ejectedUntil: 0, ejections: 0, probing: false };
}

/**
 * The circuit after a failure. `jitter` (0 to 1) keeps nodes from sending their probes at the same moment.
 */
export function afterFailure(circuit: Circuit, now: number, jitter: number): Circuit {
  const counted = countRequest(circuit, now);
  const next = { ...counted, consecutive: counted.consecutive + 1, failed: counted.failed + 1 };
  const tooMany =
    next.consecutive >= CONSECUTIVE_FAILURES ||
    (next.total >= WINDOW_REQUESTS && next.failed * 2 > next.total);
  if (circuit.ejectedUntil > 0 && !circuit.probing) return next;
  if (!tooMany && !circuit.probing) return next;
  const ejections = next.ejections + 1;
  const length = Math.min(EJECTION_MS * ejections, EJECTION_MAX_MS);
  return {
    ...next,
    ejections,
    ejectedUntil: now + length * (1 + jitter / 10),
    probing: false,
    total: 0,
    failed: 0,
  };
}

/** The circuit after a request that is no evidence about the upstream, e.g. because its client left. */
export function afterInconclusive(circuit: Circuit): Circuit {
  return circuit.probing ? { ...circuit, probing: false } : circuit;
}

function countRequest(circuit: Circuit, now: number): Circuit {
  if (now - circuit.windowStart < WINDOW_MS) return { ...circuit, total: circuit.total + 1 };
  return { ...circuit, windowStart: now, total: 1, failed: 0 };
}

/** Requests and retries of the current window. It bounds the load that retries add to failing upstreams. */
interface RetryBudget {
  windowStart: number;
  requests: number;
  retries: number;
}

/** The budget of a node that has not served a request. */
export const FRESH_BUDGET: RetryBudget = { windowStart: 0, requests: 0, retries: 0 };

/** The budget after the first attempt of a request. */
export function afterRequest(budget: RetryBudget, now: number): RetryBudget {
  const current = currentWindow(budget, now);
  return { ...current, requests: current.requests + 1 };
}

/** The budget after a retry; undefined if it allows none. */
export function afterRetry(budget: RetryBudget, now: number): RetryBudget | undefined {
  const current = currentWindow(budget, now);
  if (current.retries >= Math.max(RETRY_FLOOR, current.requests * RETRY_SHARE)) return undefined;
  return { ...current, retries: current.retries + 1 };
}

function currentWindow(budget: RetryBudget, now: number): RetryBudget {
  return now - budget.windowStart < WINDOW_MS ? budget : { windowStart: now, requests: 0, retries: 0 };
}
