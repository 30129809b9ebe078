/** How leases end, what is left of them where, and what a restarted node makes of its former life. */
import { describe, expect, test } from 'vitest';
import { emptyBook } from './book.ts';
import type { Book } from './book.ts';
import { DEADLINE_MS, Desk, PRICE, WALLET, heldIn, questionOf, typesOf } from './model/desk.ts';

function desk(amount = 10n * PRICE): Desk {
  const node = new Desk();
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
  test('that is used up is settled, then closed with what was charged to it', () => {
    const node = desk(PRICE);
    expect(node.commit('lease_1')).toEqual([{ type: 'SETTLE' }]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 0, count: 1, sum: PRICE, draining: true });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 1)]);
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    const closed = node.tell({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(closed).toEqual([{ type: 'WRITE', record: { type: 'closed', leaseId: 'lease_1' } }]);
    expect(node.state.leases.size).toBe(0);
    expect(node.purse.leaseIds).toEqual([]);
    expect(node.tell({ type: 'CLOSED', leaseId: 'lease_1' })).toEqual([]);
  });

  test('is not closed while a request holds something of it or a charge is not settled', () => {
    const node = desk(10n * PRICE);
    node.hold(2);
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
    expect(node.commit('lease_1')).toEqual([]);
    expect(node.release('lease_1')).toEqual([{ type: 'SETTLE' }]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 0, remaining: 9n * PRICE, count: 1 });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 1)]);
  });

  test('stays open while something is left of it that nobody wants back', () => {
    const node = desk(2n * PRICE);
    node.commit('lease_1');
    expect(node.settle('lease_1', 1)).toEqual([]);
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ draining: false, closing: false, settled: 1 });
  });

  test('closes without the charges that the control plane rejected for good', () => {
    const node = desk(3n * PRICE);
    node.hold(2);
    node.commit('lease_1');
    node.commit('lease_1');
    node.tell({ type: 'RECALL', leaseId: 'lease_1' });
    expect(node.settle('lease_1', 2, 1)).toEqual([close('lease_1', 1)]);
    expect(node.lease('lease_1')).toMatchObject({ count: 1, settled: 1, sum: PRICE });
    expect(node.settle('lease_9', 1)).toEqual([]);
  });

  test('that could not be closed is tried again, ever later, or when the control plane is back', () => {
    const node = desk(2n * PRICE);
    node.release('lease_1');
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([close('lease_1', 0)]);
    const waits = Array.from({ length: 11 }, () => {
      node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
      const from = node.time;
      const { closeAfter } = node.lease('lease_1');
      node.time = closeAfter - 1;
      expect(node.tell({ type: 'TICK' })).toEqual([]);
      node.time = closeAfter;
      expect(node.tell({ type: 'TICK' })).toEqual([close('lease_1', 0)]);
      return closeAfter - from;
    });
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
    const sentAt = { mono: node.time, wall: node.time };
    expect(node.tell({ type: 'CONFIRMED', sentAt })).toEqual([close('lease_1', 0)]);
    expect(node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_9' })).toEqual([]);
  });

  test('takes no other with it when it goes', () => {
    const node = desk(PRICE);
    node.hold(2);
    node.grant(2, 5n * PRICE);
    node.commit('lease_1');
    node.settle('lease_1', 1);
    node.tell({ type: 'CLOSED', leaseId: 'lease_1' });
    expect(node.purse.leaseIds).toEqual(['lease_2']);
    expect(typesOf(node.hold(3))).toEqual(['HELD']);
  });

  test('of nobody is nobody’s: ends of holds that came too late change nothing', () => {
    const node = desk();
    expect(node.commit('lease_9')).toEqual([]);
    expect(node.release('lease_9')).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ holds: 1, remaining: 9n * PRICE });
  });

  test('goes back when a wallet was idle for a minute, and the purse is forgotten after it', () => {
    const node = desk();
    node.release('lease_1');
    node.time += 59_999;
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    node.time += 1;
    expect(node.tell({ type: 'TICK' })).toEqual([close('lease_1', 0)]);
    expect(node.state.purses.size).toBe(1);
    node.tell({ type: 'CLOSED', leaseId: 'lease_1' });
    node.tell({ type: 'TICK' });
    expect(node.state.purses.size).toBe(0);
  });

  test('of a wallet for which somebody waits is not idle; a purse with a question is not forgotten', () => {
    const node = desk(PRICE);
    node.hold(2);
    node.time += 60_000;
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    expect(node.state.purses.size).toBe(1);
    const asking = new Desk();
    asking.hold(1);
    asking.tell({ type: 'GIVE_UP', waiter: 1, purseId: WALLET, final: true });
    asking.time += 60_000;
    asking.tell({ type: 'TICK' });
    expect(asking.state.purses.size).toBe(1);
    asking.hold(2, PRICE, 'key_1');
    asking.tell({ type: 'REFUSED', no: 1, code: 'insufficient_funds' });
    asking.time += 60_000;
    asking.tell({ type: 'TICK' });
    expect([...asking.state.purses.keys()]).toEqual([`${WALLET} key_1`]);
  });

  test('that goes back lets those who wait ask again at once', () => {
    const node = desk(3n * PRICE);
    node.release('lease_1');
    node.hold(2, 4n * PRICE);
    node.tell({ type: 'REFUSED', no: 2, code: 'insufficient_funds' });
    expect(questionOf(node.tell({ type: 'CLOSED', leaseId: 'lease_1' }))?.request.no).toBe(3);
  });
});

