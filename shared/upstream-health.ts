/** Report of a node to the control plane about its upstreams. Contains no text of an upstream. */

/** Why an attempt failed: no capacity, too slow, credential refused, or anything else. */
export const FAULTS = ['BUSY', 'TIMEOUT', 'REFUSED', 'FAILED'] as const;
export type Fault = (typeof FAULTS)[number];

/** Circuit breaker states, best first: asked, probed with one request, not asked. */
export const CIRCUIT_STATES = ['CLOSED', 'HALF_OPEN', 'OPEN'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** Maximum number of upstreams in one heartbeat; the most recently asked come first. */
export const UPSTREAMS_MAX = 200;
/** Maximum number of credentials in one heartbeat. */
export const CREDENTIALS_MAX = 500;
/** Maximum number of ejected routes in one heartbeat; the last ejected come first. */
export const ROUTES_MAX = 500;

/** Health of one upstream as one node saw it in about the last five minutes. */
export interface UpstreamReport {
  providerId: string;
  circuit: CircuitState;
  /** Finished attempts, except those that say nothing about the upstream. */
  requests: number;
  /** Failed attempts among them, by kind. */
  busy: number;
  timeouts: number;
  refused: number;
  failed: number;
  /** Percentiles of the time until an answer began, in ms; null if there was none. */
  p50Ms: number | null;
  p95Ms: number | null;
  /** Input tokens of the answers that counted them, and those of them that came from a prompt cache. */
  inputTokens: number;
  cachedTokens: number;
  /**
   * By how much the clock of the node was ahead of the upstream's when it refused the authentication, in ms;
   * null if it refused none since its last answer, or if the difference is not noteworthy.
   */
  clockAheadMs: number | null;
}

/** Use of one credential on one node. Times are ages in ms, because the clocks of nodes may differ. */
export interface CredentialReport {
  credentialId: string;
  usedMsAgo: number;
  lastError: Fault | null;
  lastErrorMsAgo: number | null;
  /** How long it is still suspended after refusals, on one route at least; null for not at all. */
  suspendedMs: number | null;
  /** How long others are still preferred because its quota is nearly used up; null for not at all. */
  spentMs: number | null;
}

/** A route that a node has ejected, because requests of several customers failed on it. */
export interface RouteReport {
  routeId: string;
  /** How long it is still ejected, in ms. */
  openMs: number;
}

/** The reports of a node in one heartbeat. */
export interface UpstreamReports {
  /** Upstreams that were asked recently or whose circuit is open. */
  upstreams: UpstreamReport[];
  /** Credentials that were used recently. */
  credentials: CredentialReport[];
  /** Routes that are ejected after failures. */
  routes: RouteReport[];
}
