/** Entries of the usage log are found by their ids, however late their requests were settled. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { newId } from '../database/ids.ts';
import { queryRow, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { settle } from './settlement.service.ts';
import { usageById } from './usage.by-id.ts';

const MINUTE_MS = 60_000;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** Settles a free request of this age now. Returns the ids of its owner, request and entry. */
async function settled(ageMs: number): Promise<{ userId: string; requestId: string; id: string }> {
  const [{ userId, walletId }, { nodeId }] = [await money.wallet({}), await money.node()];
  const free = { walletId, journalId: null, leaseId: null, seq: null, cost: 0n };
  const record = reported({ ...free, at: new Date(Date.now() - ageMs) });
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records: [record] });
  const { requestId } = record;
  const { id } = await queryRow<{ id: string }>(
    money.em(),
    sql`select id from usage_entry where request_id = ${requestId}`,
  );
  return { userId, requestId, id };
}

describe('an entry of the usage log', () => {
  it.each([
    ['at once', 0],
    ['after 20 minutes', 20 * MINUTE_MS],
    ['after 47 hours', 47 * 60 * MINUTE_MS],
  ])('is found by its owner and by administrators if it was settled %s', async (_, ageMs) => {
    const { userId, requestId, id } = await settled(ageMs);
    expect(await usageById(money.em(), id, userId)).toMatchObject({ id, requestId });
    expect(await usageById(money.em(), id, null)).toMatchObject({ id, requestId });
  });

  it('is not found by another user, or by an id that no entry has', async () => {
    const [{ id }, { userId }] = [await settled(0), await settled(0)];
    expect(await usageById(money.em(), id, userId)).toBeUndefined();
    expect(await usageById(money.em(), newId('use'), null)).toBeUndefined();
  });
});
