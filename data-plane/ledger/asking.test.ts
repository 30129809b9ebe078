/** How a node gets credit: what it asks for, when, and whom it gives it to. */
import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX } from '@gateway/shared/money';
import type { LedgerEvent } from './events.ts';
import { DEADLINE_MS, Desk, PRICE, WALLET, heldIn, questionOf, refusedIn, typesOf } from './model/desk.ts';

/** A node that has been granted this much for its first request, which still holds its price. */
function desk(amount = 100n * PRICE): Desk {
  const node = new Desk();
  node.hold(1);
  node.grant(1, amount);
  return node;
}

describe('the first request of a wallet', () => {
  test('asks for ten prices, and at least one', () => {
    const node = new Desk();
    const [effect, ...others] = node.hold(1);
    expect(others).toEqual([]);
    expect(effect).toEqual({
      type: 'REQUEST',
      fresh: true,
      purse: node.purse,
      request: {
        ...{ no: 1, purseId: WALLET, want: 10n * PRICE, need: PRICE, waiting: PRICE },
        ...{ sentAt: { mono: 1_000, wall: 1_000 }, attempts: 0, resendAt: null, former: false },
      },
    });
  });

  test('is asked for once, whoever else comes meanwhile', () => {
    const node = new Desk();
    node.hold(1);
    expect(node.hold(2)).toEqual([]);
    expect(node.tell({ type: 'RETRY', purseId: WALLET })).toEqual([]);
    expect(heldIn(node.grant(1, 10n * PRICE))).toEqual([1, 2]);
    expect(node.lease('lease_1')).toMatchObject({ remaining: 8n * PRICE, holds: 2, amount: 10n * PRICE });
  });

  test('and what all that wait need is asked for where that is more', () => {
    const node = new Desk();
    node.hold(1);
    for (let waiter = 2; waiter <= 13; waiter += 1) node.hold(waiter);
    const second = questionOf(node.grant(1, PRICE))?.request;
    expect(second).toMatchObject({ no: 2, want: 12n * PRICE, need: PRICE, waiting: 12n * PRICE });
  });
});

describe('a grant', () => {
  test('is written down before it is spent, and never applied twice', () => {
    const node = new Desk();
    node.hold(1);
    const effects = node.grant(1, 2n * PRICE);
    expect(effects).toEqual([
      { type: 'WRITE', record: { type: 'granted', no: 1, leaseId: 'lease_1', amount: '200' } },
      { type: 'HELD', waiter: 1, leaseId: 'lease_1' },
    ]);
    expect(node.grant(1, 2n * PRICE)).toEqual([]);
    expect(node.grant(7, 2n * PRICE, 'lease_7')).toEqual([]);
    node.hold(2);
    node.hold(3);
    expect(node.grant(2, 5n * PRICE, 'lease_1')).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ amount: 2n * PRICE, remaining: 0n, holds: 2 });
  });

  test('lasts from the moment the question was sent, not from its answer', () => {
    const node = new Desk();
    node.hold(1);
    node.time += 500;
    node.grant(1, 2n * PRICE);
    expect(node.lease('lease_1')).toMatchObject({
      confirmed: { mono: 1_000, wall: 1_000 },
      deadlineMs: DEADLINE_MS,
    });
    expect(node.mayCommit('lease_1', { mono: 1_000 + DEADLINE_MS, wall: 1_000 + DEADLINE_MS })).toBe(true);
    expect(node.mayCommit('lease_1', { mono: 1_001 + DEADLINE_MS, wall: 0 })).toBe(false);
    expect(node.mayCommit('lease_1', { mono: 0, wall: 1_001 + DEADLINE_MS })).toBe(false);
    expect(node.mayCommit('lease_2')).toBe(false);
  });

  test('serves those that wait in their order, and asks for the first who is left', () => {
    const node = new Desk();
    node.hold(1);
    node.hold(2, 3n * PRICE);
    node.hold(3);
    const effects = node.grant(1, 2n * PRICE);
    expect(heldIn(effects)).toEqual([1, 3]);
    expect(questionOf(effects)?.request).toMatchObject({ no: 2, need: 3n * PRICE, waiting: 3n * PRICE });
  });

  test('that comes while the node stops serves nobody new and goes back', () => {
    const node = new Desk();
    node.hold(1);
    expect(refusedIn(node.tell({ type: 'STOP' }))).toEqual([[1, 'unavailable']]);
    expect(typesOf(node.grant(1, 2n * PRICE))).toEqual(['WRITE', 'CLOSE']);
    expect(refusedIn(node.hold(2))).toEqual([[2, 'unavailable']]);
  });
});

