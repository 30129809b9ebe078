/** Injects the faults of a chaos run. Kinds, times and durations are drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DISTURBANCES } from './proxy.ts';
import type { Random } from './random.ts';
import type { Environment, Target } from './environment.ts';

/** A fault that happened. */
export interface Fault {
  kind: 'kill' | 'freeze' | 'partition';
  /** Name of the process or link. */
  target: string;
  /** The signal, or the disturbance of the link. */
  how: string;
  /** From the fault until it was healed, in ms of the wall clock. */
  from: number;
  to: number;
}

/** Ranges of the pause between faults of a kind, and of their duration, in ms. */
const KILL = { pause: [500, 2_500], lasts: [0, 1_200] } as const;
const FREEZE = { pause: [2_000, 8_000], lasts: [200, 3_000] } as const;
const PARTITION = { pause: [1_500, 5_000], lasts: [200, 2_500] } as const;

export interface Faults {
  done: Fault[];
  /** Resolves when all faults are healed; none is started once `running` returns false. */
  ended: Promise<unknown>;
}

/** Starts injecting faults: up to one freeze, one partition and two kills at a time. */
export function injectFaults(environment: Environment, random: Random, running: () => boolean): Faults {
  const done: Fault[] = [];
  const busy = new Set<Target>();
  const during = async (fault: Omit<Fault, 'from' | 'to'>, work: () => Promise<void>): Promise<void> => {
    const entry: Fault = { ...fault, from: Date.now(), to: Number.POSITIVE_INFINITY };
    done.push(entry);
    await work();
    entry.to = Date.now();
  };
  const onTarget = async (chance: Random, work: (target: Target) => Promise<void>): Promise<void> => {
    const target = chance.pick(environment.targets);
    if (busy.has(target)) return;
    busy.add(target);
    await work(target).finally(() => busy.delete(target));
  };
  const hit =
    (kind: 'kill' | 'freeze', how: string, lasts: readonly [number, number]) =>
    (chance: Random): Promise<void> =>
      onTarget(chance, (target) =>
        during({ kind, target: target.name, how }, () => target[kind](chance.between(...lasts))),
      );
  const kill = hit('kill', 'SIGKILL', KILL.lasts);
  const freeze = hit('freeze', 'SIGSTOP', FREEZE.lasts);
  const partition = async (chance: Random): Promise<void> => {
    const { name, proxy } = chance.pick(environment.links);
    const how = chance.pick(DISTURBANCES);
    await during({ kind: 'partition', target: name, how }, async () => {
      proxy.disturb(how);
      await sleep(chance.between(...PARTITION.lasts));
      proxy.heal(chance.pick(['late', 'reset']));
    });
  };
  const repeat = async (
    name: string,
    pause: readonly [number, number],
    fault: typeof kill,
  ): Promise<void> => {
    const chance = random.fork(name);
    while (running()) {
      await sleep(chance.between(...pause));
      if (running()) await fault(chance);
    }
  };
  const ended = Promise.all([
    ...['kill', 'another kill'].map((name) => repeat(name, KILL.pause, kill)),
    repeat('freeze', FREEZE.pause, freeze),
    repeat('partition', PARTITION.pause, partition),
  ]);
  return { done, ended };
}

/** Kills control plane and PostgreSQL after the warm-up, and starts them again after `durationMs`. */
export function outage(
  environment: Environment,
  { durationMs, warmUpMs }: { durationMs: number; warmUpMs: number },
): Faults {
  const done: Fault[] = [];
  const kill = async (target: Target): Promise<void> => {
    const fault: Fault = {
      kind: 'kill',
      target: target.name,
      how: 'SIGKILL',
      from: Date.now(),
      to: Infinity,
    };
    done.push(fault);
    await target.kill(durationMs);
    fault.to = Date.now();
  };
  const central = environment.targets.filter(({ name }) => name === 'PostgreSQL' || name === 'control plane');
  const ended = sleep(warmUpMs).then(async () => {
    await Promise.all(central.map((target) => kill(target)));
  });
  return { done, ended };
}
