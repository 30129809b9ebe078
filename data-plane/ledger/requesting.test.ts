/** Rules for getting credit: when a lease is requested, for how much, and which requests get a hold. */
import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX } from '@gateway/shared/money';
import type { LedgerEvent } from './events.ts';
import {
  DEADLINE_MS,
  RulesHarness,
  PRICE,
  WALLET,
  heldIn,
  requestIn,
  refusedIn,
  typesOf,
} from '../../test/ledger/rules-harness.ts';

/** A node with a lease of this amount, which holds the price of its first request. */
function nodeWithLease(amount = 100n * PRICE): RulesHarness {
  const node = new RulesHarness();
  node.hold(1);
  node.grant(1, amount);
  return node;
}

describe('the first request of a wallet', () => {
  test('requests a lease for ten prices, and at least for one', () => {
    const node = new RulesHarness();
    const [effect, ...others] = node.hold(1);
    expect(others).toEqual([]);
    expect(effect).toEqual({
      type: 'REQUEST',
      isNew: true,
      budget: node.budget,
      request: {
        ...{ no: 1, budgetId: WALLET, want: 10n * PRICE, need: PRICE, waiting: PRICE },
        ...{ sentAt: { mono: 1_000, wall: 1_000 }, attempts: 0, resendAt: null, fromEarlierProcess: false },
      },
    });
  });

  test('requests one lease for all requests that come before the answer', () => {
    const node = new RulesHarness();
    node.hold(1);
    expect(node.hold(2)).toEqual([]);
    expect(node.dispatch({ type: 'RETRY', budgetId: WALLET })).toEqual([]);
    expect(heldIn(node.grant(1, 10n * PRICE))).toEqual([1, 2]);
    expect(node.lease('lease_1')).toMatchObject({ remaining: 8n * PRICE, holds: 2, amount: 10n * PRICE });
  });

  test('requests the sum of all waiting prices if that is more than ten prices', () => {
    const node = new RulesHarness();
    node.hold(1);
    for (let waiter = 2; waiter <= 13; waiter += 1) node.hold(waiter);
    const second = requestIn(node.grant(1, PRICE))?.request;
    expect(second).toMatchObject({ no: 2, want: 12n * PRICE, need: PRICE, waiting: 12n * PRICE });
  });
});

describe('a grant', () => {
  test('is journaled before it is used, and is applied only once', () => {
    const node = new RulesHarness();
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

  test('is valid from the time of the request, not of the answer', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.time += 500;
    node.grant(1, 2n * PRICE);
    expect(node.lease('lease_1')).toMatchObject({
      confirmed: { mono: 1_000, wall: 1_000 },
      deadlineMs: DEADLINE_MS,
    });
    expect(node.isChargeable('lease_1', { mono: 1_000 + DEADLINE_MS, wall: 1_000 + DEADLINE_MS })).toBe(true);
    expect(node.isChargeable('lease_1', { mono: 1_001 + DEADLINE_MS, wall: 0 })).toBe(false);
    expect(node.isChargeable('lease_1', { mono: 0, wall: 1_001 + DEADLINE_MS })).toBe(false);
    expect(node.isChargeable('lease_2')).toBe(false);
  });

  test('serves waiting requests in their order, then requests a lease for the first one that is left', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.hold(2, 3n * PRICE);
    node.hold(3);
    const effects = node.grant(1, 2n * PRICE);
    expect(heldIn(effects)).toEqual([1, 3]);
    expect(requestIn(effects)?.request).toMatchObject({ no: 2, need: 3n * PRICE, waiting: 3n * PRICE });
  });

  test('serves no request during shutdown and is returned', () => {
    const node = new RulesHarness();
    node.hold(1);
    expect(refusedIn(node.dispatch({ type: 'STOP' }))).toEqual([[1, 'unavailable']]);
    expect(typesOf(node.grant(1, 2n * PRICE))).toEqual(['WRITE', 'CLOSE']);
    expect(refusedIn(node.hold(2))).toEqual([[2, 'unavailable']]);
  });
});