describe('money at hand', () => {
  test('is given without a question, from whichever lease has it', () => {
    const node = desk(5n * PRICE);
    expect(node.hold(2)).toEqual([{ type: 'HELD', waiter: 2, leaseId: 'lease_1' }]);
    node.hold(3, 6n * PRICE);
    expect(heldIn(node.grant(2, 7n * PRICE))).toEqual([3]);
    expect(node.hold(4)[0]).toEqual({ type: 'HELD', waiter: 4, leaseId: 'lease_1' });
    expect(node.lease('lease_1')).toMatchObject({ remaining: 2n * PRICE, holds: 3 });
    expect(node.lease('lease_2')).toMatchObject({ remaining: PRICE, holds: 1 });
  });

  test('of a key with a spend limit is its own', () => {
    const node = desk();
    const asked = questionOf(node.hold(2, PRICE, 'key_1'));
    expect(asked?.purse).toMatchObject({ id: `${WALLET} key_1`, walletId: WALLET, keyId: 'key_1' });
    expect(asked?.request.purseId).toBe(`${WALLET} key_1`);
  });

  test('is not given from a lease that drains or has run out', () => {
    const node = desk();
    node.tell({ type: 'RECALL', leaseId: 'lease_1' });
    expect(typesOf(node.hold(2))).toEqual(['REQUEST']);
    const late = desk();
    late.time += DEADLINE_MS + 1;
    expect(typesOf(late.hold(2))).toEqual(['REQUEST']);
  });

  test('that is given back serves who waits', () => {
    const node = desk(PRICE);
    node.hold(2);
    expect(heldIn(node.release('lease_1'))).toEqual([2]);
    expect(node.lease('lease_1')).toMatchObject({ remaining: 0n, holds: 1 });
  });
});

describe('the next lease', () => {
  test('is asked for when less than half is left of the newest, and not before', () => {
    const node = desk(10n * PRICE);
    for (let waiter = 2; waiter <= 5; waiter += 1) expect(questionOf(node.hold(waiter))).toBe(undefined);
    expect(questionOf(node.hold(6))?.request).toMatchObject({ no: 2, need: PRICE, waiting: 0n });
    expect(questionOf(node.hold(7))).toBe(undefined);
  });

  test('counts the rest of all leases, but not of those that drain', () => {
    const node = desk(4n * PRICE);
    node.hold(2, 20n * PRICE);
    node.grant(2, 40n * PRICE);
    expect(questionOf(node.hold(3))).toBe(undefined);
    node.tell({ type: 'RECALL', leaseId: 'lease_1' });
    expect(questionOf(node.hold(4))?.request.no).toBe(3);
  });

  test('is not asked for early of a wallet that gave no more than was waited for', () => {
    const node = desk(PRICE);
    node.commit('lease_1');
    const poor = new Desk();
    poor.hold(1);
    poor.hold(2);
    poor.grant(1, PRICE);
    expect(questionOf(poor.grant(2, PRICE))).toBe(undefined);
    expect(poor.purse.roomy).toBe(false);
    expect(desk(2n * PRICE).purse.roomy).toBe(true);
  });

  test.each([
    { type: 'REFUSED', no: 2, code: 'insufficient_funds' },
    { type: 'CONFLICT', no: 2 },
  ] as const)('is not asked for early within five seconds of a refusal: $type', (answer) => {
    const node = desk(10n * PRICE);
    for (let waiter = 2; waiter <= 6; waiter += 1) node.hold(waiter);
    node.tell(answer);
    node.time += 4_999;
    expect(questionOf(node.hold(7))).toBe(undefined);
    node.time += 1;
    expect(questionOf(node.hold(8))?.request.no).toBe(3);
  });
});

