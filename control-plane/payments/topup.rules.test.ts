/** Tests of the life of a top-up: whatever arrives, in any order and how often, moves each amount once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveries } from '../../test/control/payment-histories.ts';
import { contributionOf, disputedOf, newLife, refundedOf, stateOf, step } from './topup.rules.ts';
import type { TopUpEvent, TopUpLife, TopUpMovement } from './topup.rules.ts';

const paid = { type: 'PAID', amount: 25n } as const;
const progress = (stage: 'CREATED' | 'AWAITING_PAYMENT' | 'EXPIRED' | 'FAILED') =>
  ({ type: 'PROGRESS', stage }) as const;
const refund = (id: string, amount: bigint, status: 'REQUESTED' | 'PENDING' | 'SUCCEEDED' | 'FAILED') =>
  ({ type: 'REFUND', id, amount, status }) as const;
const dispute = (id: string, amount: bigint, status: 'NOTICE' | 'OPEN' | 'LOST' | 'WON') =>
  ({ type: 'DISPUTE', id, amount, status }) as const;
const chain = (state: 'SEEN' | 'CONFIRMING' | 'CREDITED' | 'ORPHANED') =>
  ({ type: 'CHAIN', state, amount: 25n }) as const;

/** The life and all movements after the events. */
function live(events: readonly TopUpEvent[], from: TopUpLife = newLife('CARD')) {
  let life = from;
  const movements: TopUpMovement[] = [];
  for (const event of events) {
    const done = step(life, event);
    life = done.life;
    movements.push(...done.movements);
  }
  const sum = movements.reduce((total, { amount }) => total + amount, 0n);
  return { life, movements, sum, state: stateOf(life) };
}

describe('a top-up by card', () => {
  it.each([
    ['nothing happened', [], 'CREATED', 0n],
    ['its page is open', [progress('AWAITING_PAYMENT')], 'AWAITING_PAYMENT', 0n],
    ['nobody paid in time', [progress('EXPIRED'), progress('AWAITING_PAYMENT')], 'EXPIRED', 0n],
    ['the bank refused later', [progress('FAILED'), progress('EXPIRED')], 'FAILED', 0n],
    ['it was paid', [paid], 'CREDITED', 25n],
    ['it was paid after it expired', [progress('EXPIRED'), paid], 'CREDITED', 25n],
    ['it was paid twice', [paid, { ...paid, amount: 30n }], 'CREDITED', 25n],
    ['a part was refunded', [paid, refund('a', 5n, 'PENDING')], 'PARTIALLY_REFUNDED', 20n],
    [
      'all was refunded in parts',
      [paid, refund('a', 5n, 'SUCCEEDED'), refund('b', 20n, 'REQUESTED')],
      'REFUNDED',
      0n,
    ],
    ['a refund failed', [paid, refund('a', 5n, 'SUCCEEDED'), refund('a', 5n, 'FAILED')], 'CREDITED', 25n],
    ['a refund came before the payment', [refund('a', 5n, 'SUCCEEDED')], 'CREATED', 0n],
    ['the bank inquires', [paid, dispute('d', 25n, 'NOTICE')], 'CREDITED', 25n],
    ['it is disputed', [paid, dispute('d', 25n, 'OPEN')], 'DISPUTED', 0n],
    ['the dispute was lost', [paid, dispute('d', 25n, 'OPEN'), dispute('d', 25n, 'LOST')], 'DISPUTED', 0n],
    ['the dispute was won', [paid, dispute('d', 25n, 'OPEN'), dispute('d', 25n, 'WON')], 'CREDITED', 25n],
    ['a loss was reverted', [paid, dispute('d', 25n, 'LOST'), dispute('d', 25n, 'WON')], 'CREDITED', 25n],
    [
      'it is disputed after a refund',
      [paid, refund('a', 25n, 'SUCCEEDED'), dispute('d', 25n, 'OPEN')],
      'DISPUTED',
      -25n,
    ],
  ] as const)('has the state and the money that are due when %s', (_name, events, state, sum) => {
    const done = live(events);
    expect({ state: done.state, sum: done.sum }).toEqual({ state, sum });
    expect(contributionOf(done.life)).toBe(sum);
  });

  it('names each movement, its kind and its amount', () => {
    const events = [
      paid,
      refund('a', 5n, 'PENDING'),
      refund('a', 5n, 'FAILED'),
      dispute('d', 25n, 'OPEN'),
      dispute('d', 25n, 'WON'),
    ];
    expect(live(events).movements).toEqual([
      { name: 'credit', kind: 'TOP_UP_CARD', amount: 25n },
      { name: 'refund:a', kind: 'REFUND', amount: -5n },
      { name: 'refund:a:failed', kind: 'REFUND', amount: 5n },
      { name: 'dispute:d', kind: 'DISPUTE_HOLD', amount: -25n },
      { name: 'dispute:d:won', kind: 'DISPUTE_RELEASE', amount: 25n },
    ]);
  });

  it('takes back earlier reported refunds and disputes once the payment is known', () => {
    const before = [
      refund('a', 5n, 'SUCCEEDED'),
      refund('b', 6n, 'FAILED'),
      dispute('d', 7n, 'LOST'),
      dispute('e', 8n, 'WON'),
    ];
    expect(live(before).movements).toEqual([]);
    expect(live([...before, paid]).movements).toEqual([
      { name: 'credit', kind: 'TOP_UP_CARD', amount: 25n },
      { name: 'refund:a', kind: 'REFUND', amount: -5n },
      { name: 'dispute:d', kind: 'DISPUTE_HOLD', amount: -7n },
    ]);
  });

  it('keeps the first amount of a refund and of a dispute', () => {
    const { life, sum } = live([
      paid,
      refund('a', 5n, 'PENDING'),
      refund('a', 9n, 'SUCCEEDED'),
      dispute('d', 3n, 'OPEN'),
      dispute('d', 8n, 'LOST'),
    ]);
    expect({ sum, refunded: refundedOf(life), disputed: disputedOf(life) }).toEqual({
      sum: 17n,
      refunded: 5n,
      disputed: 3n,
    });
  });

  it('ignores a state of a refund or dispute that is older than the known one', () => {
    const late = [
      paid,
      refund('a', 5n, 'FAILED'),
      refund('a', 5n, 'SUCCEEDED'),
      dispute('d', 5n, 'WON'),
      dispute('d', 5n, 'OPEN'),
    ];
    expect(live(late)).toMatchObject({ sum: 25n, state: 'CREDITED' });
  });
});

