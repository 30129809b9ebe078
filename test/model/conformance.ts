/**
 * Compares the small control plane of the model check with the real one. Both play the same random histories;
 * after every message, answers and balances of the model must equal those of real leases and settlements on a
 * real PostgreSQL.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Money } from '../money-fixture.ts';
import { deliver, transitionsOf, reclaim } from './transitions.ts';
import type { Transition } from './transitions.ts';
import { RealLedger } from './real-ledger.ts';
import type { ChargePlace, RealState } from './real-ledger.ts';
import { newWorld } from './state.ts';
import type { Bounds, World } from './state.ts';
import { WorldDriver } from './world.ts';
import type { Rules } from './world.ts';

/** Messages to the control plane and its answers; all of them must occur in a run. */
export const WORDS = [
  ...['ask', 'settle', 'close', 'reclaim'],
  ...['granted', 'refused', 'conflict', 'ended', 'closed', 'not-closed'],
  'paid late',
];

const PROGRESS = new Set(['start', 'content', 'check', 'leave', 'write', 'report', 'restart']);

/** Records what the model's control plane sends. */
class RecordingDriver extends WorldDriver {
  readonly sent: string[] = [];
  latest = '';

  override send(message: string): void {
    this.sent.push(message);
    this.latest = message;
    super.send(message);
  }
}

interface History {
  bounds: Bounds;
  /** Largest part of the balance that is a gift. */
  gift: number;
  steps: readonly { pick: number; wild: Wild | null }[];
}

type WildKind = 'close' | 'close from another journal' | 'reclaim';

/** Messages that production nodes and clocks never cause: a close with any count, or a reclaim. */
interface Wild {
  how: WildKind;
  lease: number;
  count: number;
}

const how = fc.constantFrom<WildKind>('close', 'close from another journal', 'reclaim', 'reclaim');
const wild: fc.Arbitrary<Wild | null> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.record({ how, lease: fc.nat(5), count: fc.nat(2) }) },
);

const history: fc.Arbitrary<History> = fc.record({
  bounds: fc.record({
    nodes: fc.integer({ min: 1, max: 3 }),
    requests: fc.integer({ min: 2, max: 6 }),
    total: fc.integer({ min: 1, max: 4 }),
    chunk: fc.constant(2),
    leases: fc.constant(12),
    crashes: fc.integer({ min: 0, max: 3 }),
    diskLosses: fc.integer({ min: 0, max: 1 }),
    reclaims: fc.integer({ min: 0, max: 3 }),
  }),
  gift: fc.nat(4),
  steps: fc.array(fc.record({ pick: fc.nat(), wild }), { minLength: 60, maxLength: 120 }),
});

export interface Comparison {
  rules: Rules;
  seed: number;
  /** Maximum number of histories played. */
  histories: number;
}

/**
 * Plays random histories on both control planes, until one differs. Returns the first difference, if there
 * is one, and how often each word occurred.
 */
export async function compareControlPlanes(
  money: Money,
  { rules, seed, histories }: Comparison,
): Promise<{ difference: string; words: Record<string, number> }> {
  const words: Record<string, number> = {};
  const found = await fc.check(
    fc.asyncProperty(history, (each) => playBoth(money, each, { rules, words })),
    { numRuns: histories, seed, endOnFailure: true },
  );
  return { difference: (found.failed && fc.defaultReportMessage(found)) || '', words };
}

/** Plays a history on both and throws at the first difference. Counts the words that occurred. */
async function playBoth(
  money: Money,
  { bounds, gift, steps }: History,
  { rules, words: counts }: { rules: Rules; words: Record<string, number> },
): Promise<void> {
  const world = newWorld(bounds);
  const driver = new RecordingDriver(world, rules, bounds);
  const parts = { gift: Math.min(gift, bounds.total), cash: Math.max(0, bounds.total - gift) };
  const real = await RealLedger.open(money, { ...parts, nodes: bounds.nodes });
  const places = new Map<string, ChargePlace>();
  const trace: string[] = [];
  const count = (word: string): void => void (counts[word] = (counts[word] ?? 0) + 1);
  for (const each of steps) {
    const [name, apply] = transitionOf(driver, each);
    const before = { ...world, charged: [...world.charged] };
    driver.sent.length = 0;
    apply(driver);
    for (const message of driver.sent) notePlace(world, message, places);
    const [kind = '', ...words] = name.split(' ');
    if (!['ask', 'settle', 'close', 'reclaim'].includes(kind)) continue;
    trace.push(name);
    count(kind);
    const where = `after ${trace.join(' ; ')}`;
    const answers = driver.sent.filter((message) => !message.startsWith('recall '));
    if (kind === 'settle') {
      const place = places.get(placeName(words));
      if (!place) throw new Error(`the charge of ${name} has no journal position`);
      expect(await real.settle(words, place), where).toBe(world.charged.length - before.charged.length);
      if (world.writtenOff > before.writtenOff) count('written off');
      else if (world.balance < before.balance) count('paid late');
    } else if (kind === 'reclaim') {
      await real.reclaim(words[0] ?? '');
    } else if (kind === 'ask' && answers.length === 0) {
      // The world is full: the model grants no further lease.
      continue;
    } else {
      const answer =
        kind === 'ask'
          ? await real.ask(words, world.nodes[Number(words[0])]?.registered ?? '')
          : await real.close(words);
      expect(answer === undefined ? [] : [answer], where).toEqual(answers);
      count(answer?.split(' ')[0] ?? 'silence');
    }
    expect(await real.state(), where).toEqual(stateOf(world));
  }
}

function transitionOf(driver: RecordingDriver, { pick, wild: other }: History['steps'][number]): Transition {
  const lease = other && driver.world.leases[other.lease];
  if (lease?.state === 'open' && other?.how === 'reclaim')
    return [`reclaim ${lease.id}`, () => reclaim(driver, other.lease)];
  if (lease && other) {
    const journal = other.how === 'close' ? lease.journal : `j${lease.node}/former`;
    const message = `close ${lease.node} ${journal} ${lease.id} ${other.count}`;
    return [message, () => deliver(driver, message)];
  }
  // Mostly a transition that advances a request; else any, which is mostly a repeated old message.
  const isProgress = pick % 4 > 0;
  const transitions = transitionsOf(driver).filter(
    ([name]) => !isProgress || name === driver.latest || PROGRESS.has(name.split(' ')[0] ?? ''),
  );
  return transitions[Math.floor(pick / 4) % transitions.length] ?? ['nothing', () => undefined];
}

/** Remembers the journal position of a charge when its node first reports it. */
function notePlace(world: World, message: string, places: Map<string, ChargePlace>): void {
  const [kind, at, request, lease] = message.split(' ');
  if (kind !== 'settle' || at === undefined || lease === undefined) return;
  const node = world.nodes[Number(at)];
  const index = node?.charges.findIndex(([number, id]) => String(number) === request && id === lease) ?? -1;
  const journal = world.leases.find(({ id }) => id === lease)?.journal ?? '';
  if (index >= 0 && node?.journal.journalId === journal)
    places.set(placeName([at, request ?? '', lease]), { journal, seq: index + 1 });
}

const placeName = ([, request, lease]: readonly string[]): string => `${request} ${lease}`;

function stateOf({ balance, leases, charged, writtenOff }: World): RealState {
  return {
    balance,
    leases: leases
      .map(({ id, state, amount, charged: count }) => ({
        id,
        state,
        amount,
        charged: count,
        left: state === 'open' ? amount - count : 0,
      }))
      .sort((one, other) => one.id.localeCompare(other.id)),
    charged: charged.map(String).sort(),
    writtenOff,
  };
}
