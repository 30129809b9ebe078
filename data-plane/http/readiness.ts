/** How far the node is in its life: whether it serves, is ready for new requests, or leaves. */
import { beingStopped, notReady, readyConfig } from '../answers/health.ts';
import type { Config } from '../config/config.ts';
import type { ServerDependencies } from './build-services.ts';

/** Whether the node refuses new requests. */
function hasEnded({ stage }: ServerDependencies): boolean {
  return stage?.() === 'ended';
}

/** Whether the node opens no WebSocket, and closes those that are open when their response has ended. */
export function isDraining(dependencies: ServerDependencies): boolean {
  return dependencies.stage?.() === 'draining' || hasEnded(dependencies);
}

/** Whether connections end with their next answer, so that clients and proxies open them elsewhere. */
export function isLeaving({ stage }: ServerDependencies): boolean {
  return (stage?.() ?? 'serving') !== 'serving';
}

/** The configuration to serve with. Throws `unavailable` as `readyConfig` does. */
export function readyNow(dependencies: ServerDependencies): Config {
  const { store, settings, configClock } = dependencies;
  const { maxConfigAgeMs } = settings;
  const ended = () => hasEnded(dependencies);
  return readyConfig({ store, maxConfigAgeMs, ended }, configClock?.() ?? Date.now());
}

/** The configuration to open a WebSocket with. Throws `unavailable` as `readyNow` does, or while draining. */
export function readyForSocket(dependencies: ServerDependencies): Config {
  if (isDraining(dependencies)) throw beingStopped();
  return readyNow(dependencies);
}

/** Throws if this worker should get no new requests, although it may still serve those that it gets. */
export function checkReady(dependencies: ServerDependencies): void {
  readyNow(dependencies);
  if (isLeaving(dependencies)) throw notReady('This node is being stopped.');
  if (dependencies.vitals?.().journalWritable === false)
    throw notReady('The journal of this node cannot be written.');
}

/** Like `checkReady`, for the whole node: connections may reach any of its workers. */
export function checkNodeReady(dependencies: ServerDependencies): void {
  checkReady(dependencies);
  if (dependencies.node?.othersReady() === false) throw notReady('Another worker of this node is not ready.');
}
