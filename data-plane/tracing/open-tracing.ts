/** Opens the traces of a node. */
import { startTracing } from '@gateway/shared/tracing';
import type { Tracing } from '@gateway/shared/tracing';

/** The traces; undefined, and no SDK is loaded, if no endpoint is set. Throws an Error for a bad setting. */
export function openTracing(
  env: Readonly<Record<string, string | undefined>>,
  instance: string,
): Promise<Tracing | undefined> {
  return startTracing(env, { service: 'gateway-node', instance, load: () => import('./open-telemetry.ts') });
}
