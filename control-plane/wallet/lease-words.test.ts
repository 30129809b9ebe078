/** Leases: what each refusal says, what stands in the books and who hears of it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addJournal, openMoney, reported, takePlace } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { newId } from '../ids.ts';
import { Listener } from '../listener.ts';
import { query, sql } from '../sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { RECLAIM_MARGIN_MS, closeLease, reclaimLease, sweepLeases } from './lease.end.ts';
import { RECALL_CHANNEL, recallLeases } from './lease.recall.ts';
import { LEASE_OFFLINE_MS } from './lease.rules.ts';
import type { Lease } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import type { LeaseRequest } from './lease.service.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;

let money: Money;
let listener: Listener;
const heard: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  listener = await Listener.start({
    databaseUrl: money.url,
    channels: [RECALL_CHANNEL, 'gateway_events'],
    onNotice: (channel, payload) => void heard.push(`${channel} ${payload}`),
  });
});
afterAll(async () => {
  await listener.stop();
  await money.close();
});

async function setting(holds: { cash?: bigint; gift?: bigint }): Promise<LeaseRequest & { userId: string }> {
  const [wallet, node] = await Promise.all([money.wallet(holds), money.node()]);
  return { ...node, ...wallet, keyId: null, requestNo: 1, need: PRICE, want: PRICE * 100n, waiting: 0n };
}

const ask = (request: LeaseRequest): Promise<Lease> => requestLease(money.em(), request);

function close(lease: Lease, { count, sum } = { count: 0, sum: 0n }): Promise<void> {
  const { id: leaseId, nodeId, journalId } = lease;
  return closeLease(money.em(), { nodeId, journalId, leaseId, count, sum, actor: SYSTEM_ACTOR });
}

async function keyWithLimit(walletId: string, limit: bigint): Promise<string> {
  const keyId = newId('key');
  await query(
    money.em(),
    sql`insert into api_key
        (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, spend_limit)
      select ${keyId}, user_id, id, 'limited', 'default', 'DISABLED', 'NOT_REVEALED', ${limit}
      from wallet where id = ${walletId}`,
  );
  return keyId;
}

/** The transactions that a wallet's money went through after it was given, with each line. */
async function booksOf(walletId: string): Promise<object[]> {
  return query(
    money.em(),
    sql`select t.kind, t.reference, t.description, t.actor_kind as actor, t.actor_id as by, (select
        json_agg(e.account_id || ' ' || e.amount order by e.account_id) from ledger_entry e
        where e.transaction_id = t.id) as lines
      from ledger_transaction t where t.id in (select transaction_id from ledger_entry
        where wallet_id = ${walletId}) and t.kind like 'LEASE%' order by t.at, t.id`,
  );
}

const rowOf = async (leaseId: string): Promise<object | undefined> =>
  (
    await query<{ state: string; released: string; ended: boolean }>(
      money.em(),
      sql`select state, released::text as released, ended_at is not null as ended from wallet_lease
        where id = ${leaseId}`,
    )
  )[0];

it('refuses a need of nothing and a wish below the need, with the field and the rule', async () => {
  const request = await setting({ cash: 100n * PRICE });
  for (const wrong of [{ need: 0n }, { need: -1n }, { want: PRICE - 1n }]) {
    await expect(ask({ ...request, ...wrong })).rejects.toMatchObject({
      code: 'INVALID',
      field: ['input', 'need'],
      message: expect.stringContaining('0 < need'),
    });
  }
  expect((await ask({ ...request, want: PRICE })).granted).toBe(PRICE);
});

it('refuses a number that is none: questions are numbered from 0 on', async () => {
  const request = await setting({ cash: 100n * PRICE });
  for (const requestNo of [-1, 0.5, 2 ** 53])
    await expect(ask({ ...request, requestNo })).rejects.toMatchObject({
      code: 'INVALID',
      field: ['input', 'requestNo'],
      message: expect.stringContaining('whole numbers from 0'),
    });
  expect((await ask({ ...request, requestNo: 0 })).granted).toBe(10n * PRICE);
});

