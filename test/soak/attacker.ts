/**
 * The process of an attacker. It is a process of its own, so that its work does not slow the clients that
 * measure. It runs one attack until its parent stops it, at most for the given time, and reports its counts.
 */
import { setMaxListeners } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { randomOf } from '../chaos/random.ts';
import { Tally } from './attack.ts';
import type { Target } from './attack.ts';
import { ATTACKS } from './attacks.ts';

/** Messages from the parent process. */
export interface Order {
  attack: string;
  target: Target;
  seed: number;
  /** Maximum duration in ms, should the parent be gone. */
  limitMs: number;
}

/** Lowest priority: on a machine of its own, an attacker takes no processor time from the gateway. */
const PRIORITY = 19;
/** Priority of the session on Linux; see sched(7), "The autogroup feature". */
const SESSION_PRIORITY = '/proc/self/autogroup';

setPriority(PRIORITY);
if (existsSync(SESSION_PRIORITY)) writeFileSync(SESSION_PRIORITY, String(PRIORITY));
process.once('message', (order: Order) => void obey(order));

async function obey({ attack, target, seed, limitMs }: Order): Promise<void> {
  const chosen = ATTACKS.find(({ name }) => name === attack);
  if (!chosen) throw new Error(`There is no attack "${attack}".`);
  const controller = new AbortController();
  // One listener per connection.
  setMaxListeners(0, controller.signal);
  process.once('message', () => controller.abort());
  process.once('disconnect', () => process.exit(1));
  setTimeout(() => controller.abort(), limitMs);
  const tally = new Tally();
  const assault = { target, random: randomOf(seed), signal: controller.signal, tally };
  await chosen.run(assault);
  process.send?.(tally.counts, () => process.exit(0));
}
