/** What a node tells the control plane about its upstreams: figures and words of ours, nothing of theirs. */

/** Why an upstream's turn failed: out of capacity, too slow, credential refused, or anything else. */
export const FAULTS = ['BUSY', 'TIMEOUT', 'REFUSED', 'FAILED'] as const;
export type Fault = (typeof FAULTS)[number];

/** From best to worst: asked freely, asked once to find out whether it is well again, left alone. */
export const CIRCUIT_STATES = ['CLOSED', 'HALF_OPEN', 'OPEN'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** Upstreams in one heartbeat, at most: those that were asked last come first. */
export const UPSTREAMS_MAX = 200;
/** Credentials in one heartbeat, at most. */
export const CREDENTIALS_MAX = 500;

/** How one upstream did on one node, in about the last five minutes. */
export interface UpstreamReport {
  providerId: string;
  circuit: CircuitState;
  /** Turns that ended and say something about the upstream. */
  requests: number;
  /** Those of them that failed, by kind. */
  busy: number;
  timeouts: number;
  refused: number;
  failed: number;
  /** Until its answers began, in ms; null where there were none. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** How one credential did on one node. Times are told as ages in ms: clocks of nodes are not compared. */
export interface CredentialReport {
  credentialId: string;
  usedMsAgo: number;
  lastError: Fault | null;
  lastErrorMsAgo: number | null;
}