describe('available credit', () => {
  test('is held without a lease request, from any lease that has enough', () => {
    const node = nodeWithLease(5n * PRICE);
    expect(node.hold(2)).toEqual([{ type: 'HELD', waiter: 2, leaseId: 'lease_1' }]);
    node.hold(3, 6n * PRICE);
    expect(heldIn(node.grant(2, 7n * PRICE))).toEqual([3]);
    expect(node.hold(4)[0]).toEqual({ type: 'HELD', waiter: 4, leaseId: 'lease_1' });
    expect(node.lease('lease_1')).toMatchObject({ remaining: 2n * PRICE, holds: 3 });
    expect(node.lease('lease_2')).toMatchObject({ remaining: PRICE, holds: 1 });
  });

  test('is separate for a key with a spend limit and for its wallet', () => {
    const node = nodeWithLease();
    const effect = requestIn(node.hold(2, PRICE, 'key_1'));
    expect(effect?.budget).toMatchObject({ id: `${WALLET} key_1`, walletId: WALLET, keyId: 'key_1' });
    expect(effect?.request.budgetId).toBe(`${WALLET} key_1`);
  });

  test('is not held from a draining or expired lease', () => {
    const node = nodeWithLease();
    node.dispatch({ type: 'RECALL', leaseId: 'lease_1' });
    expect(typesOf(node.hold(2))).toEqual(['REQUEST']);
    const late = nodeWithLease();
    late.time += DEADLINE_MS + 1;
    expect(typesOf(late.hold(2))).toEqual(['REQUEST']);
  });

  test('goes to a waiting request when it is released', () => {
    const node = nodeWithLease(PRICE);
    node.hold(2);
    expect(heldIn(node.release('lease_1'))).toEqual([2]);
    expect(node.lease('lease_1')).toMatchObject({ remaining: 0n, holds: 1 });
  });
});

describe('the next lease', () => {
  test('is requested when less than half of the newest lease is left, and not before', () => {
    const node = nodeWithLease(10n * PRICE);
    for (let waiter = 2; waiter <= 5; waiter += 1) expect(requestIn(node.hold(waiter))).toBe(undefined);
    expect(requestIn(node.hold(6))?.request).toMatchObject({ no: 2, need: PRICE, waiting: 0n });
    expect(requestIn(node.hold(7))).toBe(undefined);
  });

  test('is requested depending on the rest of all leases except draining ones', () => {
    const node = nodeWithLease(4n * PRICE);
    node.hold(2, 20n * PRICE);
    node.grant(2, 40n * PRICE);
    expect(requestIn(node.hold(3))).toBe(undefined);
    node.dispatch({ type: 'RECALL', leaseId: 'lease_1' });
    expect(requestIn(node.hold(4))?.request.no).toBe(3);
  });

  test('is not requested early if the last grant only covered the waiting requests', () => {
    const node = nodeWithLease(PRICE);
    node.commit('lease_1');
    const poor = new RulesHarness();
    poor.hold(1);
    poor.hold(2);
    poor.grant(1, PRICE);
    expect(requestIn(poor.grant(2, PRICE))).toBe(undefined);
    expect(poor.budget.grantHadSurplus).toBe(false);
    expect(nodeWithLease(2n * PRICE).budget.grantHadSurplus).toBe(true);
  });

  test.each([
    { type: 'REFUSED', no: 2, code: 'insufficient_funds' },
    { type: 'CONFLICT', no: 2 },
  ] as const)('is not requested early within five seconds after $type', (answer) => {
    const node = nodeWithLease(10n * PRICE);
    for (let waiter = 2; waiter <= 6; waiter += 1) node.hold(waiter);
    node.dispatch(answer);
    node.time += 4_999;
    expect(requestIn(node.hold(7))).toBe(undefined);
    node.time += 1;
    expect(requestIn(node.hold(8))?.request.no).toBe(3);
  });
});