describe('a recall', () => {
  test('of a lease without holds closes it at once, and twice does no harm', () => {
    const node = desk();
    node.release('lease_1');
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([close('lease_1', 0)]);
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
  });

  test('that overtakes its grant serves who waits for it, then gives the rest back', () => {
    const node = new Desk();
    node.hold(1);
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_1' })).toEqual([]);
    node.tell({ type: 'RECALL', leaseId: 'lease_1' });
    expect([...node.state.recalled.keys()]).toEqual(['lease_1']);
    expect(heldIn(node.grant(1, 5n * PRICE))).toEqual([1]);
    expect(node.lease('lease_1')).toMatchObject({ draining: true, remaining: 4n * PRICE });
    expect(node.state.recalled.size).toBe(0);
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('of a lease that this node never had, and asks for no more, closes it unused', () => {
    expect(new Desk().tell({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([close('lease_7', 0)]);
  });

  test('of what an old copy of a question got closes it once all that was asked by then is answered', () => {
    const node = new Desk();
    node.hold(1);
    node.hold(2, PRICE, 'key_1');
    expect(node.tell({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([]);
    expect(typesOf(node.tell({ type: 'CONFLICT', no: 1 }))).not.toContain('CLOSE');
    // What is asked later got another lease.
    node.hold(3, PRICE, 'key_2');
    expect(node.tell({ type: 'CONFLICT', no: 2 })).toContainEqual(close('lease_7', 0));
    expect(node.state.requests.size).toBe(1);
    expect(node.tell({ type: 'CLOSED', leaseId: 'lease_7' })).toEqual([]);
    expect(node.state.recalled.size).toBe(0);
  });

  test('of a lease that is nobody’s is answered again, ever later, until the lease is closed', () => {
    const node = new Desk();
    node.tell({ type: 'RECALL', leaseId: 'lease_7' });
    const waits = Array.from({ length: 11 }, () => {
      node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
      const from = node.time;
      const { closeAfter = 0 } = node.state.recalled.get('lease_7') ?? {};
      node.time = closeAfter - 1;
      expect(node.tell({ type: 'TICK' })).toEqual([]);
      // Told again by the control plane, it waits for its time all the same.
      expect(node.tell({ type: 'RECALL', leaseId: 'lease_7' })).toEqual([]);
      node.time = closeAfter;
      expect(node.tell({ type: 'TICK' })).toEqual([close('lease_7', 0)]);
      expect(node.tell({ type: 'TICK' })).toEqual([]);
      return closeAfter - from;
    });
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
    node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
    const sentAt = { mono: node.time, wall: node.time };
    expect(node.tell({ type: 'CONFIRMED', sentAt })).toEqual([close('lease_7', 0)]);
    expect(node.tell({ type: 'CLOSED', leaseId: 'lease_7' })).toEqual([]);
    node.time += 600_000;
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    expect(node.state.recalled.size).toBe(0);
  });

  test('of a lease that is nobody’s waits for no request of a client', () => {
    const node = new Desk();
    node.hold(1);
    node.tell({ type: 'RECALL', leaseId: 'lease_7' });
    node.grant(1, 9n * PRICE);
    node.tell({ type: 'NOT_CLOSED', leaseId: 'lease_7' });
    node.time += 200;
    expect(typesOf(node.hold(2))).toEqual(['HELD']);
    expect(node.commit('lease_1')).toEqual([]);
    expect(node.release('lease_1')).toEqual([]);
    expect(node.tell({ type: 'TICK' })).toEqual([close('lease_7', 0)]);
  });

  test('is remembered for the last thousand leases that are still to come', () => {
    const node = new Desk();
    node.hold(1);
    for (let number = 0; number <= 1_000; number += 1)
      node.tell({ type: 'RECALL', leaseId: `lease_${number}` });
    const recalled = [...node.state.recalled.keys()];
    expect(recalled).toHaveLength(1_000);
    expect([recalled[0], recalled.at(-1)]).toEqual(['lease_1', 'lease_1000']);
  });
});

describe('a lease that ran out', () => {
  const late = (): Desk => {
    const node = desk();
    node.hold(2);
    node.time += DEADLINE_MS + 1;
    return node;
  };

  test('is spent no more, and closes when its holds have ended', () => {
    const node = late();
    expect(node.mayCommit('lease_1')).toBe(false);
    expect(node.tell({ type: 'TICK' })).toEqual([]);
    expect(node.lease('lease_1')).toMatchObject({ expired: true, draining: true });
    node.release('lease_1');
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('is not woken by a late heartbeat', () => {
    const node = late();
    const sentAt = { mono: node.time, wall: node.time };
    node.tell({ type: 'CONFIRMED', sentAt });
    expect(node.mayCommit('lease_1', sentAt)).toBe(false);
  });
});

describe('a heartbeat', () => {
  test('that was answered moves the deadline to when it was sent, and never back', () => {
    const node = desk();
    node.time += DEADLINE_MS;
    const sentAt = { mono: node.time - 10, wall: node.time - 10 };
    node.tell({ type: 'CONFIRMED', sentAt });
    expect(node.lease('lease_1').confirmed).toEqual(sentAt);
    node.tell({ type: 'CONFIRMED', sentAt: { mono: 5, wall: 5 } });
    expect(node.lease('lease_1').confirmed).toEqual(sentAt);
    node.time = sentAt.mono + DEADLINE_MS;
    expect(node.mayCommit('lease_1')).toBe(true);
  });
});

describe('a node that stops', () => {
  test('takes nothing new and gives back what nobody holds', () => {
    const node = desk();
    node.hold(2, PRICE, 'key_1');
    node.grant(2, 5n * PRICE);
    node.release('lease_2');
    const effects = node.tell({ type: 'STOP' });
    expect(effects).toEqual([close('lease_2', 0)]);
    expect(node.lease('lease_1').draining).toBe(true);
    expect(node.release('lease_1')).toEqual([close('lease_1', 0)]);
  });

  test('asks for no next lease', () => {
    const node = desk(10n * PRICE);
    node.tell({ type: 'STOP' });
    expect(typesOf(node.hold(2))).toEqual(['REFUSE']);
    expect(node.state.requests.size).toBe(0);
  });
});

describe('a process that begins with a book', () => {
  const book = (): Book => ({
    ...emptyBook('journal_1'),
    nextRequestNo: 9,
    requests: new Map([[8, { walletId: WALLET, keyId: 'key_1', want: 7n * PRICE, need: PRICE }]]),
    leases: new Map([
      [
        'lease_1',
        { walletId: WALLET, keyId: null, amount: 5n * PRICE, count: 2, sum: 2n * PRICE, settled: 1 },
      ],
    ]),
  });

  test('never spends from leases of the former one, and closes them once all is settled', () => {
    const node = new Desk(book());
    expect(node.lease('lease_1')).toEqual({
      ...{ id: 'lease_1', purseId: WALLET, amount: 5n * PRICE, remaining: 3n * PRICE, holds: 0 },
      ...{ count: 2, sum: 2n * PRICE, settled: 1, draining: true, expired: true, closing: false },
      ...{ closeAttempts: 0, closeAfter: 0, deadlineMs: 0, confirmed: { mono: 0, wall: 0 } },
    });
    expect(node.purse.leaseIds).toEqual(['lease_1']);
    expect(node.mayCommit('lease_1')).toBe(false);
    expect(questionOf(node.hold(1))?.request).toMatchObject({ no: 9, former: false });
    expect(node.settle('lease_1', 1)).toEqual([close('lease_1', 2)]);
  });

  test('asks its unanswered questions once more, only to close what they gave', () => {
    const node = new Desk(book());
    const asked = questionOf(node.tell({ type: 'TICK' }));
    expect(asked).toMatchObject({
      fresh: false,
      purse: { id: `${WALLET} key_1`, keyId: 'key_1' },
      request: {
        ...{ no: 8, want: 7n * PRICE, need: PRICE, waiting: 0n, former: true },
        ...{ attempts: 0, sentAt: { mono: 0, wall: 0 } },
      },
    });
    const effects = node.grant(8, 5n * PRICE, 'lease_8');
    expect(typesOf(effects)).toEqual(['WRITE', 'CLOSE']);
    expect(node.mayCommit('lease_8')).toBe(false);
    expect(typesOf(node.hold(1, PRICE, 'key_1'))).toEqual(['REQUEST']);
  });

  test('is as good as new with an empty one', () => {
    const node = new Desk();
    expect(node.state).toEqual({
      ...{ nextRequestNo: 1, stopping: false, recalled: new Map(), heardAt: null, unheardAt: null },
      ...{ purses: new Map(), leases: new Map(), requests: new Map() },
    });
    node.hold(1);
    expect(node.state.purses.get(WALLET)).toMatchObject({ keyId: null, walletId: WALLET, conflicts: 0 });
  });
});