it('answers a repeated question with all of the first answer, in silence of the node too', async () => {
  const request = await setting({ cash: 100n * PRICE, gift: 3n * PRICE });
  const first = await ask(request);
  expect(first).toEqual({
    id: expect.stringMatching(/^lse_/),
    nodeId: request.nodeId,
    journalId: request.journalId,
    walletId: request.walletId,
    keyId: null,
    state: 'ACTIVE',
    granted: 10n * PRICE,
    cash: 7n * PRICE,
    gift: 3n * PRICE,
    chargeCount: 0,
    chargeSum: 0n,
  });
  expect(await ask(request)).toEqual(first);
  await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${first.id}`);
  expect(await ask(request)).toEqual({ ...first, state: 'ORPHANED' });
});

it('says what is wrong with a request number that was used up, or for another wallet', async () => {
  const request = await setting({ cash: 100n * PRICE });
  const other = await money.wallet({ cash: 100n * PRICE });
  const lease = await ask(request);
  await expect(ask({ ...request, walletId: other.walletId })).rejects.toMatchObject({
    code: 'INVALID',
    field: ['input', 'requestNo'],
    message: expect.stringContaining('another wallet'),
  });
  await close(lease);
  await expect(ask(request)).rejects.toMatchObject({
    code: 'INVALID',
    field: ['input', 'requestNo'],
    message: expect.stringContaining('has ended'),
  });
});

it('says which of wallet, journal and key there is not', async () => {
  const request = await setting({ cash: 100n * PRICE });
  const other = await setting({ cash: 100n * PRICE });
  const foreign = await keyWithLimit(other.walletId, PRICE);
  for (const [wrong, field, words] of [
    [{ walletId: 'wal_none' }, 'walletId', 'no such wallet'],
    [{ journalId: 'jnl_none' }, 'journalId', 'Register this journal'],
    [{ keyId: foreign }, 'keyId', 'no such key'],
  ] as const) {
    await expect(ask({ ...request, ...wrong })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: ['input', field],
      message: expect.stringContaining(words),
    });
  }
});

it('says that a question was answered before, or that its journal has no node any more', async () => {
  const request = await setting({ cash: PRICE });
  await expect(ask({ ...request, need: 2n * PRICE, requestNo: 5 })).rejects.toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
  });
  await expect(ask({ ...request, requestNo: 4 })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('was answered'),
  });
  const other = `${request.journalId} b`;
  await addJournal(money.em(), request.nodeId, other);
  await takePlace(money.em(), request.nodeId, other);
  await expect(ask({ ...request, requestNo: 6 })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    field: ['input', 'journalId'],
    message: expect.stringContaining('taken the place'),
  });
});

it('says to add credit, to raise the limit, to ask the operator or to ask again', async () => {
  const poor = await setting({ cash: PRICE - 1n });
  await expect(ask(poor)).rejects.toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    message: expect.stringContaining('Add credit'),
  });
  const rich = await setting({ cash: 200n * PRICE });
  const keyId = await keyWithLimit(rich.walletId, PRICE - 1n);
  await expect(ask({ ...rich, keyId })).rejects.toMatchObject({
    code: 'SPEND_LIMIT_REACHED',
    message: expect.stringContaining('Raise the limit'),
  });
  await query(money.em(), sql`update wallet set frozen = true where id = ${rich.walletId}`);
  await expect(ask(rich)).rejects.toMatchObject({
    code: 'WALLET_FROZEN',
    message: expect.stringContaining('frozen'),
  });
  const held = await setting({ cash: PRICE });
  await ask(held);
  await expect(ask({ ...held, requestNo: 2 })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('Ask again'),
  });
});

it('cuts from a limit what this month has left: without what was spent and what nodes hold', async () => {
  const request = await setting({ cash: 1_000n * PRICE });
  const keyId = await keyWithLimit(request.walletId, 10n * PRICE);
  await query(
    money.em(),
    sql`insert into usage_key_month (key_id, month, requests, cost) values
      (${keyId}, date_trunc('month', clock_timestamp(), 'UTC'), 1, ${2n * PRICE}),
      (${keyId}, date_trunc('month', clock_timestamp(), 'UTC') - interval '1 month', 1, ${90n * PRICE})`,
  );
  const first = await ask({ ...request, keyId, want: 3n * PRICE });
  expect(first).toMatchObject({ granted: 3n * PRICE, keyId });
  expect((await ask({ ...request, keyId, requestNo: 2 })).granted).toBe(5n * PRICE);
  await expect(ask({ ...request, keyId, requestNo: 3 })).rejects.toMatchObject({ code: 'CONFLICT' });
  // What comes back is free to be cut again.
  await close(first);
  expect((await ask({ ...request, keyId, requestNo: 4 })).granted).toBe(3n * PRICE);
  // The limit is no gift: other keys have the rest of the wallet.
  const unlimited = await keyWithLimit(request.walletId, PRICE);
  await query(money.em(), sql`update api_key set spend_limit = null where id = ${unlimited}`);
  expect((await ask({ ...request, keyId: unlimited, requestNo: 5 })).granted).toBe(99n * PRICE);
});

it('gives a key the last of its limit, and nothing beyond', async () => {
  const request = await setting({ cash: 1_000n * PRICE });
  const keyId = await keyWithLimit(request.walletId, PRICE);
  expect((await ask({ ...request, keyId })).granted).toBe(PRICE);
  await expect(ask({ ...request, keyId, requestNo: 2 })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('Open leases hold'),
  });
});

it('enters grant and return with their node, their lines and words for people', async () => {
  const request = await setting({ cash: 100n * PRICE, gift: 3n * PRICE });
  const lease = await ask(request);
  await close(lease);
  const account = (name: string) => [`lease:${lease.id}:${name}`, `wallet:${request.walletId}:${name}`];
  const [leaseCash, walletCash] = account('CASH');
  const [leaseGift, walletGift] = account('GIFT');
  expect(await booksOf(request.walletId)).toEqual([
    {
      kind: 'LEASE_GRANT',
      reference: `lease:${lease.id}`,
      description: 'Credit for a node',
      actor: 'NODE',
      by: request.nodeId,
      lines: [
        `${leaseCash} ${7n * PRICE}`,
        `${leaseGift} ${3n * PRICE}`,
        `${walletCash} ${-7n * PRICE}`,
        `${walletGift} ${-3n * PRICE}`,
      ],
    },
    {
      kind: 'LEASE_RETURN',
      reference: `lease-end:${lease.id}`,
      description: 'Credit back from a node',
      actor: SYSTEM_ACTOR.kind,
      by: SYSTEM_ACTOR.id,
      lines: [
        `${leaseCash} ${-7n * PRICE}`,
        `${leaseGift} ${-3n * PRICE}`,
        `${walletCash} ${7n * PRICE}`,
        `${walletGift} ${3n * PRICE}`,
      ],
    },
  ]);
  expect(await rowOf(lease.id)).toEqual({ state: 'CLOSED', released: String(10n * PRICE), ended: true });
});

it('ends a used up lease without an entry, and one that is taken back with its own words', async () => {
  const spent = await setting({ cash: PRICE });
  const lease = await ask(spent);
  const { walletId, journalId, nodeId } = spent;
  const usage = reported({ walletId, journalId, leaseId: lease.id, seq: 1, cost: PRICE });
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records: [usage] });
  await expect(close(lease)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('exact count and sum'),
  });
  await close(lease, { count: 1, sum: PRICE });
  expect(await booksOf(walletId)).toMatchObject([{ kind: 'LEASE_GRANT' }]);
  expect(await rowOf(lease.id)).toEqual({ state: 'CLOSED', released: '0', ended: true });
  const silent = await setting({ gift: PRICE });
  const lost = await ask(silent);
  await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${lost.id}`);
  await reclaimLease(money.em(), lost.id);
  await reclaimLease(money.em(), lost.id);
  expect(await booksOf(silent.walletId)).toMatchObject([
    { kind: 'LEASE_GRANT' },
    { description: 'Credit taken back from a lost node', actor: SYSTEM_ACTOR.kind },
  ]);
  expect(await rowOf(lost.id)).toEqual({ state: 'RECLAIMED', released: String(PRICE), ended: true });
  expect(await walletById(money.em(), silent.walletId)).toMatchObject({ gift: PRICE, held: 0n });
});