describe('the requested amount', () => {
  /** The amount that is requested after `spent` charges and a pause. */
  const wantedAfter = (spent: number, pauseMs: number): bigint | undefined => {
    const node = nodeWithLease(1_000n * PRICE);
    node.time = 60_000;
    node.commit('lease_1');
    for (let waiter = 2; waiter <= spent; waiter += 1) {
      node.hold(waiter);
      node.commit('lease_1');
    }
    node.time += pauseMs;
    return requestIn(node.hold(100_000, 1_001n * PRICE))?.request.want;
  };

  test('covers an hour of spending at the rate of the busier of two minutes', () => {
    expect(wantedAfter(300, 0)).toBe(300n * 60n * PRICE);
    expect(wantedAfter(300, 59_999)).toBe(300n * 60n * PRICE);
    expect(wantedAfter(300, 60_000)).toBe(300n * 60n * PRICE);
    // Two minutes later the spending does not count any more: ten prices are requested.
    expect(wantedAfter(300, 120_000)).toBe(10_010n * PRICE);
  });

  test('counts a charge with an earlier timestamp in the current minute', () => {
    const node = nodeWithLease(1_000n * PRICE);
    for (let waiter = 2; waiter <= 400; waiter += 1) node.hold(waiter);
    for (const time of [120_000, 119_999]) {
      node.time = time;
      for (let spent = 0; spent < 200; spent += 1) node.commit('lease_1');
    }
    node.time = 120_001;
    expect(requestIn(node.hold(500, 1_001n * PRICE))?.request.want).toBe(400n * 60n * PRICE);
  });

  test('never exceeds the largest valid amount', () => {
    const node = new RulesHarness();
    expect(requestIn(node.hold(1, AMOUNT_MAX))?.request).toMatchObject({
      want: AMOUNT_MAX,
      need: AMOUNT_MAX,
    });
    node.hold(2, AMOUNT_MAX);
    node.dispatch({ type: 'REFUSED', no: 1, code: 'unavailable' });
    node.hold(3, PRICE);
    for (const waiter of [4, 5]) node.hold(waiter, AMOUNT_MAX);
    node.dispatch({ type: 'CONFLICT', no: 2 });
    node.time += 20;
    expect(requestIn(node.hold(6, PRICE))?.request).toMatchObject({
      want: AMOUNT_MAX,
      need: PRICE,
      waiting: AMOUNT_MAX,
    });
  });
});

