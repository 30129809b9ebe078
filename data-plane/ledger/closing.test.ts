/** Rules for the end of leases: closing, recalls, deadlines, shutdown and restart. */
import { describe, expect, test } from 'vitest';
import { emptyJournalState } from './journal-state.ts';
import type { JournalState } from './journal-state.ts';
import {
  DEADLINE_MS,
  RulesHarness,
  PRICE,
  WALLET,
  heldIn,
  requestIn,
  typesOf,
} from '../../test/ledger/rules-harness.ts';

function nodeWithLease(amount = 10n * PRICE): RulesHarness {
  const node = new RulesHarness();
  node.hold(1);
  node.grant(1, amount);
  return node;
}

const close = (leaseId: string, count: number): object => ({
  type: 'CLOSE',
  leaseId,
  count,
  sum: BigInt(count) * PRICE,
});

describe('a lease', () => {
  test('is settled when it is used up, then closed with the number and sum of its charges', () => {
    const node = nodeWithLease(PRICE);
    expect(node.commit('lease_1')).toEqual([{ type: 'SETTLE' }]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 0, count: 1, sum: PRICE, draining: true });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 1)]);
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    const closed = node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(closed).toEqual([{ type: 'WRITE', record: { type: 'closed', leaseId: 'lease_1' } }]);
    expect(node.state.leases.size).toBe(0);
    expect(node.budget.leaseIds).toEqual([]);
    expect(node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' })).toEqual([]);
  });

  test('is not closed while it has a hold or an unsettled charge', () => {
    const node = nodeWithLease(10n * PRICE);
    node.hold(2);
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
    expect(node.commit('lease_1')).toEqual([]);
    expect(node.release('lease_1')).toEqual([{ type: 'SETTLE' }]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 0, remaining: 9n * PRICE, count: 1 });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 1)]);
  });

  test('stays open while it has credit left and is not recalled', () => {
    const node = nodeWithLease(2n * PRICE);
    node.commit('lease_1');
    expect(node.settle('lease_1', 1)).toEqual([]);
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ draining: false, closeInFlight: false, settled: 1 });
  });

  test('is closed without the charges that the control plane rejected permanently', () => {
    const node = nodeWithLease(3n * PRICE);
    node.hold(2);
    node.commit('lease_1');
    node.commit('lease_1');
    node.dispatch({ type: 'RECALL', leaseId: 'lease_1' });
    expect(node.settle('lease_1', 2, 1)).toEqual([close('lease_1', 1)]);
    expect(node.lease('lease_1')).toMatchObject({ count: 1, settled: 1, sum: PRICE });
    expect(node.settle('lease_9', 1)).toEqual([]);
  });

  test('is closed again with growing back-off, and at once after a heartbeat is answered', () => {
    const node = nodeWithLease(2n * PRICE);
    node.release('lease_1');
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([close('lease_1', 0)]);
    const waits = Array.from({ length: 11 }, () => {
      node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
      const from = node.time;
      const { closeAfter } = node.lease('lease_1');
      node.time = closeAfter - 1;
      expect(node.dispatch({ type: 'TICK' })).toEqual([]);
      node.time = closeAfter;
      expect(node.dispatch({ type: 'TICK' })).toEqual([close('lease_1', 0)]);
      return closeAfter - from;
    });
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
    const sentAt = { mono: node.time, wall: node.time };
    expect(node.dispatch({ type: 'CONFIRMED', sentAt })).toEqual([close('lease_1', 0)]);
    expect(node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_9' })).toEqual([]);
  });

  test('leaves other leases of its budget untouched when it is closed', () => {
    const node = nodeWithLease(PRICE);
    node.hold(2);
    node.grant(2, 5n * PRICE);
    node.commit('lease_1');
    node.settle('lease_1', 1);
    node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(node.budget.leaseIds).toEqual(['lease_2']);
    expect(typesOf(node.hold(3))).toEqual(['HELD']);
  });

  test('is not changed by a commit or release for an unknown lease', () => {
    const node = nodeWithLease();
    expect(node.commit('lease_9')).toEqual([]);
    expect(node.release('lease_9')).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 1, remaining: 9n * PRICE });
  });

  test('is closed after its wallet was idle for a minute; then the budget is removed', () => {
    const node = nodeWithLease();
    node.release('lease_1');
    node.time += 59_999;
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    node.time += 1;
    expect(node.dispatch({ type: 'TICK' })).toEqual([close('lease_1', 0)]);
    expect(node.state.budgets.size).toBe(1);
    node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' });
    node.dispatch({ type: 'TICK' });
    expect(node.state.budgets.size).toBe(0);
  });

  test('is not idle while a request waits, nor is a budget with an open lease request removed', () => {
    const node = nodeWithLease(PRICE);
    node.hold(2);
    node.time += 60_000;
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    expect(node.state.budgets.size).toBe(1);
    const requesting = new RulesHarness();
    requesting.hold(1);
    requesting.dispatch({ type: 'GIVE_UP', waiter: 1, budgetId: WALLET, final: true });
    requesting.time += 60_000;
    requesting.dispatch({ type: 'TICK' });
    expect(requesting.state.budgets.size).toBe(1);
    requesting.hold(2, PRICE, 'key_1');
    requesting.dispatch({ type: 'REFUSED', no: 1, code: 'insufficient_funds' });
    requesting.time += 60_000;
    requesting.dispatch({ type: 'TICK' });
    expect([...requesting.state.budgets.keys()]).toEqual([`${WALLET} key_1`]);
  });

  test('lets waiting requests ask for a new lease at once when it is closed', () => {
    const node = nodeWithLease(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    node.dispatch({ type: 'REFUSED', no: 2, code: 'insufficient_funds' });
    expect(requestIn(node.dispatch({ type: 'CLOSED', leaseId: 'lease_1' }))?.request.no).toBe(3);
  });
});

