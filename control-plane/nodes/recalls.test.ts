/** Open recalls are sent to nodes again, in rounds, until the leases are returned. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { EventQueue } from './event-queue.ts';
import type { FeedEvent } from './sealed-events.ts';
import { resendRecalls } from './recalls.ts';
import type { RecallTarget } from './recalls.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** A connected node with this number of recalled leases, whose ids start with `name`. */
async function holder(name: string, leases: number): Promise<RecallTarget> {
  const [{ walletId }, { nodeId, journalId }] = await Promise.all([money.wallet({ cash: 1n }), money.node()]);
  await query(
    money.em(),
    sql`
    insert into wallet_lease
      (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift, recalled_at)
    select ${name} || no, ${walletId}, ${nodeId}, ${journalId}, no, 1, 0, clock_timestamp()
    from generate_series(1000, ${999 + leases}) as no`,
  );
  return { nodeId, queue: new EventQueue<FeedEvent>(256), lastRecalled: '' };
}

/** Empties the node's queue and returns the ids of the recalled leases in it. */
async function drain({ queue }: RecallTarget): Promise<string[]> {
  const leases: string[] = [];
  while (!queue.isEmpty) {
    const event = await queue.next();
    if (event?.__typename !== 'LeaseRecall') throw new Error('Expected a LeaseRecall.');
    leases.push(event.leaseId);
  }
  return leases;
}

const numbered = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `${name}${from + at}`);

describe('resendRecalls', () => {
  it('sends 100 recalls per round in order, and starts over after the last one', async () => {
    const node = await holder('many', 150);
    const rounds: string[][] = [];
    for (let round = 0; round < 3; round += 1) {
      await resendRecalls(money.em(), [node]);
      rounds.push(await drain(node));
    }
    expect(rounds).toEqual([
      numbered('many', 1000, 1100),
      numbered('many', 1100, 1150),
      numbered('many', 1000, 1100),
    ]);
  });

  it('starts over after an empty round when the last round was full', async () => {
    const node = await holder('even', 100);
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await resendRecalls(money.em(), [node]);
      counts.push((await drain(node)).length);
    }
    expect(counts).toEqual([100, 0, 100]);
  });

  it('sends each node its own recalls, and skips a node whose queue is not empty', async () => {
    const [one, busy, other, free] = [
      await holder('one', 2),
      await holder('busy', 2),
      await holder('other', 1),
      await holder('free', 0),
    ];
    await resendRecalls(money.em(), [one, busy, other, free]);
    expect(await drain(one)).toEqual(['one1000', 'one1001']);
    await resendRecalls(money.em(), [one, busy, other, free]);
    expect(await drain(one)).toEqual(['one1000', 'one1001']);
    expect(await drain(busy)).toEqual(['busy1000', 'busy1001']);
    expect(await drain(other)).toEqual(['other1000']);
    expect(await drain(free)).toEqual([]);
  });

  it('makes no query when every node is skipped', async () => {
    const node = await holder('slow', 1);
    await resendRecalls(money.em(), [node]);
    const em = money.em();
    await em.begin();
    await expect(query(em, sql`select 1 from nowhere`)).rejects.toThrow('nowhere');
    // In a failed transaction every query is refused.
    await resendRecalls(em, [node]);
    await resendRecalls(em, []);
    await em.rollback();
    expect(await drain(node)).toEqual(['slow1000']);
  });
});
