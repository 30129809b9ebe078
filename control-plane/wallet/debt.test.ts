/**
 * Tests of a clawback while nodes hold credit of the wallet: leases are recalled and repay the debt first.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { checkInvariants } from './invariants.ts';
import { closeLease, reclaimLease, sweepLeases } from './lease.end.ts';
import { leasesOfWallet, openRecalls } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import { clawBack } from './movements.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

/**
 * A wallet with credit for sixty requests, six of them in a lease of a node; optionally of a key with a
 * limit.
 */
async function setting(keyId: string | null = null) {
  const [{ walletId, userId }, node] = await Promise.all([money.wallet({ cash: 60n * PRICE }), money.node()]);
  if (keyId !== null)
    await query(
      money.em(),
      sql`insert into api_key
        (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, spend_limit)
      values (${keyId}, ${userId}, ${walletId}, 'limited', 'default', 'DISABLED', 'NOT_REVEALED',
        ${60n * PRICE})`,
    );
  const amounts = { need: PRICE, want: 100n * PRICE, waiting: 0n };
  const lease = await requestLease(money.em(), { ...node, walletId, keyId, requestNo: 1, ...amounts });
  return {
    walletId,
    node,
    leaseId: lease.id,
    state: () => walletById(money.em(), walletId),
    recalls: async () =>
      (await openRecalls(money.em(), [{ nodeId: node.nodeId, after: '' }], 9)).get(node.nodeId) ?? [],
    open: () => leasesOfWallet(money.em(), walletId),
    clawBack: (amount: bigint) =>
      clawBack(money.em(), {
        walletId,
        amount,
        kind: 'DISPUTE_HOLD',
        reference: `claw:${walletId}`,
        actor: SYSTEM_ACTOR,
        description: 'Card',
      }),
    close: (count = 0) =>
      closeLease(money.em(), {
        ...node,
        leaseId: lease.id,
        count,
        sum: BigInt(count) * PRICE,
        actor: SYSTEM_ACTOR,
      }),
  };
}

describe('a clawback', () => {
  it('recalls leases; their return repays the debt first and unfreezes the wallet', async () => {
    const { clawBack: claw, state, recalls, open, close, leaseId, walletId } = await setting();
    const held = { id: leaseId, walletId, cash: 6n * PRICE, gift: 0n, granted: 6n * PRICE, chargeSum: 0n };
    expect(await open()).toMatchObject([held]);
    await claw(58n * PRICE);
    expect(await state()).toMatchObject({ cash: 0n, held: 6n * PRICE, receivable: 4n * PRICE, frozen: true });
    expect(await recalls()).toEqual([leaseId]);
    await close();
    await close();
    expect(await state()).toMatchObject({ cash: 2n * PRICE, held: 0n, receivable: 0n, frozen: false });
    expect(await open()).toEqual([]);
  });

  it('keeps the wallet frozen while returned credit does not cover the debt', async () => {
    const { clawBack: claw, state, walletId, node, leaseId, close } = await setting();
    await claw(70n * PRICE);
    const charge = reported({ journalId: node.journalId, seq: 1, leaseId, walletId, cost: PRICE });
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: node.nodeId }, records: [charge] });
    await close(1);
    expect(await state()).toMatchObject({ cash: 0n, held: 0n, receivable: 11n * PRICE, frozen: true });
  });

  it('has its debt repaid by a lease that is reclaimed from a lost node', async () => {
    const { clawBack: claw, state, leaseId } = await setting();
    await claw(60n * PRICE);
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId}`);
    await reclaimLease(money.em(), leaseId);
    expect(await state()).toMatchObject({ cash: 0n, receivable: 0n, frozen: false });
  });

  it('recalls a lease of a disconnected node, which gets the recall when it reconnects', async () => {
    const { clawBack: claw, recalls, leaseId } = await setting();
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId}`);
    await claw(60n * PRICE);
    expect(await recalls()).toEqual([leaseId]);
  });

  it('recalls nothing if the free cash covers it', async () => {
    const { clawBack: claw, state, recalls, close } = await setting();
    await claw(54n * PRICE);
    expect(await state()).toMatchObject({ cash: 0n, receivable: 0n, frozen: false });
    expect(await recalls()).toEqual([]);
    await close();
    expect((await state())?.cash).toBe(6n * PRICE);
  });
});

it('leasesOfWallet lists open leases, oldest first, with their cash and gift', async () => {
  const [{ walletId }, node] = await Promise.all([
    money.wallet({ cash: 2n * PRICE, gift: PRICE }),
    money.node(),
  ]);
  const amounts = { need: PRICE, want: 2n * PRICE, waiting: 2n * PRICE };
  const first = await requestLease(money.em(), { ...node, walletId, keyId: null, requestNo: 1, ...amounts });
  const second = await requestLease(money.em(), { ...node, walletId, keyId: null, requestNo: 2, ...amounts });
  expect(await leasesOfWallet(money.em(), walletId)).toMatchObject([
    { id: first.id, cash: PRICE, gift: PRICE, granted: 2n * PRICE, state: 'ACTIVE', ...node },
    { id: second.id, cash: PRICE, gift: 0n, granted: PRICE, chargeCount: 0, keyId: null },
  ]);
});

it('sweepLeases recalls missed leases of wallets with a debt and of keys beyond their limit', async () => {
  const keyId = newId('key');
  const [debtor, limited, other] = [await setting(), await setting(keyId), await setting()];
  await debtor.clawBack(60n * PRICE);
  await query(money.em(), sql`update wallet_lease set recalled_at = null where id = ${debtor.leaseId}`);
  const limit = (amount: bigint) =>
    query(money.em(), sql`update api_key set spend_limit = ${amount} where id = ${keyId}`);
  await limit(6n * PRICE);
  const held = await queryOne<{ cash: string }>(
    money.em(),
    sql`select granted_cash::text as cash from wallet_lease where id = ${limited.leaseId}`,
  );
  expect(held?.cash).toBe(String(6n * PRICE));
  await sweepLeases(money.em(), 0);
  expect(await debtor.recalls()).toEqual([debtor.leaseId]);
  expect(await limited.recalls()).toEqual([]);
  await limit(6n * PRICE - 1n);
  await sweepLeases(money.em(), 0);
  expect(await limited.recalls()).toEqual([limited.leaseId]);
  expect(await other.recalls()).toEqual([]);
});