describe('a recall', () => {
  test('closes a lease without holds at once, and is harmless when repeated', () => {
    const node = nodeWithLease();
    node.release('lease_1');
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([close('lease_1', 0)]);
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
  });

  test('lets waiting requests use the lease if it arrives before the grant, then returns the rest', () => {
    const node = new RulesHarness();
    node.hold(1);
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
    node.dispatch({ type: 'RECALL', leaseId: 'lease_1' });
    expect([...node.state.unknownRecalls.keys()]).toEqual(['lease_1']);
    expect(heldIn(node.grant(1, 5n * PRICE))).toEqual([1]);
    expect(node.lease('lease_1')).toMatchObject({ draining: true, remaining: 4n * PRICE });
    expect(node.state.unknownRecalls.size).toBe(0);
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('closes an unknown lease at once if no lease request is open', () => {
    expect(new RulesHarness().dispatch({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([
      close('lease_7', 0),
    ]);
  });

  test('closes an unknown lease once all earlier lease requests are answered', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.hold(2, PRICE, 'key_1');
    expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([]);
    expect(typesOf(node.dispatch({ type: 'CONFLICT', no: 1 }))).not.toContain('CLOSE');
    // A request after the recall cannot bring the recalled lease.
    node.hold(3, PRICE, 'key_2');
    expect(node.dispatch({ type: 'CONFLICT', no: 2 })).toContainEqual(close('lease_7', 0));
    expect(node.state.requests.size).toBe(1);
    expect(node.dispatch({ type: 'CLOSED', leaseId: 'lease_7' })).toEqual([]);
    expect(node.state.unknownRecalls.size).toBe(0);
  });

  test('closes an unknown lease again with growing back-off until it is closed', () => {
    const node = new RulesHarness();
    node.dispatch({ type: 'RECALL', leaseId: 'lease_7' });
    const waits = Array.from({ length: 11 }, () => {
      node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
      const from = node.time;
      const { closeAfter = 0 } = node.state.unknownRecalls.get('lease_7') ?? {};
      node.time = closeAfter - 1;
      expect(node.dispatch({ type: 'TICK' })).toEqual([]);
      // A repeated recall does not shorten the back-off.
      expect(node.dispatch({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([]);
      node.time = closeAfter;
      expect(node.dispatch({ type: 'TICK' })).toEqual([close('lease_7', 0)]);
      expect(node.dispatch({ type: 'TICK' })).toEqual([]);
      return closeAfter - from;
    });
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
    const sentAt = { mono: node.time, wall: node.time };
    expect(node.dispatch({ type: 'CONFIRMED', sentAt })).toEqual([close('lease_7', 0)]);
    expect(node.dispatch({ type: 'CLOSED', leaseId: 'lease_7' })).toEqual([]);
    node.time += 600_000;
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    expect(node.state.unknownRecalls.size).toBe(0);
  });

  test('does not check unknown leases on events of client requests', () => {
    const node = new RulesHarness();
    node.hold(1);
    node.dispatch({ type: 'RECALL', leaseId: 'lease_7' });
    node.grant(1, 9n * PRICE);
    node.dispatch({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
    node.time += 200;
    expect(typesOf(node.hold(2))).toEqual(['HELD']);
    expect(node.commit('lease_1')).toEqual([]);
    expect(node.release('lease_1')).toEqual([]);
    expect(node.dispatch({ type: 'TICK' })).toEqual([close('lease_7', 0)]);
  });

  test('is remembered for at most a thousand unknown leases', () => {
    const node = new RulesHarness();
    node.hold(1);
    for (let number = 0; number <= 1_000; number += 1)
      node.dispatch({ type: 'RECALL', leaseId: `lease_${number}` });
    const recalled = [...node.state.unknownRecalls.keys()];
    expect(recalled).toHaveLength(1_000);
    expect([recalled[0], recalled.at(-1)]).toEqual(['lease_1', 'lease_1000']);
  });
});

describe('an expired lease', () => {
  const late = (): RulesHarness => {
    const node = nodeWithLease();
    node.hold(2);
    node.time += DEADLINE_MS + 1;
    return node;
  };

  test('cannot be charged, and is closed when its holds have ended', () => {
    const node = late();
    expect(node.isChargeable('lease_1')).toBe(false);
    expect(node.dispatch({ type: 'TICK' })).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ expired: true, draining: true });
    node.release('lease_1');
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('does not become valid again by a late heartbeat', () => {
    const node = late();
    const sentAt = { mono: node.time, wall: node.time };
    node.dispatch({ type: 'CONFIRMED', sentAt });
    expect(node.isChargeable('lease_1', sentAt)).toBe(false);
  });
});

describe('an answered heartbeat', () => {
  test('extends the deadline from the time it was sent, and never shortens it', () => {
    const node = nodeWithLease();
    node.time += DEADLINE_MS;
    const sentAt = { mono: node.time - 10, wall: node.time - 10 };
    node.dispatch({ type: 'CONFIRMED', sentAt });
    expect(node.lease('lease_1').confirmed).toEqual(sentAt);
    node.dispatch({ type: 'CONFIRMED', sentAt: { mono: 5, wall: 5 } });
    expect(node.lease('lease_1').confirmed).toEqual(sentAt);
    node.time = sentAt.mono + DEADLINE_MS;
    expect(node.isChargeable('lease_1')).toBe(true);
  });
});

describe('a node that stops', () => {
  test('closes leases without holds at once, and the others when their holds have ended', () => {
    const node = nodeWithLease();
    node.hold(2, PRICE, 'key_1');
    node.grant(2, 5n * PRICE);
    node.release('lease_2');
    const effects = node.dispatch({ type: 'STOP' });
    expect(effects).toEqual([close('lease_2', 0)]);
    expect(node.lease('lease_1').draining).toBe(true);
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('refuses new requests and requests no lease', () => {
    const node = nodeWithLease(10n * PRICE);
    node.dispatch({ type: 'STOP' });
    expect(typesOf(node.hold(2))).toEqual(['REFUSE']);
    expect(node.state.requests.size).toBe(0);
  });
});

describe('a restarted process', () => {
  const journal = (): JournalState => ({
    ...emptyJournalState('journal_1'),
    nextRequestNo: 9,
    requests: new Map([[8, { walletId: WALLET, keyId: 'key_1', want: 7n * PRICE, need: PRICE }]]),
    leases: new Map([
      [
        'lease_1',
        { walletId: WALLET, keyId: null, amount: 5n * PRICE, count: 2, sum: 2n * PRICE, settled: 1 },
      ],
    ]),
  });

  test('never charges leases of the earlier process, and closes them once settled', () => {
    const node = new RulesHarness(journal());
    expect(node.lease('lease_1')).toEqual({
      ...{ id: 'lease_1', budgetId: WALLET, amount: 5n * PRICE, remaining: 3n * PRICE, holds: 0 },
      ...{ count: 2, sum: 2n * PRICE, settled: 1, draining: true, expired: true, closeInFlight: false },
      ...{ closeAttempts: 0, closeAfter: 0, deadlineMs: 0, confirmed: { mono: 0, wall: 0 } },
    });
    expect(node.budget.leaseIds).toEqual(['lease_1']);
    expect(node.isChargeable('lease_1')).toBe(false);
    expect(requestIn(node.hold(1))?.request).toMatchObject({ no: 9, fromEarlierProcess: false });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 2)]);
  });

  test('sends unanswered lease requests again only to return their leases', () => {
    const node = new RulesHarness(journal());
    const resent = requestIn(node.dispatch({ type: 'TICK' }));
    expect(resent).toMatchObject({
      isNew: false,
      budget: { id: `${WALLET} key_1`, keyId: 'key_1' },
      request: {
        ...{ no: 8, want: 7n * PRICE, need: PRICE, waiting: 0n, fromEarlierProcess: true },
        ...{ attempts: 0, sentAt: { mono: 0, wall: 0 } },
      },
    });
    const effects = node.grant(8, 5n * PRICE, 'lease_8');
    expect(typesOf(effects)).toEqual(['WRITE', 'CLOSE']);
    expect(node.isChargeable('lease_8')).toBe(false);
    expect(typesOf(node.hold(1, PRICE, 'key_1'))).toEqual(['REQUEST']);
  });

  test('starts with an empty state on an empty journal', () => {
    const node = new RulesHarness();
    expect(node.state).toEqual({
      ...{
        nextRequestNo: 1,
        stopping: false,
        unknownRecalls: new Map(),
        lastAnswerAt: null,
        lastUnansweredAt: null,
      },
      ...{ budgets: new Map(), leases: new Map(), requests: new Map() },
    });
    node.hold(1);
    expect(node.state.budgets.get(WALLET)).toMatchObject({ keyId: null, walletId: WALLET, conflicts: 0 });
  });
});
