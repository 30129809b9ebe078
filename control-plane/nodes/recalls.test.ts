/** Nodes are told again and again what they have not given back, as much as they can take. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../sql.ts';
import { EventQueue } from './event-queue.ts';
import { tellRecalls } from './recalls.ts';
import type { Listening } from './recalls.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** A node that listens, with so many leases that it was asked to give back. */
async function holder(name: string, leases: number): Promise<Listening> {
  const [{ walletId }, { nodeId, journalId }] = await Promise.all([money.wallet({ cash: 1n }), money.node()]);
  await query(
    money.em(),
    sql`
    insert into wallet_lease
      (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift, recalled_at)
    select ${name} || no, ${walletId}, ${nodeId}, ${journalId}, no, 1, 0, clock_timestamp()
    from generate_series(1000, ${999 + leases}) as no`,
  );
  return { nodeId, queue: new EventQueue<ConfigEvent>(256), toldTo: '' };
}

/** What waits for the node, which takes it. */
async function taken({ queue }: Listening): Promise<string[]> {
  const told: string[] = [];
  while (!queue.isEmpty) {
    const event = await queue.next();
    if (event?.__typename !== 'LeaseRecall') throw new Error('That is no recall.');
    told.push(event.leaseId);
  }
  return told;
}

const numbered = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `${name}${from + at}`);

it('tells a hundred at a time, in their order, and after the last one the first again', async () => {
  const node = await holder('many', 150);
  const told: string[][] = [];
  for (let time = 0; time < 3; time += 1) {
    await tellRecalls(money.em(), [node]);
    told.push(await taken(node));
  }
  expect(told).toEqual([
    numbered('many', 1000, 1100),
    numbered('many', 1100, 1150),
    numbered('many', 1000, 1100),
  ]);
});

it('begins again, too, where the last hundred was full', async () => {
  const node = await holder('even', 100);
  const told: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    await tellRecalls(money.em(), [node]);
    told.push((await taken(node)).length);
  }
  expect(told).toEqual([100, 0, 100]);
});

it('tells each node of its own, and nothing new to one that has not taken what it was told', async () => {
  const [one, busy, other, free] = [
    await holder('one', 2),
    await holder('busy', 2),
    await holder('other', 1),
    await holder('free', 0),
  ];
  await tellRecalls(money.em(), [one, busy, other, free]);
  expect(await taken(one)).toEqual(['one1000', 'one1001']);
  await tellRecalls(money.em(), [one, busy, other, free]);
  expect(await taken(one)).toEqual(['one1000', 'one1001']);
  expect(await taken(busy)).toEqual(['busy1000', 'busy1001']);
  expect(await taken(other)).toEqual(['other1000']);
  expect(await taken(free)).toEqual([]);
});

it('asks the database nothing while no node can be told anything', async () => {
  const node = await holder('slow', 1);
  await tellRecalls(money.em(), [node]);
  const em = money.em();
  await em.begin();
  await expect(query(em, sql`select 1 from nowhere`)).rejects.toThrow('nowhere');
  // In a transaction that is broken each question fails.
  await tellRecalls(em, [node]);
  await tellRecalls(em, []);
  await em.rollback();
  expect(await taken(node)).toEqual(['slow1000']);
});
