/** Tests of leases in PostgreSQL: granting, repeating, refusing, closing, orphaning and reclaiming them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { UptimeClock } from '../database/uptime-clock.ts';
import { checkInvariants } from './invariants.ts';
import { decideGrant } from './lease.rules.ts';
import { closeLease, reclaimLease, sweepLeases } from './lease.end.ts';
import { recallLeases } from './lease.recall.ts';
import { openRecalls } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import type { LeaseRequest } from './lease.service.ts';
import { clawBack } from './movements.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

async function setting(holds: { cash?: bigint; gift?: bigint }): Promise<LeaseRequest> {
  const [{ walletId }, node] = await Promise.all([money.wallet(holds), money.node()]);
  return { ...node, walletId, keyId: null, requestNo: 1, need: PRICE, want: PRICE * 100n, waiting: 0n };
}

/** Requests a lease; returns the granted amount, or the code of the failure. */
async function ask(request: LeaseRequest): Promise<string | bigint> {
  return requestLease(money.em(), request).then(
    (lease) => lease.cash + lease.gift,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
      throw error;
    },
  );
}

describe('the grant rule', () => {
  it('grants whole requests: at most balance and `want`, at least `need`', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 12n });
    const times = fc.bigInt({ min: 1n, max: 1000n });
    fc.assert(
      fc.property(amount, amount, times, times, (balance, need, wanted, waited) => {
        const waiting = need * (waited - 1n);
        const granted = decideGrant({ balance, need, want: need * wanted, waiting });
        if (granted === undefined) return balance < need;
        return (
          granted >= need &&
          granted <= balance &&
          granted <= need * wanted &&
          granted % need === 0n &&
          (balance >= 50n * need || granted <= (waiting > need ? waiting : need))
        );
      }),
    );
  });

  it('covers all waiting requests with one lease as far as the balance goes, also a small one', () => {
    const amounts = { need: PRICE, want: 100n * PRICE };
    expect(decideGrant({ ...amounts, balance: 7n * PRICE + 1n, waiting: 5n * PRICE })).toBe(5n * PRICE);
    expect(decideGrant({ ...amounts, balance: 7n * PRICE + 1n, waiting: 50n * PRICE })).toBe(7n * PRICE);
    expect(decideGrant({ ...amounts, balance: 100n * PRICE, waiting: 50n * PRICE })).toBe(50n * PRICE);
    expect(decideGrant({ ...amounts, balance: 7n * PRICE, waiting: 0n })).toBe(PRICE);
  });
});