describe('what is wanted', () => {
  /** Spends so many prices at once, then asks anew. */
  const wantedAfter = (spent: number, pauseMs: number): bigint | undefined => {
    const node = desk(1_000n * PRICE);
    node.time = 60_000;
    node.commit('lease_1');
    for (let waiter = 2; waiter <= spent; waiter += 1) {
      node.hold(waiter);
      node.commit('lease_1');
    }
    node.time += pauseMs;
    return questionOf(node.hold(100_000, 1_001n * PRICE))?.request.want;
  };

  test('is an hour of spending at the rate of the busier of two minutes', () => {
    expect(wantedAfter(300, 0)).toBe(300n * 60n * PRICE);
    expect(wantedAfter(300, 59_999)).toBe(300n * 60n * PRICE);
    expect(wantedAfter(300, 60_000)).toBe(300n * 60n * PRICE);
    // Two minutes later what was spent says nothing any more: ten prices.
    expect(wantedAfter(300, 120_000)).toBe(10_010n * PRICE);
  });

  test('counts a charge that was begun in the minute before with those of the minute that runs', () => {
    const node = desk(1_000n * PRICE);
    for (let waiter = 2; waiter <= 400; waiter += 1) node.hold(waiter);
    for (const time of [120_000, 119_999]) {
      node.time = time;
      for (let spent = 0; spent < 200; spent += 1) node.commit('lease_1');
    }
    node.time = 120_001;
    expect(questionOf(node.hold(500, 1_001n * PRICE))?.request.want).toBe(400n * 60n * PRICE);
  });

  test('is never more than any request may name', () => {
    const node = new Desk();
    expect(questionOf(node.hold(1, AMOUNT_MAX))?.request).toMatchObject({
      want: AMOUNT_MAX,
      need: AMOUNT_MAX,
    });
    node.hold(2, AMOUNT_MAX);
    node.tell({ type: 'REFUSED', no: 1, code: 'unavailable' });
    node.hold(3, PRICE);
    for (const waiter of [4, 5]) node.hold(waiter, AMOUNT_MAX);
    node.tell({ type: 'CONFLICT', no: 2 });
    node.time += 20;
    expect(questionOf(node.hold(6, PRICE))?.request).toMatchObject({
      want: AMOUNT_MAX,
      need: PRICE,
      waiting: AMOUNT_MAX,
    });
  });
});