describe('a top-up on a blockchain', () => {
  it('is credited once when its deposit is final, whatever is reported after that', () => {
    const done = live(
      [chain('SEEN'), chain('CONFIRMING'), chain('CREDITED'), chain('CREDITED'), chain('CONFIRMING')],
      newLife('CRYPTO'),
    );
    expect(done.movements).toEqual([{ name: 'credit', kind: 'TOP_UP_CRYPTO', amount: 25n }]);
    expect(done.state).toBe('CREDITED');
  });

  it('is taken back and credited again under references of their own when its block leaves the chain', () => {
    const done = live(
      [
        chain('CREDITED'),
        chain('ORPHANED'),
        chain('ORPHANED'),
        chain('SEEN'),
        chain('CREDITED'),
        chain('ORPHANED'),
      ],
      newLife('CRYPTO'),
    );
    expect(done.movements.map(({ name, amount }) => [name, amount])).toEqual([
      ['credit', 25n],
      ['reversal:1', -25n],
      ['credit:2', 25n],
      ['reversal:2', -25n],
    ]);
    expect(done).toMatchObject({ state: 'ORPHANED', sum: 0n });
    expect(contributionOf(done.life)).toBe(0n);
  });

  it.each(['SEEN', 'CONFIRMING', 'ORPHANED'] as const)(
    'shows %s and moves nothing before the credit',
    (state) => {
      expect(live([chain(state)], newLife('CRYPTO'))).toMatchObject({ state, movements: [], sum: 0n });
      expect(newLife('CRYPTO').stage).toBe('SEEN');
    },
  );
});

describe('a random life of a payment', () => {
  it('leaves the balance that its last objects state, and uses no reference twice', () => {
    fc.assert(
      fc.property(deliveries, ({ events, due }) => {
        const done = live(events);
        const names = done.movements.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect({ sum: done.sum, contribution: contributionOf(done.life) }).toEqual({
          sum: due,
          contribution: due,
        });
      }),
      { numRuns: 2000, seed: 16 },
    );
  });
});
