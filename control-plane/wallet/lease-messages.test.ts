/** Tests of the visible effects of leases: error messages, ledger entries, row states and notifications. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addJournal, openMoney, reported, setCurrentJournal } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { Listener } from '../database/listener.ts';
import { query, sql } from '../database/sql.ts';
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
/** All notifications received so far: channel and payload. */
const notices: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  listener = await Listener.start({
    databaseUrl: money.url,
    channels: [RECALL_CHANNEL, 'gateway_events'],
    onNotification: (channel, payload) => void notices.push(`${channel} ${payload}`),
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

/** The lease transactions of a wallet, with their lines. */
async function transactionsOf(walletId: string): Promise<object[]> {
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

describe('a lease request', () => {
  it('is refused with field and rule if `need` is not positive or `want` is below it', async () => {
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

  it('is refused unless its number is a whole number from 0', async () => {
    const request = await setting({ cash: 100n * PRICE });
    for (const requestNo of [-1, 0.5, 2 ** 53])
      await expect(ask({ ...request, requestNo })).rejects.toMatchObject({
        code: 'INVALID',
        field: ['input', 'requestNo'],
        message: expect.stringContaining('whole number from 0'),
      });
    expect((await ask({ ...request, requestNo: 0 })).granted).toBe(10n * PRICE);
  });

  it('gets the whole first answer again for the same number, also after the lease was orphaned', async () => {
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

  it('is refused with a reason if its number was used for another wallet or an ended lease', async () => {
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

  it('is refused with the name of the unknown wallet, journal or key', async () => {
    const request = await setting({ cash: 100n * PRICE });
    const other = await setting({ cash: 100n * PRICE });
    const foreign = await keyWithLimit(other.walletId, PRICE);
    for (const [wrong, field, words] of [
      [{ walletId: 'wal_none' }, 'walletId', 'Unknown wallet'],
      [{ journalId: 'jnl_none' }, 'journalId', 'Unknown journal'],
      [{ keyId: foreign }, 'keyId', 'Unknown key'],
    ] as const) {
      await expect(ask({ ...request, ...wrong })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: ['input', field],
        message: expect.stringContaining(words),
      });
    }
  });

  it('is refused with a reason if it was answered before, or if its journal was replaced', async () => {
    const request = await setting({ cash: PRICE });
    await expect(ask({ ...request, need: 2n * PRICE, requestNo: 5 })).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
    });
    await expect(ask({ ...request, requestNo: 4 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('already answered'),
    });
    const other = `${request.journalId} b`;
    await addJournal(money.em(), request.nodeId, other);
    await setCurrentJournal(money.em(), request.nodeId, other);
    await expect(ask({ ...request, requestNo: 6 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: ['input', 'journalId'],
      message: expect.stringContaining('replaced this journal'),
    });
  });

  it('is refused with the next step: add credit, raise the limit, repay the debt or ask again', async () => {
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

  it('gets at most the spend limit minus the month’s spend and the open leases of the key', async () => {
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
    // A closed lease makes its part of the limit free again.
    await close(first);
    expect((await ask({ ...request, keyId, requestNo: 4 })).granted).toBe(3n * PRICE);
    // The limit reserves nothing: other keys may use the rest of the wallet.
    const unlimited = await keyWithLimit(request.walletId, PRICE);
    await query(money.em(), sql`update api_key set spend_limit = null where id = ${unlimited}`);
    expect((await ask({ ...request, keyId: unlimited, requestNo: 5 })).granted).toBe(99n * PRICE);
  });

  it('gets the last part of a spend limit, and nothing beyond it', async () => {
    const request = await setting({ cash: 1_000n * PRICE });
    const keyId = await keyWithLimit(request.walletId, PRICE);
    expect((await ask({ ...request, keyId })).granted).toBe(PRICE);
    await expect(ask({ ...request, keyId, requestNo: 2 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('Open leases hold'),
    });
  });
});

describe('a lease', () => {
  it('enters its grant and return in the ledger with actor, lines and description', async () => {
    const request = await setting({ cash: 100n * PRICE, gift: 3n * PRICE });
    const lease = await ask(request);
    await close(lease);
    const account = (name: string) => [`lease:${lease.id}:${name}`, `wallet:${request.walletId}:${name}`];
    const [leaseCash, walletCash] = account('CASH');
    const [leaseGift, walletGift] = account('GIFT');
    expect(await transactionsOf(request.walletId)).toEqual([
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

  it('ends without an entry if it is used up, and with its own description if it is reclaimed', async () => {
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
    expect(await transactionsOf(walletId)).toMatchObject([{ kind: 'LEASE_GRANT' }]);
    expect(await rowOf(lease.id)).toEqual({ state: 'CLOSED', released: '0', ended: true });
    const silent = await setting({ gift: PRICE });
    const lost = await ask(silent);
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${lost.id}`);
    await reclaimLease(money.em(), lost.id);
    await reclaimLease(money.em(), lost.id);
    expect(await transactionsOf(silent.walletId)).toMatchObject([
      { kind: 'LEASE_GRANT' },
      { description: 'Credit taken back from a lost node', actor: SYSTEM_ACTOR.kind },
    ]);
    expect(await rowOf(lost.id)).toEqual({ state: 'RECLAIMED', released: String(PRICE), ended: true });
    expect(await walletById(money.em(), silent.walletId)).toMatchObject({ gift: PRICE, held: 0n });
  });

  it('is closed only by its own node and journal; others get NOT_FOUND', async () => {
    const request = await setting({ cash: PRICE });
    const lease = await ask(request);
    const other = await money.node();
    for (const wrong of [{ nodeId: other.nodeId }, { journalId: other.journalId }, { id: 'lse_none' }]) {
      await expect(close({ ...lease, ...wrong })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: ['input', 'leaseId'],
        message: expect.stringContaining('Unknown lease'),
      });
    }
    expect(await rowOf(lease.id)).toMatchObject({ state: 'ACTIVE' });
  });

  it('is reclaimed only when grant and last contact are both longer ago than a node may spend', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const lease = await ask(request);
    const since = 100 * 3_600_000;
    const contact = (ms: number) =>
      query(money.em(), sql`update node_journal set contact_ms = ${ms} where id = ${request.journalId}`);
    const granted = (ms: number) =>
      query(money.em(), sql`update wallet_lease set granted_ms = ${ms} where id = ${lease.id}`);
    const sweepAfter = (ms: number) => sweepLeases(money.em(), since + ms);
    const most = LEASE_OFFLINE_MS + RECLAIM_MARGIN_MS;
    expect(most).toBe(26 * 3_600_000);
    await query(money.em(), sql`update node_journal set contact_ms = ${3 * since}`);
    await contact(since);
    await granted(since - most);
    expect(await sweepAfter(60_000)).toEqual({ reclaimed: 0 });
    expect(await rowOf(lease.id)).toMatchObject({ state: 'ACTIVE' });
    expect(await sweepAfter(60_001)).toEqual({ reclaimed: 0 });
    expect(await rowOf(lease.id)).toMatchObject({ state: 'ORPHANED' });
    expect(await sweepAfter(most)).toEqual({ reclaimed: 0 });
    // Without later contact, the time of the grant counts.
    await contact(0);
    await granted(since);
    expect(await sweepAfter(most)).toEqual({ reclaimed: 0 });
    expect(await rowOf(lease.id)).toMatchObject({ state: 'ORPHANED' });
    await contact(since + 1);
    expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 0 });
    await contact(since);
    expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 1 });
    expect(await rowOf(lease.id)).toMatchObject({ state: 'RECLAIMED' });
    expect(await sweepAfter(most + 1)).toEqual({ reclaimed: 0 });
  });

  it('stores grant and contact in the time of the uptime clock', async () => {
    const request = await setting({ cash: 60n * PRICE });
    await query(money.em(), sql`update control_watch set ms = 777`);
    const lease = await ask(request);
    const before = sql`update node_journal set last_contact_at = clock_timestamp() where id =
    ${request.journalId} returning contact_ms::text as contact`;
    expect(await query(money.em(), before)).toEqual([{ contact: '777' }]);
    expect(
      await query(money.em(), sql`select granted_ms::text as ms from wallet_lease where id = ${lease.id}`),
    ).toEqual([{ ms: '777' }]);
  });

  it('is recalled once, for its key or with its whole wallet, and its node is notified', async () => {
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
    const recalls = () =>
      notices.filter((line) => line.startsWith(RECALL_CHANNEL) && line.includes(request.nodeId));
    await expect
      .poll(recalls)
      .toEqual([limited.id, free.id].map((id) => `${RECALL_CHANNEL} ${request.nodeId} ${id}`));
  });

  it('notifies the owner of its wallet when it is granted, charged and closed', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const updates = () =>
      notices.filter((line) => line.includes('walletUpdated') && line.includes(request.walletId)).length;
    await expect.poll(updates).toBeGreaterThan(0);
    const before = updates();
    const lease = await ask(request);
    await expect.poll(updates).toBe(before + 1);
    expect(notices.at(-1)).toContain(request.userId);
    const { walletId, journalId, nodeId } = request;
    const usage = reported({ walletId, journalId, leaseId: lease.id, seq: 1, cost: PRICE });
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records: [usage] });
    await expect.poll(updates).toBe(before + 2);
    await expect.poll(() => notices.some((line) => line.includes(usage.requestId))).toBe(true);
    await close(lease, { count: 1, sum: PRICE });
    await expect.poll(updates).toBe(before + 3);
  });
});
