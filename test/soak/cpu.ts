/**
 * The CPU time that each plane spends on an attack. On a machine whose cores are shared with the attacker,
 * the honest throughput falls with every byte that the attacker itself sends; this figure does not.
 */
import type { Phase } from './run.ts';
import type { Sample } from './samples.ts';

type Plane = 'control' | 'node';

/** CPU time of one plane in a part of the run. */
interface PlaneCpu {
  /** All of it, in ms per second. */
  used: number;
  /** The part of `used` beyond what honest requests cost without an attack, in ms per second. */
  attack: number;
}

/** CPU time of both planes. */
export interface AttackCpu extends Record<Plane, PlaneCpu> {
  /** CPU time of both planes beyond honest requests per attempt of the attacker, in ms. */
  perAttempt: number;
}

/** A part of the run, and its honest requests. */
interface Part {
  phase: Phase;
  requests: number;
}

/** Compares the CPU time of a part with that of the part without attacks. */
export function cpuOf(part: Part, quiet: Part): AttackCpu {
  const [control, node] = [planeCpu(part, quiet, 'control'), planeCpu(part, quiet, 'node')];
  const ends = Object.values(part.phase.counts?.ends ?? {});
  const attempts = ends.reduce((sum, count) => sum + count, 0);
  const seconds = secondsOf(part.phase.samples);
  const all = (control.attack + node.attack) * seconds;
  return { control, node, perAttempt: attempts === 0 ? 0 : Math.round((all / attempts) * 100) / 100 };
}

function planeCpu(part: Part, quiet: Part, plane: Plane): PlaneCpu {
  const perRequest = usedMs(quiet.phase.samples, plane) / Math.max(1, quiet.requests);
  const seconds = Math.max(1, secondsOf(part.phase.samples));
  const used = usedMs(part.phase.samples, plane);
  const honest = perRequest * part.requests;
  return { used: Math.round(used / seconds), attack: Math.round(Math.max(0, used - honest) / seconds) };
}

function usedMs(samples: readonly Sample[], plane: Plane): number {
  return (samples.at(-1)?.[plane].cpuMs ?? 0) - (samples[0]?.[plane].cpuMs ?? 0);
}

function secondsOf(samples: readonly Sample[]): number {
  return ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 1_000;
}
