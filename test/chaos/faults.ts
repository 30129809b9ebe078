/** What goes wrong in a chaos run, when, and for how long: drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DISTURBANCES } from './proxy.ts';
import type { Random } from './random.ts';
import type { Stage, Victim } from './stage.ts';

export interface Fault {
  kind: 'kill' | 'freeze' | 'partition';
  target: string;
  how: string;
  /** Wall clock, in ms: from the fault to the moment it was healed. */
  from: number;
  to: number;
}

/** Pauses between faults of a kind and how long they last, in ms. */
const KILL = { pause: [500, 2_500], lasts: [0, 1_200] } as const;
const FREEZE = { pause: [2_000, 8_000], lasts: [200, 3_000] } as const;
const PARTITION = { pause: [1_500, 5_000], lasts: [200, 2_500] } as const;

export interface Faults {
  done: Fault[];
  /** Resolves when the faults under way are healed; no more are begun once `running` says no. */
  ended: Promise<unknown>;
}

/** Begins to break things: one freeze and one partition at a time, and two processes killed at once. */
export function breakThings(stage: Stage, random: Random, running: () => boolean): Faults {
  const done: Fault[] = [];
  const busy = new Set<Victim>();
  const during = async (fault: Omit<Fault, 'from' | 'to'>, work: () => Promise<void>): Promise<void> => {
    const entry: Fault = { ...fault, from: Date.now(), to: Number.POSITIVE_INFINITY };
    done.push(entry);
    await work();
    entry.to = Date.now();
  };
  const onVictim = async (chance: Random, work: (victim: Victim) => Promise<void>): Promise<void> => {
    const victim = chance.pick(stage.victims);
    if (busy.has(victim)) return;
    busy.add(victim);
    await work(victim).finally(() => busy.delete(victim));
  };
  const kill = (chance: Random): Promise<void> =>
    onVictim(chance, (victim) =>
      during({ kind: 'kill', target: victim.name, how: 'SIGKILL' }, () =>
        victim.kill(chance.between(...KILL.lasts)),
      ),
    );
  const freeze = (chance: Random): Promise<void> =>
    onVictim(chance, (victim) =>
      during({ kind: 'freeze', target: victim.name, how: 'SIGSTOP' }, () =>
        victim.freeze(chance.between(...FREEZE.lasts)),
      ),
    );
  const part = async (chance: Random): Promise<void> => {
    const { name, proxy } = chance.pick(stage.links);
    const how = chance.pick(DISTURBANCES);
    await during({ kind: 'partition', target: name, how }, async () => {
      proxy.disturb(how);
      await sleep(chance.between(...PARTITION.lasts));
      proxy.heal(chance.pick(['late', 'reset']));
    });
  };
  const again = async (name: string, pause: readonly [number, number], fault: typeof kill): Promise<void> => {
    const chance = random.fork(name);
    while (running()) {
      await sleep(chance.between(...pause));
      if (running()) await fault(chance);
    }
  };
  const ended = Promise.all([
    ...['kill', 'another kill'].map((name) => again(name, KILL.pause, kill)),
    again('freeze', FREEZE.pause, freeze),
    again('partition', PARTITION.pause, part),
  ]);
  return { done, ended };
}

/** The one long fault: control plane and PostgreSQL are away for all of the run, once it has warmed up. */
export function outage(
  stage: Stage,
  { durationMs, warmUpMs }: { durationMs: number; warmUpMs: number },
): Faults {
  const done: Fault[] = [];
  const away = async (victim: Victim): Promise<void> => {
    const fault: Fault = {
      kind: 'kill',
      target: victim.name,
      how: 'SIGKILL',
      from: Date.now(),
      to: Infinity,
    };
    done.push(fault);
    await victim.kill(durationMs);
    fault.to = Date.now();
  };
  const central = stage.victims.filter(({ name }) => name === 'PostgreSQL' || name === 'control plane');
  const ended = sleep(warmUpMs).then(async () => {
    await Promise.all(central.map((victim) => away(victim)));
  });
  return { done, ended };
}
