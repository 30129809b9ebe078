/** Property test: all operations on a wallet, in any order and concurrently, keep the ledger's invariants. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { closeLease, reclaimLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { payFromCash } from '../wallet/movements.ts';
import type { Movement } from '../wallet/movements.ts';
import { adjust } from '../wallet/wallet.service.ts';
import type { Adjustment } from '../wallet/wallet.service.ts';
import type { ReportAnswer, ReportedUsage } from './settlement.rules.ts';
import { settle } from './settlement.service.ts';

const PRICE = 100n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

describe('any interleaving of grant, settle, close, reclaim, purchase and adjustment', () => {
  it('keeps all invariants, and charges no lease beyond its grant', async () => {
    const step = fc.record({
      act: fc.constantFrom('grant', 'settle', 'again', 'close', 'reclaim', 'buy', 'add'),
      pick: fc.nat(50),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.boolean(),
        async (steps, parallel) => {
          const run = await openRun();
          if (parallel) await Promise.all(steps.map((one) => run.act(one)));
          else for (const one of steps) await run.act(one);
          expect(await checkInvariants(money.em())).toEqual([]);
          expect(await leasesBeyondGrant()).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
    // Leaves time to shrink a failing example.
  }, 120_000);
});

/** Leases with more charges than their grant, late charges included. */
const leasesBeyondGrant = () =>
  query(
    money.em(),
    sql`select l.id from wallet_lease l join usage_charge c on c.lease_id = l.id
      group by l.id having sum(c.amount) > l.granted_cash + l.granted_gift`,
  );

interface Step {
  act: string;
  pick: number;
}

/** A granted lease, with the records reported for it. */
interface Played {
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
  sent: ReportedUsage[];
}

function report(nodeId: string, records: readonly ReportedUsage[]): Promise<ReportAnswer> {
  return settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
}

/** A wallet and two nodes on which steps are played. Refusals by user failures are expected. */
async function openRun(): Promise<{ act(step: Step): Promise<void> }> {
  const wallet = await money.wallet({ cash: 40n * PRICE, gift: 15n * PRICE });
  const { userId, walletId } = wallet;
  const nodes = [await money.node(), await money.node()] as const;
  const leases: Played[] = [];
  const seqs = new Map<string, number>();
  let number = 0;
  const next = (): number => (number += 1);
  const onLease =
    (work: (lease: Played) => Promise<unknown>) =>
    async (pick: number): Promise<void> => {
      const lease = leases[pick % leases.length];
      if (lease) await work(lease);
    };
  const play: Record<string, (pick: number) => Promise<unknown>> = {
    grant: async (pick) => {
      const node = nodes[pick % 2 === 0 ? 0 : 1];
      const waiting = BigInt(pick % 5) * PRICE;
      const amounts = { need: PRICE, want: 9n * PRICE, waiting };
      const request = { ...node, walletId, keyId: null, requestNo: next(), ...amounts };
      leases.push({ walletId, ...node, leaseId: (await requestLease(money.em(), request)).id, sent: [] });
    },
    settle: onLease(async (lease) => {
      const seq = (seqs.get(lease.journalId) ?? 0) + 1;
      seqs.set(lease.journalId, seq);
      const { walletId: payer, journalId, leaseId } = lease;
      const record = reported({ walletId: payer, journalId, leaseId, seq, cost: PRICE });
      const { rejected } = await report(lease.nodeId, [record]);
      if (rejected.length === 0) lease.sent.push(record);
    }),
    again: onLease((lease) => report(lease.nodeId, lease.sent)),
    close: onLease((lease) => {
      const count = lease.sent.length;
      return closeLease(money.em(), { ...lease, count, sum: BigInt(count) * PRICE, actor: SYSTEM_ACTOR });
    }),
    reclaim: onLease(async ({ leaseId }) => {
      await query(
        money.em(),
        sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId} and state = 'ACTIVE'`,
      );
      await reclaimLease(money.em(), leaseId);
    }),
    buy: (pick) => payFromCash(money.em(), { ...movement(walletId, next()), amount: BigInt(pick + 1) }),
    add: (pick) => adjust(money.em(), adjustment(userId, { pick, number: next() })),
  };
  return { act: ({ act, pick }) => ignoringUserFailures(play[act]?.(pick)) };
}

function adjustment(userId: string, { pick, number }: { pick: number; number: number }): Adjustment {
  const bucket = pick % 2 ? 'CASH' : 'GIFT';
  const idempotencyKey = `${userId}${number}`;
  return { userId, bucket, amount: BigInt(pick) - 25n, reason: 'test', actor: SYSTEM_ACTOR, idempotencyKey };
}

function movement(walletId: string, number: number): Omit<Movement, 'amount'> {
  const reference = `buy:${walletId}:${number}`;
  return { walletId, kind: 'POOL_PURCHASE', reference, actor: SYSTEM_ACTOR, description: 'Pool' };
}

/** Awaits the work and ignores user failures; other errors fail the test. */
async function ignoringUserFailures(work: Promise<unknown> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'UserFailure')) throw error;
  }
}
