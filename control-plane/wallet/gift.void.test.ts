import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { settle } from '../usage/settlement.service.ts';
import { voidGift } from './gift.void.ts';
import { checkInvariants } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { openRecalls } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import { creditGift } from './movements.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

/** A wallet with gift credit for 100 requests, ten of which a node holds. */
async function holding() {
  const [{ walletId }, node] = await Promise.all([money.wallet({ gift: 100n * PRICE }), money.node()]);
  const request = {
    ...node,
    walletId,
    keyId: null,
    requestNo: 1,
    need: PRICE,
    want: 10n * PRICE,
    waiting: 0n,
  };
  const lease = await requestLease(money.em(), request);
  const movement = { walletId, kind: 'ADJUSTMENT' as const, actor: SYSTEM_ACTOR, description: 'void' };
  const close = (count: number) =>
    closeLease(money.em(), {
      ...node,
      leaseId: lease.id,
      count,
      sum: BigInt(count) * PRICE,
      actor: SYSTEM_ACTOR,
    });
  return { ...node, walletId, lease, movement, close };
}

describe('gift credit that becomes void', () => {
  it('is recalled where a node holds it and taken when it returns; earlier charges stay paid', async () => {
    const { nodeId, journalId, walletId, lease, movement, close } = await holding();
    await voidGift(money.em(), { ...movement, amount: 100n * PRICE, reference: `void-all:${walletId}` });
    expect(await walletById(money.em(), walletId)).toMatchObject({ gift: 0n, held: 10n * PRICE });
    expect(await openRecalls(money.em(), nodeId)).toEqual([lease.id]);
    const charge = reported({ journalId, seq: 1, leaseId: lease.id, walletId, cost: PRICE });
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records: [charge] });
    await close(1);
    await close(1);
    expect(await walletById(money.em(), walletId)).toMatchObject({ gift: 0n, cash: 0n, held: 0n });
    expect(await checkInvariants(money.em())).toEqual([]);
  });

  it('is never more than was said, and nothing of what is given later', async () => {
    const { walletId, movement, close } = await holding();
    await voidGift(money.em(), { ...movement, amount: 94n * PRICE, reference: `void-part:${walletId}` });
    const later = { ...movement, kind: 'GIFT_ADMIN' as const, reference: `later:${walletId}` };
    await creditGift(money.em(), { ...later, amount: PRICE });
    await close(0);
    expect(await walletById(money.em(), walletId)).toMatchObject({ gift: 7n * PRICE, held: 0n });
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
