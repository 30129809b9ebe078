/**
 * The control plane of the model check is a copy of the rules in a few lines. Here it plays random histories
 * against the real one: whatever the copy answers to a node, real leases and settlements on a real
 * PostgreSQL answer, too, and their books are equal after every message.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMoney } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';
import { deliver, movesOf, reclaim } from './moves.ts';
import type { Move } from './moves.ts';
import { RealBooks } from './real-books.ts';
import type { ChargePlace, RealState } from './real-books.ts';
import { newWorld } from './state.ts';
import type { Bounds, World } from './state.ts';
import { Mover, PRODUCTION } from './world.ts';
import type { Rules } from './world.ts';

const HISTORIES = 160;
const SEED = Number(process.env['CONFORMANCE_SEED'] ?? Date.now() % 1_000_000);

/** All that the real one is asked and can answer. */
const WORDS = [
  ...['ask', 'settle', 'close', 'reclaim'],
  ...['granted', 'refused', 'conflict', 'ended', 'closed', 'not-closed'],
  'paid late',
];

const PROGRESS = new Set(['start', 'content', 'check', 'leave', 'write', 'report', 'restart']);

/** What a model's control plane answered, and not what it had answered before. */
class Listening extends Mover {
  readonly heard: string[] = [];
  newest = '';

  override send(message: string): void {
    this.heard.push(message);
    this.newest = message;
    super.send(message);
  }
}

interface History {
  bounds: Bounds;
  /** How much of the money is a gift, at most. */
  gift: number;
  steps: readonly { pick: number; wild: Wild | null }[];
}

type Way = 'close' | 'close from another journal' | 'reclaim';

/** What no production node or clock brings about: a lease is closed with some count, or taken back. */
interface Wild {
  how: Way;
  lease: number;
  count: number;
}

const how = fc.constantFrom<Way>('close', 'close from another journal', 'reclaim', 'reclaim');
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

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

test(`the model answers as the real control plane, in ${HISTORIES} histories (seed ${SEED})`, async () => {
  const told: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(history, async (each) => {
      await playBoth(each, PRODUCTION, told);
    }),
    { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
  );
  // What never came up was not compared.
  expect(Object.keys(told)).toEqual(expect.arrayContaining([...WORDS]));
}, 240_000);

/** Errors in the copy alone: the model check finds what they break, and here they are found to be errors. */
test.each([
  ['counts a settlement that comes twice twice', { dedupes: false }],
  ['closes a lease without the exact count', { closesExactly: false }],
  ['closes a lease for another journal', { checksJournal: false }],
  ['grants more than there is', { guardsBalance: false }],
] as const)(
  'a copy that %s is told from the real one',
  async (_, wrong) => {
    const found = await fc.check(
      fc.asyncProperty(history, async (each) => {
        await playBoth(each, { ...PRODUCTION, ...wrong }, {});
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
  },
  240_000,
);

/** Plays a history on both; throws where they differ. Counts what came up. */
async function playBoth(
  { bounds, gift, steps }: History,
  rules: Rules,
  told: Record<string, number>,
): Promise<void> {
  const world = newWorld(bounds);
  const mover = new Listening(world, rules, bounds);
  const parts = { gift: Math.min(gift, bounds.total), cash: Math.max(0, bounds.total - gift) };
  const real = await RealBooks.open(money, { ...parts, nodes: bounds.nodes });
  const places = new Map<string, ChargePlace>();
  const trace: string[] = [];
  const count = (word: string): void => void (told[word] = (told[word] ?? 0) + 1);
  for (const each of steps) {
    const [name, apply] = moveIn(mover, each);
    const before = { ...world, charged: [...world.charged] };
    mover.heard.length = 0;
    apply(mover);
    for (const message of mover.heard) notePlace(world, message, places);
    const [kind = '', ...words] = name.split(' ');
    if (!['ask', 'settle', 'close', 'reclaim'].includes(kind)) continue;
    trace.push(name);
    count(kind);
    const where = `after ${trace.join(' ; ')}`;
    const answers = mover.heard.filter((message) => !message.startsWith('recall '));
    if (kind === 'settle') {
      const place = places.get(placeName(words));
      if (!place) throw new Error(`nobody wrote the charge of ${name}`);
      expect(await real.settle(words, place), where).toBe(world.charged.length - before.charged.length);
      if (world.writtenOff > before.writtenOff) count('written off');
      else if (world.balance < before.balance) count('paid late');
    } else if (kind === 'reclaim') {
      await real.reclaim(words[0] ?? '');
    } else if (kind === 'ask' && answers.length === 0) {
      // The world is full: the model takes no further lease.
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

function moveIn(mover: Listening, { pick, wild: other }: History['steps'][number]): Move {
  const lease = other && mover.world.leases[other.lease];
  if (lease?.state === 'open' && other?.how === 'reclaim')
    return [`reclaim ${lease.id}`, () => reclaim(mover, other.lease)];
  if (lease && other) {
    const journal = other.how === 'close' ? lease.journal : `j${lease.node}/former`;
    const message = `close ${lease.node} ${journal} ${lease.id} ${other.count}`;
    return [message, () => deliver(mover, message)];
  }
  // Mostly what brings a request on; else anything, which is mostly an old message that comes again.
  const isProgress = pick % 4 > 0;
  const moves = movesOf(mover).filter(
    ([name]) => !isProgress || name === mover.newest || PROGRESS.has(name.split(' ')[0] ?? ''),
  );
  return moves[Math.floor(pick / 4) % moves.length] ?? ['nothing', () => undefined];
}

/** The place of a charge, when its node first tells of it. */
function notePlace(world: World, message: string, places: Map<string, ChargePlace>): void {
  const [kind, at, request, lease] = message.split(' ');
  if (kind !== 'settle' || at === undefined || lease === undefined) return;
  const node = world.nodes[Number(at)];
  const index = node?.charges.findIndex(([number, id]) => String(number) === request && id === lease) ?? -1;
  const journal = world.leases.find(({ id }) => id === lease)?.journal ?? '';
  if (index >= 0 && node?.book.journalId === journal)
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
