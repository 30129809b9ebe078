/** Sums a CPU profile of V8 by function. */
import type { Profiler } from 'node:inspector';

/** A function with its own time, without the functions that it calls. */
export interface Heavy {
  name: string;
  /** Share of the profile's time, in percent. */
  percent: number;
}

/** Functions that a profile lists. */
const LISTED = 20;
/** Time in which the process did nothing. */
const IDLE = new Set(['(idle)', '(program)']);

/** The functions with most time of their own, heaviest first. Idle time counts as no time. */
export function heaviest({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Heavy[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const micros = new Map<string, number>();
  let total = 0;
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    if (IDLE.has(name)) continue;
    const time = timeDeltas[at] ?? 0;
    micros.set(name, (micros.get(name) ?? 0) + time);
    total += time;
  }
  return [...micros]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, LISTED)
    .map(([name, time]) => ({ name, percent: (time / Math.max(1, total)) * 100 }));
}

function nameOf({ functionName, url, lineNumber }: Profiler.Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  const file = url.split('/').slice(-2).join('/');
  return file === '' ? name : `${name} ${file}:${lineNumber + 1}`;
}