it('closes a lease for its own node alone, and says that there is none', async () => {
  const request = await setting({ cash: PRICE });
  const lease = await ask(request);
  const other = await money.node();
  for (const wrong of [{ nodeId: other.nodeId }, { journalId: other.journalId }, { id: 'lse_none' }]) {
    await expect(close({ ...lease, ...wrong })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: ['input', 'leaseId'],
      message: expect.stringContaining('no such lease'),
    });
  }
  expect(await rowOf(lease.id)).toMatchObject({ state: 'ACTIVE' });
});

it('takes nothing back that a node may still spend, and nothing granted or heard of since', async () => {
  const request = await setting({ cash: 60n * PRICE });
  const lease = await ask(request);
  const since = 100 * 3_600_000;
  const heard = (ms: number) =>
    query(money.em(), sql`update node_journal set contact_ms = ${ms} where id = ${request.journalId}`);
  const granted = (ms: number) =>
    query(money.em(), sql`update wallet_lease set granted_ms = ${ms} where id = ${lease.id}`);
  const sweepAfter = (ms: number) => sweepLeases(money.em(), since + ms);
  const most = LEASE_OFFLINE_MS + RECLAIM_MARGIN_MS;
  expect(most).toBe(26 * 3_600_000);
  await query(money.em(), sql`update node_journal set contact_ms = ${3 * since}`);
  await heard(since);
  await granted(since - most);
  expect(await sweepAfter(60_000)).toEqual({ reclaimed: 0 });
  expect(await rowOf(lease.id)).toMatchObject({ state: 'ACTIVE' });
  expect(await sweepAfter(60_001)).toEqual({ reclaimed: 0 });
  expect(await rowOf(lease.id)).toMatchObject({ state: 'ORPHANED' });
  expect(await sweepAfter(most)).toEqual({ reclaimed: 0 });
  // What was granted since then counts from then.
  await heard(0);
  await granted(since);
  expect(await sweepAfter(most)).toEqual({ reclaimed: 0 });
  expect(await rowOf(lease.id)).toMatchObject({ state: 'ORPHANED' });
  await heard(since + 1);
  expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 0 });
  await heard(since);
  expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 1 });
  expect(await rowOf(lease.id)).toMatchObject({ state: 'RECLAIMED' });
  expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 0 });
});

