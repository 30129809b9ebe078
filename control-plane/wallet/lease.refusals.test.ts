/** Tests that a refused lease request stays refused, whenever another copy of it arrives. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addJournal, openMoney, setCurrentJournal } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { checkInvariants } from './invariants.ts';
import { pruneRefusals } from './lease.refusals.ts';
import { leasesOfWallet } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import type { LeaseRequest } from './lease.service.ts';
import { creditCash } from './movements.ts';

const PRICE = 250_000n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

/** A request on an empty wallet, and a function that adds credit to the wallet. */
async function poor(): Promise<{ request: LeaseRequest; fill(): Promise<unknown> }> {
  const [{ walletId }, node] = await Promise.all([money.wallet({}), money.node()]);
  return {
    request: { ...node, walletId, keyId: null, requestNo: 5, need: PRICE, want: PRICE, waiting: 0n },
    fill: () =>
      creditCash(money.em(), {
        ...{ walletId, amount: 9n * PRICE, kind: 'ADJUSTMENT', reference: `fill:${walletId}` },
        ...{ actor: SYSTEM_ACTOR, description: 'test' },
      }),
  };
}

async function ask(request: LeaseRequest): Promise<string> {
  return requestLease(money.em(), request).then(
    () => 'GRANTED',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

const leasesIn = async ({ walletId }: LeaseRequest): Promise<number> =>
  (await leasesOfWallet(money.em(), walletId)).length;

describe('a refused lease request', () => {
  it('gets no lease for a late copy of it or an earlier number', async () => {
    const { request, fill } = await poor();
    expect(await ask(request)).toBe('INSUFFICIENT_BALANCE');
    await fill();
    expect(await ask(request)).toBe('CONFLICT');
    expect(await ask({ ...request, requestNo: 4 })).toBe('CONFLICT');
    expect(await leasesIn(request)).toBe(0);
    expect(await ask({ ...request, requestNo: 6 })).toBe('GRANTED');
    expect(await ask({ ...request, requestNo: 6 })).toBe('GRANTED');
    expect(await leasesIn(request)).toBe(1);
  });

  it('is refused for a replaced journal, which still gets the lease that it already has', async () => {
    const { request, fill } = await poor();
    await fill();
    expect(await ask(request)).toBe('GRANTED');
    const takenBy = `jnl_${randomUUID()}`;
    await addJournal(money.em(), request.nodeId, takenBy);
    await setCurrentJournal(money.em(), request.nodeId, takenBy);
    expect(await ask({ ...request, requestNo: 6 })).toBe('NOT_FOUND');
    expect(await ask(request)).toBe('GRANTED');
    expect(await leasesIn(request)).toBe(1);
    expect(await ask({ ...request, journalId: takenBy, requestNo: 1 })).toBe('GRANTED');
    expect(await leasesIn(request)).toBe(2);
  });

  it('gets one outcome for all copies that arrive while credit is added', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { request, fill } = await poor();
      const [, ...answers] = await Promise.all([fill(), ask(request), ask(request), ask(request)]);
      const granted = answers.filter((answer) => answer === 'GRANTED').length;
      expect([0, answers.length]).toContain(granted);
      expect(await leasesIn(request)).toBe(granted === 0 ? 0 : 1);
    }
  });

  it('affects only requests of its own journal, wallet and key', async () => {
    const { request, fill } = await poor();
    expect(await ask(request)).toBe('INSUFFICIENT_BALANCE');
    await fill();
    const keyId = newId('key');
    await query(
      money.em(),
      sql`
    insert into api_key (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, spend_limit)
    select ${keyId}, user_id, id, 'limited', 'default', 'DISABLED', 'NOT_REVEALED', ${3n * PRICE}
    from wallet where id = ${request.walletId}`,
    );
    expect(await ask({ ...request, keyId, requestNo: 4 })).toBe('GRANTED');
    expect(await ask({ ...request, ...(await money.node()) })).toBe('GRANTED');
  });

  it('is not recorded when a node names the journal of another node', async () => {
    const { request, fill } = await poor();
    const thief = await money.node();
    expect(await ask({ ...request, nodeId: thief.nodeId, requestNo: 2 ** 31 - 1 })).toBe('NOT_FOUND');
    await fill();
    expect(await ask(request)).toBe('GRANTED');
  });

  it('is kept for a day', async () => {
    const { request } = await poor();
    await ask(request);
    const refusals = (): Promise<unknown[]> =>
      query(money.em(), sql`select from lease_refusal where journal_id = ${request.journalId}`);
    const age = (hours: number): Promise<unknown> =>
      query(
        money.em(),
        sql`update lease_refusal set refused_at = clock_timestamp() - ${hours} * interval '1 hour'
        where journal_id = ${request.journalId}`,
      );
    await age(23);
    await pruneRefusals(money.em());
    expect(await refusals()).toHaveLength(1);
    await age(25);
    // If the two clocks differ, the earlier one counts.
    await pruneRefusals(money.em(), new Date(Date.now() - 2 * 60 * 60 * 1000));
    expect(await refusals()).toHaveLength(1);
    await pruneRefusals(money.em());
    expect(await refusals()).toHaveLength(0);
  });
});
