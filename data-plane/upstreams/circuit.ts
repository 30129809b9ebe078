/**
 * When an upstream is left alone: pure rules over small states, apart from the network. Times in ms,
 * monotonic.
 */

/** Failures in a row that eject an upstream. */
export const CONSECUTIVE_FAILURES = 5;
/** In a window with at least this many requests, more than half failed ejects, too. */
export const WINDOW_REQUESTS = 20;
export const WINDOW_MS = 10_000;
/** The first ejection lasts this long, the n-th n times as long, up to the maximum. */
export const EJECTION_MS = 30_000;
export const EJECTION_MAX_MS = 300_000;
/** Retries may add this share to the requests of a window … */
const RETRY_SHARE = 0.1;
/** … and always this many, or a quiet node could never retry. */
const RETRY_FLOOR = 10;

/** What is known of one upstream origin. */
export interface Circuit {
  consecutive: number;
  windowStart: number;
  total: number;
  failed: number;
  ejectedUntil: number;
  ejections: number;
  /** A single request is finding out whether the upstream has recovered. */
  probing: boolean;
}

export const CLOSED_CIRCUIT: Circuit = {
  consecutive: 0,
  windowStart: 0,
  total: 0,
  failed: 0,
  ejectedUntil: 0,
  ejections: 0,
  probing: false,
};

/** Whether a request may be sent: freely, as the one probe after an ejection, or not at all. */
export function admission(circuit: Circuit, now: number): 'open' | 'probe' | 'ejected' {
  if (circuit.ejectedUntil === 0) return 'open';
  return now >= circuit.ejectedUntil && !circuit.probing ? 'probe' : 'ejected';
}

/** The state when a request is sent. */
export function afterStart(circuit: Circuit, now: number): Circuit {
  return admission(circuit, now) === 'probe' ? { ...circuit, probing: true } : circuit;
}

/** A success closes the circuit. */
export function afterSuccess(circuit: Circuit, now: number): Circuit {
  const counted = count(circuit, now);
  // A success of a request that began before the ejection proves nothing; the probe's does.
  if (circuit.ejectedUntil > 0 && !circuit.probing) return counted;
  return { ...counted, consecutive: 0, ejectedUntil: 0, ejections: 0, probing: false };
}

/** A failure; `jitter` (0 to 1) spreads the returns of many nodes. */
export function afterFailure(circuit: Circuit, now: number, jitter: number): Circuit {
  const counted = count(circuit, now);
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

/** A request that ended without saying anything about the upstream, e.g. because its client left. */
export function afterNothing(circuit: Circuit): Circuit {
  return circuit.probing ? { ...circuit, probing: false } : circuit;
}

function count(circuit: Circuit, now: number): Circuit {
  if (now - circuit.windowStart < WINDOW_MS) return { ...circuit, total: circuit.total + 1 };
  return { ...circuit, windowStart: now, total: 1, failed: 0 };
}

/** How many requests and retries a window has seen: retries must not become a storm. */
export interface RetryBudget {
  windowStart: number;
  requests: number;
  retries: number;
}

export const FRESH_BUDGET: RetryBudget = { windowStart: 0, requests: 0, retries: 0 };

/** The budget after a first attempt. */
export function afterRequest(budget: RetryBudget, now: number): RetryBudget {
  const current = roll(budget, now);
  return { ...current, requests: current.requests + 1 };
}

/** The budget after a retry, or undefined when it allows none. */
export function afterRetry(budget: RetryBudget, now: number): RetryBudget | undefined {
  const current = roll(budget, now);
  if (current.retries >= Math.max(RETRY_FLOOR, current.requests * RETRY_SHARE)) return undefined;
  return { ...current, retries: current.retries + 1 };
}

function roll(budget: RetryBudget, now: number): RetryBudget {
  return now - budget.windowStart < WINDOW_MS ? budget : { windowStart: now, requests: 0, retries: 0 };
}