it('notes a contact by the watch, by whichever statement it is noted, and a grant', async () => {
  const request = await setting({ cash: 60n * PRICE });
  await query(money.em(), sql`update control_watch set ms = 777`);
  const lease = await ask(request);
  const before = sql`update node_journal set last_contact_at = clock_timestamp() where id =
    ${request.journalId} returning contact_ms::text as heard`;
  expect(await query(money.em(), before)).toEqual([{ heard: '777' }]);
  expect(
    await query(money.em(), sql`select granted_ms::text as ms from wallet_lease where id = ${lease.id}`),
  ).toEqual([{ ms: '777' }]);
});

it('recalls each open lease once, of the key that is named or of all, and tells its node', async () => {
  const request = await setting({ cash: 1_000n * PRICE });
  const keyId = await keyWithLimit(request.walletId, 900n * PRICE);
  const free = await ask(request);
  const limited = await ask({ ...request, keyId, requestNo: 2 });
  const ended = await ask({ ...request, requestNo: 3 });
  await close(ended);
  const recall = (key?: string) => recallLeases(money.em(), request.walletId, key);
  expect(await recall('key_none')).toBe(false);
  expect(await recall(keyId)).toBe(true);
  expect(await recall(keyId)).toBe(false);
  expect(await recall()).toBe(true);
  expect(await recall()).toBe(false);
  const told = () => heard.filter((line) => line.startsWith(RECALL_CHANNEL) && line.includes(request.nodeId));
  await expect
    .poll(told)
    .toEqual([limited.id, free.id].map((id) => `${RECALL_CHANNEL} ${request.nodeId} ${id}`));
});

it('tells the owner of a wallet when credit goes to a node, is spent there and comes back', async () => {
  const request = await setting({ cash: 60n * PRICE });
  const told = () =>
    heard.filter((line) => line.includes('walletUpdated') && line.includes(request.walletId)).length;
  await expect.poll(told).toBeGreaterThan(0);
  const before = told();
  const lease = await ask(request);
  await expect.poll(told).toBe(before + 1);
  expect(heard.at(-1)).toContain(request.userId);
  const { walletId, journalId, nodeId } = request;
  const usage = reported({ walletId, journalId, leaseId: lease.id, seq: 1, cost: PRICE });
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records: [usage] });
  await expect.poll(told).toBe(before + 2);
  await expect.poll(() => heard.some((line) => line.includes(usage.requestId))).toBe(true);
  await close(lease, { count: 1, sum: PRICE });
  await expect.poll(told).toBe(before + 3);
});
