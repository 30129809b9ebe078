/** Whether the node lives, and whether it should be sent requests. */
import { GatewayError } from '@gateway/shared/failures';
import type { Config, ConfigStore } from '../config/config.ts';

/** What readiness depends on. */
export interface Readiness {
  store: ConfigStore;
  maxConfigAgeMs: number;
  draining: () => boolean;
}

/**
 * The configuration to serve with. Throws `unavailable` while draining, without one, or when it is too old.
 */
export function readyConfig({ store, maxConfigAgeMs, draining }: Readiness, now: number): Config {
  if (draining()) throw notReady('This node is stopping. Send the request again.');
  const config = store.current;
  if (!config) throw notReady('The gateway is starting. Try again in a moment.');
  if (now - config.confirmedAt > maxConfigAgeMs) {
    throw notReady('The gateway has lost touch with its control plane. Try again later.');
  }
  return config;
}

function notReady(message: string): GatewayError {
  return new GatewayError('unavailable', message, { retryAfterMs: 1_000 });
}