describe('a wallet with too little credit', () => {
  test('refuses waiting requests whose price is at least the refused one', () => {
    const node = new RulesHarness();
    node.hold(1, 3n * PRICE);
    node.hold(2, PRICE);
    node.hold(3, 4n * PRICE);
    const effects = node.dispatch({ type: 'REFUSED', no: 1, code: 'insufficient_funds' });
    expect(effects[0]).toEqual({ type: 'WRITE', record: { type: 'refused', no: 1 } });
    expect(refusedIn(effects)).toEqual([
      [1, 'insufficient_funds'],
      [3, 'insufficient_funds'],
    ]);
    expect(requestIn(effects)?.request).toMatchObject({ no: 2, need: PRICE, waiting: PRICE });
  });

  test('refuses all waiting requests if it is frozen', () => {
    const node = new RulesHarness();
    node.hold(1, 3n * PRICE);
    node.hold(2, PRICE);
    expect(refusedIn(node.dispatch({ type: 'REFUSED', no: 1, code: 'wallet_frozen' }))).toEqual([
      [1, 'wallet_frozen'],
      [2, 'wallet_frozen'],
    ]);
  });

  test('gets back leases that are too small for all waiting requests, before the next lease request', () => {
    const node = nodeWithLease(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    const effects = node.dispatch({ type: 'REFUSED', no: 2, code: 'insufficient_funds' });
    expect(effects).toEqual([
      { type: 'WRITE', record: { type: 'refused', no: 2 } },
      { type: 'CLOSE', leaseId: 'lease_1', count: 0, sum: 0n },
      { type: 'RETRY', budgetId: WALLET, afterMs: 20 },
    ]);
    const closed = node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(closed[0]).toEqual({ type: 'WRITE', record: { type: 'closed', leaseId: 'lease_1' } });
    expect(requestIn(closed)?.request).toMatchObject({ no: 3, need: 4n * PRICE });
    expect(node.budget.leaseIds).toEqual([]);
  });

  test('is asked again while one lease is being returned and another one is in use', () => {
    const node = nodeWithLease(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    node.grant(2, 4n * PRICE);
    node.hold(3, 9n * PRICE);
    expect(typesOf(node.dispatch({ type: 'REFUSED', no: 3, code: 'insufficient_funds' }))).toEqual([
      'WRITE',
      'CLOSE',
      'RETRY',
    ]);
    expect(node.lease('lease_2').draining).toBe(false);
  });

  test('refuses at once if its rest is held in a draining lease', () => {
    const node = nodeWithLease(3n * PRICE);
    node.dispatch({ type: 'RECALL', leaseId: 'lease_1' });
    node.hold(2, 4n * PRICE);
    expect(refusedIn(node.dispatch({ type: 'REFUSED', no: 2, code: 'insufficient_funds' }))).toEqual([
      [2, 'insufficient_funds'],
    ]);
  });

  test('refuses at once if its rest is held by requests in flight', () => {
    const node = nodeWithLease(PRICE);
    node.hold(2);
    expect(refusedIn(node.dispatch({ type: 'REFUSED', no: 2, code: 'spend_limit_reached' }))).toEqual([
      [2, 'spend_limit_reached'],
    ]);
    expect(node.lease('lease_1').draining).toBe(false);
  });

  test('gets no lease back early if it is frozen', () => {
    const node = nodeWithLease(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    expect(refusedIn(node.dispatch({ type: 'REFUSED', no: 2, code: 'wallet_frozen' }))).toEqual([
      [2, 'wallet_frozen'],
    ]);
    expect(node.lease('lease_1').draining).toBe(false);
  });

  test('is asked again after 20, 40, 80 and then every 80 ms while other nodes hold the rest', () => {
    const node = new RulesHarness();
    node.hold(1);
    const waits: (number | undefined)[] = [];
    for (let no = 1; no <= 4; no += 1) {
      const effects = node.dispatch({ type: 'CONFLICT', no });
      expect(effects[0]).toEqual({ type: 'WRITE', record: { type: 'refused', no } });
      const retry = effects.find((effect) => effect.type === 'RETRY');
      waits.push(retry?.afterMs);
      node.time += (retry?.afterMs ?? 0) - 1;
      expect(node.hold(1 + no)).toEqual([]);
      // The back-off is over when its timer fires, even a fraction of a millisecond early.
      expect(typesOf(node.dispatch({ type: 'RETRY', budgetId: WALLET }))).toEqual(['REQUEST']);
    }
    expect(waits).toEqual([20, 40, 80, 80]);
    node.grant(5, PRICE);
    expect(node.budget.conflicts).toBe(0);
  });

  test('gets back the leases of this node while other nodes hold the rest, if a request waits', () => {
    const node = nodeWithLease(3n * PRICE);
    node.hold(2, 4n * PRICE);
    expect(typesOf(node.dispatch({ type: 'CONFLICT', no: 2 }))).toEqual(['WRITE', 'RETRY']);
    expect(node.lease('lease_1').draining).toBe(true);
    const alone = nodeWithLease(10n * PRICE);
    for (let waiter = 2; waiter <= 6; waiter += 1) alone.hold(waiter);
    expect(typesOf(alone.dispatch({ type: 'CONFLICT', no: 2 }))).toEqual(['WRITE']);
    expect(alone.lease('lease_1').draining).toBe(false);
    expect(alone.dispatch({ type: 'CONFLICT', no: 2 })).toEqual([]);
    expect(alone.dispatch({ type: 'REFUSED', no: 2, code: 'insufficient_funds' })).toEqual([]);
  });
});

describe('a lease request without an answer', () => {
  test('is sent again under its number with back-off, and at once after an answered heartbeat', () => {
    const node = new RulesHarness();
    node.hold(1);
    const waits = Array.from({ length: 7 }, () => {
      const [retry] = node.dispatch({ type: 'UNANSWERED', no: 1 });
      const afterMs = retry?.type === 'RETRY' ? retry.afterMs : 0;
      node.time += afterMs - 1;
      expect(node.dispatch({ type: 'TICK' })).toEqual([]);
      // The back-off is over when its timer fires, even a fraction of a millisecond early.
      const [again] = node.dispatch({ type: 'RETRY', budgetId: WALLET });
      expect(again).toMatchObject({ type: 'REQUEST', isNew: false, request: { no: 1, resendAt: null } });
      expect(node.dispatch({ type: 'RETRY', budgetId: WALLET })).toEqual([]);
      return afterMs;
    });
    expect(waits).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
    node.dispatch({ type: 'UNANSWERED', no: 1 });
    const sentAt = { mono: node.time, wall: node.time };
    expect(typesOf(node.dispatch({ type: 'CONFIRMED', sentAt }))).toEqual(['REQUEST']);
    expect(node.dispatch({ type: 'CONFIRMED', sentAt })).toEqual([]);
    expect(node.dispatch({ type: 'UNANSWERED', no: 99 })).toEqual([]);
  });

  test('is sent again by a tick after its back-off, and by a retry of its own budget only', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.dispatch({ type: 'UNANSWERED', no: 1 });
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    node.time += 50;
    expect(node.dispatch({ type: 'RETRY', budgetId: 'wallet_b' })).toEqual([]);
    expect(typesOf(node.dispatch({ type: 'TICK' }))).toEqual(['REQUEST']);
  });

  test('was never sent if the journal refused it, and refuses all waiting requests', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.hold(2, 5n * PRICE);
    expect(refusedIn(node.dispatch({ type: 'UNSENT', no: 1 }))).toEqual([
      [1, 'unavailable'],
      [2, 'unavailable'],
    ]);
    expect(node.dispatch({ type: 'UNSENT', no: 1 })).toEqual([]);
    expect(requestIn(node.hold(3))?.request.no).toBe(2);
  });
});

describe('a request that has waited long', () => {
  const giveUp = (waiter: number, final: boolean) =>
    ({ type: 'GIVE_UP', waiter, budgetId: WALLET, final }) as const;

  test('is refused if the control plane has never answered', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.hold(2);
    expect(refusedIn(node.dispatch(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
    expect(node.dispatch(giveUp(1, true))).toEqual([]);
    expect(node.budget.waiters.map(({ id }) => id)).toEqual([2]);
    expect(node.dispatch({ ...giveUp(1, true), budgetId: 'wallet_b' })).toEqual([]);
  });

  const moment = { mono: 0, wall: 0 };
  test.each<LedgerEvent>([
    { type: 'CONFIRMED', sentAt: moment },
    { type: 'SETTLED', leases: [] },
    { type: 'CLOSED', leaseId: 'lease_9' },
    { type: 'GRANTED', no: 99, leaseId: 'lease_99', amount: 1n, deadlineMs: 1 },
    { type: 'REFUSED', no: 99, code: 'insufficient_funds' },
    { type: 'CONFLICT', no: 99 },
  ])('keeps waiting while the control plane answers other messages: $type', (answer) => {
    const node = new RulesHarness();
    node.hold(1);
    node.dispatch(answer);
    node.time += 5_999;
    expect(node.dispatch(giveUp(1, false))).toEqual([]);
    node.time += 1;
    expect(refusedIn(node.dispatch(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
  });

  test.each<LedgerEvent>([
    { type: 'TICK' },
    { type: 'RECALL', leaseId: 'lease_9' },
    { type: 'NOT_CLOSED', leaseId: 'lease_9' },
    { type: 'RETRY', budgetId: WALLET },
    { type: 'UNANSWERED', no: 99 },
  ])('is not kept waiting by events that are not answers: $type', (event) => {
    const node = new RulesHarness();
    node.hold(1);
    node.dispatch(event);
    expect(refusedIn(node.dispatch(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
  });

  test('is refused after a lease request got no answer, unless the control plane answered since', () => {
    const node = new RulesHarness();
    node.dispatch({ type: 'CONFIRMED', sentAt: moment });
    node.hold(1);
    node.hold(2);
    node.time += 1;
    node.dispatch({ type: 'UNANSWERED', no: 1 });
    expect(refusedIn(node.dispatch(giveUp(1, false)))).toEqual([[1, 'unavailable']]);
    node.dispatch({ type: 'CONFIRMED', sentAt: moment });
    expect(node.dispatch(giveUp(2, false))).toEqual([]);
  });

  test('is finally refused as all_in_use if the last answer was a conflict', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.dispatch({ type: 'CONFLICT', no: 1 });
    expect(refusedIn(node.dispatch(giveUp(1, true)))).toEqual([[1, 'all_in_use']]);
    const slow = nodeWithLease(PRICE);
    slow.hold(2);
    expect(refusedIn(slow.dispatch(giveUp(2, true)))).toEqual([[2, 'unavailable']]);
    const away = new RulesHarness();
    away.hold(1);
    away.dispatch({ type: 'CONFLICT', no: 1 });
    away.time += 6_000;
    expect(refusedIn(away.dispatch(giveUp(1, true)))).toEqual([[1, 'unavailable']]);
  });
});
