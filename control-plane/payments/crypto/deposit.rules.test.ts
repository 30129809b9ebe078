/** Tests of a deposit's life: every state under every event, and random histories of a chain. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { confirmationsOf, isDeepEnough, isOpen, step } from './deposit.rules.ts';
import type { BlockId, DepositEvent, DepositLife, DepositState } from './deposit.rules.ts';

const HERE: BlockId = { number: 100, hash: '0xhere' };
const THERE: BlockId = { number: 101, hash: '0xthere' };
const TERMS = { confirmations: 6, finalized: null };
const DEEP: DepositEvent = { type: 'VERIFIED', block: HERE, head: 105, terms: TERMS };

function life(state: DepositState, reversals = 0): DepositLife {
  return { state, block: HERE, reversals };
}

/** The state after the event, with the movement if money moves. */
function after(state: DepositState, event: DepositEvent): string {
  const { life: next, movement } = step(life(state, 3), event);
  return [next.state, next.block.hash, next.reversals, movement?.type, movement?.round].join(' ').trim();
}

describe('a deposit', () => {
  it.each<[DepositState, DepositEvent, string]>([
    ['SEEN', { type: 'SIGHTED', block: HERE }, 'SEEN 0xhere 3'],
    ['SEEN', { type: 'SIGHTED', block: THERE }, 'SEEN 0xthere 3'],
    ['SEEN', { type: 'BURIED', head: 100 }, 'SEEN 0xhere 3'],
    ['SEEN', { type: 'BURIED', head: 101 }, 'CONFIRMING 0xhere 3'],
    ['SEEN', { type: 'MISSING' }, 'ORPHANED 0xhere 3'],
    ['SEEN', DEEP, 'CREDITED 0xhere 3 CREDIT 3'],
    ['CONFIRMING', { type: 'SIGHTED', block: HERE }, 'CONFIRMING 0xhere 3'],
    ['CONFIRMING', { type: 'SIGHTED', block: THERE }, 'SEEN 0xthere 3'],
    ['CONFIRMING', { type: 'BURIED', head: 99 }, 'CONFIRMING 0xhere 3'],
    ['CONFIRMING', { type: 'MISSING' }, 'ORPHANED 0xhere 3'],
    ['CONFIRMING', DEEP, 'CREDITED 0xhere 3 CREDIT 3'],
    ['CREDITED', { type: 'SIGHTED', block: THERE }, 'CREDITED 0xthere 3'],
    ['CREDITED', { type: 'BURIED', head: 200 }, 'CREDITED 0xhere 3'],
    ['CREDITED', { type: 'MISSING' }, 'REVERSED 0xhere 4 TAKE_BACK 3'],
    ['CREDITED', DEEP, 'CREDITED 0xhere 3'],
    ['ORPHANED', { type: 'SIGHTED', block: HERE }, 'SEEN 0xhere 3'],
    ['ORPHANED', { type: 'SIGHTED', block: THERE }, 'SEEN 0xthere 3'],
    ['ORPHANED', { type: 'BURIED', head: 200 }, 'ORPHANED 0xhere 3'],
    ['ORPHANED', { type: 'MISSING' }, 'ORPHANED 0xhere 3'],
    ['ORPHANED', DEEP, 'ORPHANED 0xhere 3'],
    ['REVERSED', { type: 'SIGHTED', block: THERE }, 'SEEN 0xthere 3'],
    ['REVERSED', { type: 'BURIED', head: 200 }, 'REVERSED 0xhere 3'],
    ['REVERSED', { type: 'MISSING' }, 'REVERSED 0xhere 3'],
    ['REVERSED', DEEP, 'REVERSED 0xhere 3'],
  ])('changes from %s at %j to %s', (state, event, expected) => {
    expect(after(state, event)).toBe(expected);
  });

  it('is not credited while its receipt is of another block, or too few blocks follow', () => {
    expect(after('CONFIRMING', { ...DEEP, block: { ...HERE, hash: '0xother' } })).toBe('CONFIRMING 0xhere 3');
    expect(after('CONFIRMING', { ...DEEP, block: { ...HERE, number: 99 } })).toBe('CONFIRMING 0xhere 3');
    expect(after('CONFIRMING', { ...DEEP, head: 104 })).toBe('CONFIRMING 0xhere 3');
    const unfinal = { ...DEEP, terms: { confirmations: 6, finalized: 99 } };
    expect(after('CONFIRMING', unfinal)).toBe('CONFIRMING 0xhere 3');
  });
});

