/** The attacks of a soak run: their interface, their target and their counts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';

/** Where an attack goes, and what the attacker has. All addresses are on 127.0.0.1. */
export interface Target {
  controlPort: number;
  nodePort: number;
  /** Key of an account without money. */
  brokeKey: string;
  /** Session of the account without money. */
  brokeCookie: string;
  /** Key of an attacker with money. */
  paidKey: string;
  /** Session of the attacker with money. */
  paidCookie: string;
  /** Port of the upstream that the attacker plays; the gateway asks it for `HOSTILE_MODEL`. */
  hostilePort: number;
}

/** Model whose only upstream is hostile. */
export const HOSTILE_MODEL = 'budget-plus';

/** A running attack. */
export interface Assault {
  target: Target;
  random: Random;
  signal: AbortSignal;
  tally: Tally;
}

export interface Attack {
  name: string;
  /** Runs until the signal is aborted. */
  run(assault: Assault): Promise<void>;
}

/** Counts of an attacker. */
export interface Counts {
  bytesSent: number;
  /** Attempts by their end: a status, `closed`, `refused`, `late` or `held`. */
  ends: Record<string, number>;
  /** Requests that a key with money was answered with 200. */
  paid: number;
}

/** Counts attempts and bytes of one attack. */
export class Tally {
  readonly counts: Counts = { bytesSent: 0, ends: {}, paid: 0 };

  sent(bytes: number): void {
    this.counts.bytesSent += bytes;
  }

  ended(how: string | number): void {
    this.counts.ends[how] = (this.counts.ends[how] ?? 0) + 1;
  }
}

/** Addresses of attackers: Linux answers on all of 127.0.0.0/8. Honest clients have 127.0.0.1. */
const ATTACKERS = 8;
const PAUSE_MS = 10;

/** The address of an attacker. */
export function attackerAddress(index: number): string {
  return `127.0.0.${2 + (index % ATTACKERS)}`;
}

/** Repeats the attempt in this number of parallel loops until the attack ends. A pause bounds their rate. */
export async function inLoops(
  { signal }: Assault,
  loops: number,
  attempt: (loop: number) => Promise<void>,
): Promise<void> {
  const loop = async (index: number): Promise<void> => {
    while (!signal.aborted) {
      await attempt(index).catch(() => undefined);
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, index) => loop(index)));
}