describe('a wallet without enough', () => {
  test('refuses those that need as much as was asked for, in the words of the control plane', () => {
    const node = new Desk();
    node.hold(1, 3n * PRICE);
    node.hold(2, PRICE);
    node.hold(3, 4n * PRICE);
    const effects = node.tell({ type: 'REFUSED', no: 1, code: 'insufficient_funds' });
    expect(effects[0]).toEqual({ type: 'WRITE', record: { type: 'refused', no: 1 } });
    expect(refusedIn(effects)).toEqual([
      [1, 'insufficient_funds'],
      [3, 'insufficient_funds'],
    ]);
    expect(questionOf(effects)?.request).toMatchObject({ no: 2, need: PRICE, waiting: PRICE });
  });

  test('that is frozen refuses all', () => {
    const node = new Desk();
    node.hold(1, 3n * PRICE);
    node.hold(2, PRICE);
    expect(refusedIn(node.tell({ type: 'REFUSED', no: 1, code: 'wallet_frozen' }))).toEqual([
      [1, 'wallet_frozen'],
      [2, 'wallet_frozen'],
    ]);
  });

  test('gets back what a lease has left and is too little for anybody, before it is asked again', () => {
    const node = desk(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    const effects = node.tell({ type: 'REFUSED', no: 2, code: 'insufficient_funds' });
    expect(effects).toEqual([
      { type: 'WRITE', record: { type: 'refused', no: 2 } },
      { type: 'CLOSE', leaseId: 'lease_1', count: 0, sum: 0n },
      { type: 'RETRY', purseId: WALLET, afterMs: 20 },
    ]);
    const closed = node.tell({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(closed[0]).toEqual({ type: 'WRITE', record: { type: 'closed', leaseId: 'lease_1' } });
    expect(questionOf(closed)?.request).toMatchObject({ no: 3, need: 4n * PRICE });
    expect(node.purse.leaseIds).toEqual([]);
  });

  test('is asked again while a lease is on its way back, though another is still held', () => {
    const node = desk(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    node.grant(2, 4n * PRICE);
    node.hold(3, 9n * PRICE);
    expect(typesOf(node.tell({ type: 'REFUSED', no: 3, code: 'insufficient_funds' }))).toEqual([
      'WRITE',
      'CLOSE',
      'RETRY',
    ]);
    expect(node.lease('lease_2').draining).toBe(false);
  });

  test('is refused at once where what is left is held by a lease that drains', () => {
    const node = desk(3n * PRICE);
    node.tell({ type: 'RECALL', leaseId: 'lease_1' });
    node.hold(2, 4n * PRICE);
    expect(refusedIn(node.tell({ type: 'REFUSED', no: 2, code: 'insufficient_funds' }))).toEqual([
      [2, 'insufficient_funds'],
    ]);
  });

  test('is refused at once where what is left is held by requests in flight', () => {
    const node = desk(PRICE);
    node.hold(2);
    expect(refusedIn(node.tell({ type: 'REFUSED', no: 2, code: 'spend_limit_reached' }))).toEqual([
      [2, 'spend_limit_reached'],
    ]);
    expect(node.lease('lease_1').draining).toBe(false);
  });

  test('that is frozen gets nothing back early', () => {
    const node = desk(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    expect(refusedIn(node.tell({ type: 'REFUSED', no: 2, code: 'wallet_frozen' }))).toEqual([
      [2, 'wallet_frozen'],
    ]);
    expect(node.lease('lease_1').draining).toBe(false);
  });

  test('whose rest others hold is asked again after 20, 40, 80 and then every 80 ms', () => {
    const node = new Desk();
    node.hold(1);
    const waits: (number | undefined)[] = [];
    for (let no = 1; no <= 4; no += 1) {
      const effects = node.tell({ type: 'CONFLICT', no });
      expect(effects[0]).toEqual({ type: 'WRITE', record: { type: 'refused', no } });
      const retry = effects.find((effect) => effect.type === 'RETRY');
      waits.push(retry?.afterMs);
      node.time += (retry?.afterMs ?? 0) - 1;
      expect(node.hold(1 + no)).toEqual([]);
      // The timer ends the wait, though it is early by a part of a millisecond.
      expect(typesOf(node.tell({ type: 'RETRY', purseId: WALLET }))).toEqual(['REQUEST']);
    }
    expect(waits).toEqual([20, 40, 80, 80]);
    node.grant(5, PRICE);
    expect(node.purse.conflicts).toBe(0);
  });

  test('whose rest others hold gets back what this node has, and waits for nobody', () => {
    const node = desk(3n * PRICE);
    node.hold(2, 4n * PRICE);
    expect(typesOf(node.tell({ type: 'CONFLICT', no: 2 }))).toEqual(['WRITE', 'RETRY']);
    expect(node.lease('lease_1').draining).toBe(true);
    const alone = desk(10n * PRICE);
    for (let waiter = 2; waiter <= 6; waiter += 1) alone.hold(waiter);
    expect(typesOf(alone.tell({ type: 'CONFLICT', no: 2 }))).toEqual(['WRITE']);
    expect(alone.lease('lease_1').draining).toBe(false);
    expect(alone.tell({ type: 'CONFLICT', no: 2 })).toEqual([]);
    expect(alone.tell({ type: 'REFUSED', no: 2, code: 'insufficient_funds' })).toEqual([]);
  });
});

describe('a question without an answer', () => {
  test('is sent again under its number, later each time, and at once when the control plane is back', () => {
    const node = new Desk();
    node.hold(1);
    const waits = Array.from({ length: 7 }, () => {
      const [retry] = node.tell({ type: 'UNANSWERED', no: 1 });
      const afterMs = retry?.type === 'RETRY' ? retry.afterMs : 0;
      node.time += afterMs - 1;
      expect(node.tell({ type: 'TICK' })).toEqual([]);
      // The timer ends the wait, though it is early by a part of a millisecond.
      const [again] = node.tell({ type: 'RETRY', purseId: WALLET });
      expect(again).toMatchObject({ type: 'REQUEST', fresh: false, request: { no: 1, resendAt: null } });
      expect(node.tell({ type: 'RETRY', purseId: WALLET })).toEqual([]);
      return afterMs;
    });
    expect(waits).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
    node.tell({ type: 'UNANSWERED', no: 1 });
    const sentAt = { mono: node.time, wall: node.time };
    expect(typesOf(node.tell({ type: 'CONFIRMED', sentAt }))).toEqual(['REQUEST']);
    expect(node.tell({ type: 'CONFIRMED', sentAt })).toEqual([]);
    expect(node.tell({ type: 'UNANSWERED', no: 99 })).toEqual([]);
  });

  test('is sent again by the clock, too, and only for its own purse by a retry', () => {
    const node = new Desk();
    node.hold(1);
    node.tell({ type: 'UNANSWERED', no: 1 });
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    node.time += 50;
    expect(node.tell({ type: 'RETRY', purseId: 'wallet_b' })).toEqual([]);
    expect(typesOf(node.tell({ type: 'TICK' }))).toEqual(['REQUEST']);
  });

  test('that the journal did not take was never sent: all that wait are told to come again', () => {
    const node = new Desk();
    node.hold(1);
    node.hold(2, 5n * PRICE);
    expect(refusedIn(node.tell({ type: 'UNSENT', no: 1 }))).toEqual([
      [1, 'unavailable'],
      [2, 'unavailable'],
    ]);
    expect(node.tell({ type: 'UNSENT', no: 1 })).toEqual([]);
    expect(questionOf(node.hold(3))?.request.no).toBe(2);
  });
});

describe('a request that waited long', () => {
  const giveUp = (waiter: number, final: boolean) =>
    ({ type: 'GIVE_UP', waiter, purseId: WALLET, final }) as const;

  test('is told to come again while the control plane was never heard of', () => {
    const node = new Desk();
    node.hold(1);
    node.hold(2);
    expect(refusedIn(node.tell(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
    expect(node.tell(giveUp(1, true))).toEqual([]);
    expect(node.purse.waiters.map(({ id }) => id)).toEqual([2]);
    expect(node.tell({ ...giveUp(1, true), purseId: 'wallet_b' })).toEqual([]);
  });

  const moment = { mono: 0, wall: 0 };
  test.each<LedgerEvent>([
    { type: 'CONFIRMED', sentAt: moment },
    { type: 'SETTLED', leases: [] },
    { type: 'CLOSED', leaseId: 'lease_9' },
    { type: 'GRANTED', no: 99, leaseId: 'lease_99', amount: 1n, deadlineMs: 1 },
    { type: 'REFUSED', no: 99, code: 'insufficient_funds' },
    { type: 'CONFLICT', no: 99 },
  ])('goes on waiting where the control plane is only slow: it answered something else, $type', (answer) => {
    const node = new Desk();
    node.hold(1);
    node.tell(answer);
    node.time += 5_999;
    expect(node.tell(giveUp(1, false))).toEqual([]);
    node.time += 1;
    expect(refusedIn(node.tell(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
  });

  test.each<LedgerEvent>([
    { type: 'TICK' },
    { type: 'RECALL', leaseId: 'lease_9' },
    { type: 'NOT_CLOSED', leaseId: 'lease_9' },
    { type: 'RETRY', purseId: WALLET },
    { type: 'UNANSWERED', no: 99 },
  ])('is not kept waiting by what is no answer: $type', (event) => {
    const node = new Desk();
    node.hold(1);
    node.tell(event);
    expect(refusedIn(node.tell(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
  });

  test('is told to come again once a question got no answer, until the control plane is heard again', () => {
    const node = new Desk();
    node.tell({ type: 'CONFIRMED', sentAt: moment });
    node.hold(1);
    node.hold(2);
    node.time += 1;
    node.tell({ type: 'UNANSWERED', no: 1 });
    expect(refusedIn(node.tell(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
    node.tell({ type: 'CONFIRMED', sentAt: moment });
    expect(node.tell(giveUp(2, false))).toEqual([]);
  });

  test('is told at the end that others hold the money, where the control plane said so', () => {
    const node = new Desk();
    node.hold(1);
    node.tell({ type: 'CONFLICT', no: 1 });
    expect(refusedIn(node.tell(giveUp(1, true)))).toEqual([[1, 'all_in_use']]);
    const slow = desk(PRICE);
    slow.hold(2);
    expect(refusedIn(slow.tell(giveUp(2, true)))).toEqual([[2, 'unavailable']]);
    const away = new Desk();
    away.hold(1);
    away.tell({ type: 'CONFLICT', no: 1 });
    away.time += 6_000;
    expect(refusedIn(away.tell(giveUp(1, true)))).toEqual([[1, 'unavailable']]);
  });
});