describe('leases', () => {
  it('are granted to exactly 7 of 50 concurrent requests if the balance pays for exactly 7', async () => {
    const request = await setting({ cash: 5n * PRICE, gift: 2n * PRICE + 9n });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => ask({ ...request, requestNo: at + 1 })),
    );
    expect(answers.filter((answer) => answer === PRICE)).toHaveLength(7);
    expect(await walletById(money.em(), request.walletId)).toMatchObject({
      cash: 9n,
      gift: 0n,
      held: 7n * PRICE,
    });
  });

  it('are the same for the same request number, also for concurrent requests', async () => {
    const request = await setting({ cash: 100n * PRICE });
    const leases = await Promise.all(Array.from({ length: 8 }, () => requestLease(money.em(), request)));
    expect(new Set(leases.map((lease) => lease.id)).size).toBe(1);
    expect((await walletById(money.em(), request.walletId))?.held).toBe(10n * PRICE);
  });

  it('accept request numbers beyond 32 bits, and refuse anything but whole numbers from 0', async () => {
    const request = await setting({ cash: 1000n * PRICE });
    const grant = async (requestNo: number) => (await requestLease(money.em(), { ...request, requestNo })).id;
    const [first, again, next] = [await grant(2 ** 31), await grant(2 ** 31), await grant(2 ** 53 - 1)];
    expect(again).toBe(first);
    expect(next).not.toBe(first);
    for (const requestNo of [-1, 1.5, 2 ** 53, Number.NaN])
      expect(await ask({ ...request, requestNo })).toBe('INVALID');
  });

  it('take gift credit first', async () => {
    const request = await setting({ cash: 100n * PRICE, gift: 3n * PRICE });
    expect(await requestLease(money.em(), request)).toMatchObject({ gift: 3n * PRICE, cash: 7n * PRICE });
  });

  it('are refused to a journal that the node did not register, and to a used request number', async () => {
    const request = await setting({ cash: 100n * PRICE });
    const other = await money.node();
    expect(await ask({ ...request, nodeId: other.nodeId })).toBe('NOT_FOUND');
    const lease = await requestLease(money.em(), request);
    await closeLease(money.em(), { ...request, leaseId: lease.id, count: 0, sum: 0n, actor: SYSTEM_ACTOR });
    expect(await ask(request)).toBe('INVALID');
  });

  it('are recalled when the rest is too small, and the request gets CONFLICT meanwhile', async () => {
    const request = await setting({ cash: PRICE });
    const holder = await requestLease(money.em(), request);
    const other = { ...request, ...(await money.node()) };
    expect(await ask(other)).toBe('CONFLICT');
    expect(await ask({ ...other, requestNo: 2 })).toBe('CONFLICT');
    await closeLease(money.em(), { ...request, leaseId: holder.id, count: 0, sum: 0n, actor: SYSTEM_ACTOR });
    expect(await ask({ ...other, requestNo: 3 })).toBe(PRICE);
  });

  it('are refused with INSUFFICIENT_BALANCE only after the credit in leases was charged', async () => {
    const request = await setting({ cash: PRICE });
    const lease = await requestLease(money.em(), request);
    expect(await ask({ ...request, requestNo: 2 })).toBe('CONFLICT');
    const { walletId, journalId, nodeId } = request;
    const usage = reported({ walletId, journalId, leaseId: lease.id, seq: 1, cost: PRICE });
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records: [usage] });
    expect(await ask({ ...request, requestNo: 3 })).toBe('INSUFFICIENT_BALANCE');
  });

  it('are refused with INSUFFICIENT_BALANCE at once if no open lease could help', async () => {
    const request = await setting({ cash: PRICE - 1n });
    expect(await ask(request)).toBe('INSUFFICIENT_BALANCE');
    expect(await recallLeases(money.em(), request.walletId)).toBe(false);
  });

  it('are refused on a frozen wallet', async () => {
    const request = await setting({ cash: PRICE });
    await clawBack(money.em(), {
      walletId: request.walletId,
      amount: 5n * PRICE,
      kind: 'DISPUTE_HOLD',
      reference: `claw:${request.walletId}`,
      actor: SYSTEM_ACTOR,
      description: 'Card',
    });
    expect(await ask(request)).toBe('WALLET_FROZEN');
  });

  it('close only with the exact count and by their own journal; closing again does nothing', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const lease = await requestLease(money.em(), request);
    const closing = { ...request, leaseId: lease.id, count: 0, sum: 0n, actor: SYSTEM_ACTOR };
    await expect(closeLease(money.em(), { ...closing, count: 1, sum: PRICE })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const wiped = await money.node();
    await expect(closeLease(money.em(), { ...closing, ...wiped })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await closeLease(money.em(), closing);
    await closeLease(money.em(), closing);
    expect(await walletById(money.em(), request.walletId)).toMatchObject({ cash: 60n * PRICE, held: 0n });
  });

  it('can be closed again after their end by a node that has forgotten its charges', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const { nodeId, journalId, walletId } = request;
    const { id: leaseId } = await requestLease(money.em(), request);
    const records = [reported({ journalId, seq: 1, leaseId, walletId, cost: PRICE })];
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });
    await recallLeases(money.em(), walletId);
    const recalled = await openRecalls(money.em(), [{ nodeId, after: '' }], 1);
    expect(recalled.get(nodeId)).toEqual([leaseId]);
    const closing = { ...request, leaseId, count: 1, sum: PRICE, actor: SYSTEM_ACTOR };
    await closeLease(money.em(), closing);
    // A recall sent earlier arrives after the node has forgotten the lease.
    await closeLease(money.em(), { ...closing, count: 0, sum: 0n });
    expect(await walletById(money.em(), walletId)).toMatchObject({ cash: 59n * PRICE, held: 0n });
  });

  it('are orphaned without contact, active again after it, and reclaimed after a day without', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const lease = await requestLease(money.em(), request);
    const row = () =>
      queryOne<{ state: string; contact: string }>(
        money.em(),
        sql`select l.state, j.contact_ms::text as contact from wallet_lease l
          join node_journal j on j.id = l.journal_id where l.id = ${lease.id}`,
      );
    const silentFor = async (hours: number): Promise<string | undefined> => {
      await sweepLeases(money.em(), Number((await row())?.contact) + hours * 3_600_000);
      return (await row())?.state;
    };
    expect(await silentFor(25)).toBe('ORPHANED');
    expect(await silentFor(0)).toBe('ACTIVE');
    await reclaimLease(money.em(), lease.id);
    expect((await walletById(money.em(), request.walletId))?.held).toBe(6n * PRICE);
    expect(await silentFor(27)).toBe('RECLAIMED');
    expect(await walletById(money.em(), request.walletId)).toMatchObject({ cash: 60n * PRICE, held: 0n });
  });

  it.each([10, -10])(
    'are not reclaimed from a live node when the clock of PostgreSQL jumps by %d years',
    async (years) => {
      const request = { ...(await setting({ cash: 10n * PRICE })), waiting: 10n * PRICE };
      const lease = await requestLease(money.em(), request);
      expect(lease.granted).toBe(10n * PRICE);
      const clock = new UptimeClock(() => 0);
      const jump = sql`${years} * interval '1 year'`;
      // Moving the stored times back has the same effect as a clock that jumps ahead.
      await query(
        money.em(),
        sql`with journal as (
          update node_journal set last_contact_at = last_contact_at - ${jump} where id = ${request.journalId}
        ) update wallet_lease set granted_at = granted_at - ${jump} where id = ${lease.id}`,
      );
      expect(await sweepLeases(money.em(), await clock.advance(money.em()))).toEqual({ reclaimed: 0 });
      const { walletId, journalId, nodeId } = request;
      const other = { ...request, ...(await money.node()) };
      expect(await ask(other)).toBe('CONFLICT');
      const records = Array.from({ length: 10 }, (_, at) =>
        reported({ walletId, journalId, leaseId: lease.id, seq: at + 1, cost: PRICE }),
      );
      await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });
      const paid = await query(
        money.em(),
        sql`select settlement, count(*)::integer as count from usage_charge where lease_id = ${lease.id}
          group by settlement`,
      );
      expect(paid).toEqual([{ settlement: 'LEASE', count: 10 }]);
    },
  );

  it('are reclaimed from a lost node in time when the clock of PostgreSQL jumps back ten years', async () => {
    const request = await setting({ cash: 60n * PRICE });
    const lease = await requestLease(money.em(), request);
    await query(
      money.em(),
      sql`update node_journal set last_contact_at = last_contact_at + interval '10 years'
        where id = ${request.journalId}`,
    );
    const uptimeMs = await new UptimeClock().advance(money.em());
    expect(await sweepLeases(money.em(), uptimeMs + 25 * 3_600_000)).toEqual({ reclaimed: 0 });
    await sweepLeases(money.em(), uptimeMs + 27 * 3_600_000);
    expect(await ask({ ...request, requestNo: 1 })).toBe('INVALID');
    expect(await walletById(money.em(), request.walletId)).toMatchObject({ cash: 60n * PRICE, held: 0n });
    expect(lease.state).toBe('ACTIVE');
  });

  it('are granted to exactly three of 20 concurrent requests for a key with a limit of three', async () => {
    const request = await setting({ cash: 100n * PRICE });
    const keyId = newId('key');
    await query(
      money.em(),
      sql`
      insert into api_key (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, spend_limit)
      select ${keyId}, user_id, id, 'limited', 'default', 'DISABLED', 'NOT_REVEALED', ${3n * PRICE + 1n}
      from wallet where id = ${request.walletId}`,
    );
    const limited = { ...request, keyId, want: PRICE };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => ask({ ...limited, requestNo: at + 1 })),
    );
    expect(answers.filter((answer) => answer === PRICE)).toHaveLength(3);
    expect(await ask({ ...limited, requestNo: 21 })).toBe('CONFLICT');
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where key_id = ${keyId}`);
    expect(await ask({ ...limited, requestNo: 22 })).toBe('SPEND_LIMIT_REACHED');
    expect(await ask({ ...request, requestNo: 23 })).toBeGreaterThan(0n);
    expect(await ask({ ...limited, keyId: newId('key'), requestNo: 24 })).toBe('NOT_FOUND');
  });

  it('have kept every invariant in all tests above', async () => {
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
