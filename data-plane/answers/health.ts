/** Decides whether a node is ready to serve requests. */
import { GatewayError } from '@gateway/shared/failures';
import type { Config, ConfigStore } from '../config/config.ts';

/** The state on which readiness depends. */
interface Readiness {
  store: ConfigStore;
  /** Maximum time since the control plane last confirmed the configuration. */
  maxConfigAgeMs: number;
  /** Whether the node refuses new requests. */
  ended: () => boolean;
}

/**
 * The configuration to serve with. Throws `unavailable` during shutdown, without one, or if it is too old.
 */
export function readyConfig({ store, maxConfigAgeMs, ended }: Readiness, now: number): Config {
  if (ended()) throw beingStopped();
  const config = store.current;
  if (!config) throw notReady('The gateway is starting. Try again in a moment.');
  if (now - config.confirmedAt > maxConfigAgeMs) {
    throw notReady(
      'The gateway cannot reach its control plane, and its configuration is too old. Try again later.',
    );
  }
  return config;
}

/** The failure of a node that refuses new requests because it is being stopped. */
export function beingStopped(): GatewayError {
  return notReady('This node is being stopped. Send the request again.');
}

/** The failure of a node that should get no requests now. */
export function notReady(message: string): GatewayError {
  return new GatewayError('unavailable', message, { retryAfterMs: 1_000 });
}
