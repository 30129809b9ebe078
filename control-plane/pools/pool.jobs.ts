/**
 * Scheduled steps of pools: automatic renewals, notices, stored states, freed subdomains, expired quotes, and
 * mails about the reopened storefront. Each step locks the row it changes, so that several control planes do
 * it once; a failed step is repeated by the next run.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish, publishMany } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { dueNotice, recordNotice } from './notice.service.ts';
import type { Notice } from './notice.texts.ts';
import type { PoolRow } from './pool.entity.ts';
import { lockPool, poolsWithStaleState } from './pool.queries.ts';
import { announcePool } from './pool.record.ts';
import { AUTO_RENEW_MS, EXPIRING_MS, isAutoRenewalDue, KEPT_MS, stateOf } from './pool.rules.ts';
import { renewPool } from './purchase.service.ts';
import { pruneQuotes, quoteRenewal } from './quote.service.ts';
import { mailStorefrontOpen } from './storefront.notice.ts';

/** Maximum number of pools per step and run; the next run takes the others. */
const POOLS_MAX = 200;
const HOUR_MS = 60 * 60 * 1000;
/** Automatic renewals are attempted twice before the end; the later attempt comes first in this list. */
const ATTEMPTS: readonly { notice: Notice; beforeMs: number }[] = [
  { notice: 'RENEWAL_1H_FAILED', beforeMs: HOUR_MS },
  { notice: 'RENEWAL_24H_FAILED', beforeMs: AUTO_RENEW_MS },
];

/**
 * Job: runs all steps once. A failure does not stop other steps and pools; the last one is thrown at the end.
 */
export async function runPoolJobs(em: EntityManager): Promise<void> {
  const steps = [renewDue, recordDueNotices, storeStates, freeSubdomains, pruneQuotes, mailStorefrontOpen];
  await each(steps, (step) => step(em));
}

/** Works on all items, one after the other, also after a failure. Throws the last failure at the end. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures.at(-1);
}

/**
 * Renews pools with automatic renewal, a day and again an hour before the end. A failed attempt is recorded
 * as a notice, which exists once per period, so that each attempt is made once.
 */
async function renewDue(em: EntityManager): Promise<void> {
  for (const { notice, beforeMs } of ATTEMPTS) {
    const due = await query<{ id: string; owner_id: string }>(
      em,
      sql`select p.id, p.owner_id from pools p join users u on u.id = p.owner_id
      where p.auto_renew and p.state <> 'CANCELLED' and u.state = 'ACTIVE' and p.ends_at > now()
        and p.ends_at <= now() + make_interval(secs => ${beforeMs / 1000})
        and not exists (select from pool_notices n where n.pool_id = p.id
          and n.period_id = (select id from pool_periods where pool_id = p.id order by number desc limit 1)
          and n.notice = any(${ATTEMPTS.filter((one) => one.beforeMs <= beforeMs).map((one) => one.notice)}))
      order by p.ends_at limit ${POOLS_MAX}`,
    );
    await each(due, ({ id, owner_id: ownerId }) => renewOne(em, { id, ownerId, notice }));
  }
}

async function renewOne(
  em: EntityManager,
  { id, ownerId, notice }: { id: string; ownerId: string; notice: Notice },
): Promise<void> {
  try {
    const quote = await quoteRenewal(em.fork(), ownerId, id);
    const period = await queryOne<{ count: number }>(
      em,
      sql`select count(*)::integer as count from pool_periods where pool_id = ${id}`,
    );
    await renewPool(
      em.fork(),
      { userId: ownerId, actor: SYSTEM_ACTOR },
      {
        poolId: id,
        automatic: true,
        quoteId: quote.id,
        expectedTotal: quote.total,
        idempotencyKey: `auto:${id}:${period?.count ?? 0}:${notice}`,
      },
    );
  } catch (error) {
    if (!(error instanceof UserFailure)) throw error;
    await inTransaction(em, async (inner) => {
      const pool = await lockPool(inner, id);
      // If the owner or another control plane has renewed the pool meanwhile, the failure does not matter.
      if (isAutoRenewalDue(pool, new Date()))
        await recordNotice(inner, pool, { notice, detail: error.message });
    });
  }
}

async function recordDueNotices(em: EntityManager): Promise<void> {
  const due = await query<{ id: string }>(
    em,
    sql`select p.id from pools p where p.state <> 'CANCELLED' and p.holds_subdomain
      and p.ends_at <= now() + make_interval(secs => ${EXPIRING_MS / 1000})
      and not exists (select from pool_notices n where n.pool_id = p.id
        and n.period_id = (select id from pool_periods where pool_id = p.id order by number desc limit 1)
        and n.notice = case when p.ends_at <= now() then 'ENDED'
          when p.ends_at <= now() + interval '24 hours' then 'HOURS_24'
          when p.ends_at <= now() + interval '3 days' then 'DAYS_3' else 'DAYS_7' end)
    order by p.ends_at limit ${POOLS_MAX}`,
  );
  await each(due, ({ id }) =>
    inTransaction(em, async (inner) => {
      const pool = await lockPool(inner, id);
      const notice = pool.state === 'CANCELLED' ? null : dueNotice(pool.endsAt, new Date());
      if (notice) await recordNotice(inner, pool, { notice, detail: null });
    }),
  );
}

/** Stores the states that have changed with time, and publishes them to the owners' pages. */
async function storeStates(em: EntityManager): Promise<void> {
  await each(await poolsWithStaleState(em, POOLS_MAX), (id) =>
    inTransaction(em, async (inner) => {
      const pool = await lockPool(inner, id);
      const state = stateOf(pool, new Date());
      if (pool.state === state) return;
      const ended = state === 'EXPIRED';
      pool.state = state;
      await inner.flush();
      await publish(inner, 'poolUpdated', { audience: pool.ownerId, id });
      if (ended) await publishKeys(inner, pool);
    }),
  );
}

/**
 * Publishes the keys of an ended pool. Their rows do not change: nodes refuse them because the pool has
 * ended.
 */
async function publishKeys(em: EntityManager, pool: PoolRow): Promise<void> {
  const keys = await query<{ id: string }>(em, sql`select id from api_key where pool_id = ${pool.id}`);
  await publishMany(
    em,
    'apiKeyUpdated',
    keys.map(({ id }) => ({ id, audience: pool.ownerId })),
  );
}

async function freeSubdomains(em: EntityManager): Promise<void> {
  const due = await query<{ id: string }>(
    em,
    sql`select id from pools where holds_subdomain
      and ends_at <= now() - make_interval(secs => ${KEPT_MS / 1000}) order by id limit ${POOLS_MAX}`,
  );
  await each(due, ({ id }) =>
    inTransaction(em, async (inner) => {
      const pool = await lockPool(inner, id);
      if (!pool.holdsSubdomain || pool.endsAt.getTime() + KEPT_MS > Date.now()) return;
      pool.holdsSubdomain = false;
      await inner.flush();
      await publish(inner, 'poolUpdated', { audience: pool.ownerId, id });
      await announcePool(inner, pool);
    }),
  );
}