describe('the depth of a deposit', () => {
  it('counts its own block, and is 0 if the chain does not reach it or lost it', () => {
    expect(confirmationsOf(life('SEEN'), 100)).toBe(1);
    expect(confirmationsOf(life('CREDITED'), 109)).toBe(10);
    expect(confirmationsOf(life('CONFIRMING'), 50)).toBe(0);
    expect(confirmationsOf(life('ORPHANED'), 109)).toBe(0);
    expect(confirmationsOf(life('REVERSED'), 109)).toBe(0);
  });

  it('must reach both the confirmations and the finality', () => {
    expect(isDeepEnough(HERE, 105, TERMS)).toBe(true);
    expect(isDeepEnough(HERE, 104, TERMS)).toBe(false);
    expect(isDeepEnough(HERE, 105, { confirmations: 6, finalized: 100 })).toBe(true);
    expect(isDeepEnough(HERE, 105, { confirmations: 6, finalized: 99 })).toBe(false);
    expect(isDeepEnough(HERE, 104, { confirmations: 6, finalized: 104 })).toBe(false);
  });
});

/** Changes of the chain of one transaction: blocks are added, or replaced from a depth on. */
type Turn = { grow: number } | { reorganise: number; minesAgainAfter: number | null };

const turns = fc.array(
  fc.oneof(
    fc.record({ grow: fc.integer({ min: 1, max: 9 }) }),
    fc.record({
      reorganise: fc.integer({ min: 1, max: 64 }),
      minesAgainAfter: fc.option(fc.integer({ min: 0, max: 20 })),
    }),
  ),
  { maxLength: 30 },
);

/** A chain that holds one transaction or none, and the life of its deposit under a watcher. */
class History {
  private head = 0;
  private fork = 0;
  private minedAt: BlockId | null = null;
  private pendingUntil: number | null = 1;
  life: DepositLife | null = null;
  booked = 0;

  private readonly confirmations: number;

  constructor(confirmations: number) {
    this.confirmations = confirmations;
  }

  play(turn: Turn): void {
    if ('grow' in turn) this.grow(turn.grow);
    else this.reorganise(turn);
    this.watch();
  }

  get isOnChain(): boolean {
    return this.minedAt !== null;
  }

  private grow(blocks: number): void {
    this.head += blocks;
    if (this.pendingUntil !== null && this.pendingUntil <= this.head) {
      this.minedAt = { number: this.pendingUntil, hash: `${this.pendingUntil}@${this.fork}` };
      this.pendingUntil = null;
    }
  }

  private reorganise({
    reorganise: depth,
    minesAgainAfter,
  }: {
    reorganise: number;
    minesAgainAfter: number | null;
  }): void {
    const from = Math.max(1, this.head - depth + 1);
    this.fork += 1;
    if (!this.minedAt || this.minedAt.number < from) return;
    this.minedAt = null;
    this.pendingUntil = minesAgainAfter === null ? null : from + minesAgainAfter;
    this.grow(0);
  }

  private watch(): void {
    if (this.minedAt && !this.life) this.life = { state: 'SEEN', block: this.minedAt, reversals: 0 };
    if (!this.life) return;
    this.apply(this.minedAt ? { type: 'SIGHTED', block: this.minedAt } : { type: 'MISSING' });
    this.apply({ type: 'BURIED', head: this.head });
    const terms = { confirmations: this.confirmations, finalized: null };
    if (this.minedAt) this.apply({ type: 'VERIFIED', block: this.minedAt, head: this.head, terms });
  }

  private apply(event: DepositEvent): void {
    if (!this.life) return;
    const { life: next, movement } = step(this.life, event);
    this.life = next;
    if (movement) this.booked += movement.type === 'CREDIT' ? 1 : -1;
  }
}

describe('random histories of a chain', () => {
  it('never book a deposit twice, and book it exactly once if it is deep enough at the end', () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 12 }), (list, confirmations) => {
        const history = new History(confirmations);
        for (const turn of list) {
          history.play(turn);
          expect([0, 1]).toContain(history.booked);
          const isCredited = history.life?.state === 'CREDITED';
          expect(history.booked).toBe(isCredited ? 1 : 0);
          if (!history.isOnChain) expect(history.booked).toBe(0);
        }
        for (let more = 0; more < 12; more += 1) history.play({ grow: 9 });
        expect(history.booked).toBe(history.isOnChain ? 1 : 0);
        expect(history.life && isOpen(history.life)).not.toBe(true);
      }),
      { numRuns: 2000, seed: 16 },
    );
  });
});
