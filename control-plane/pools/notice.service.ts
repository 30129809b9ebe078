/** Notices about the end of a pool, each at most once per period: a row, and a mail to the owner. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserSchema } from '../accounts/account.entity.ts';
import { enqueueMail } from '../mail/mail.service.ts';
import { queryOne, sql } from '../database/sql.ts';
import { recordWebhook } from '../webhooks/outbox.ts';
import { noticeMail } from './notice.texts.ts';
import type { Notice } from './notice.texts.ts';
import type { PoolRow } from './pool.entity.ts';
import { DAY_MS } from './quote.rules.ts';

/** The notices before the end, latest first, with the time before the end at which each is due, in ms. */
const BEFORE_END: readonly [Notice, number][] = [
  ['HOURS_24', DAY_MS],
  ['DAYS_3', 3 * DAY_MS],
  ['DAYS_7', 7 * DAY_MS],
];

/**
 * The notice that is due now, or null. If several are due, only the latest, so that a delayed job does not
 * send all of them at once.
 */
export function dueNotice(endsAt: Date, now: Date): Notice | null {
  const left = endsAt.getTime() - now.getTime();
  if (left <= 0) return 'ENDED';
  return BEFORE_END.find(([, before]) => left <= before)?.[0] ?? null;
}

/**
 * Records the notice in the caller's transaction unless it was recorded for this period, and queues its mail
 * if this installation sends mail, the owner wants it and is active. Returns whether the notice is new.
 */
export async function recordNotice(
  em: EntityManager,
  pool: PoolRow,
  { notice, detail }: { notice: Notice; detail: string | null },
): Promise<boolean> {
  const recorded = await queryOne(
    em,
    sql`insert into pool_notices (pool_id, period_id, notice, detail)
      select pool_id, id, ${notice}, ${detail} from pool_periods
      where pool_id = ${pool.id} order by number desc limit 1
    on conflict do nothing returning notice`,
  );
  if (!recorded) return false;
  const { id: poolId, subdomain, autoRenew } = pool;
  await recordWebhook(em, pool.ownerId, {
    type: 'POOL_ENDING',
    data: { poolId, subdomain, notice, endsAt: pool.endsAt.toISOString(), autoRenew, detail },
  });
  const owner = await em.findOneOrFail(UserSchema, { id: pool.ownerId });
  const outlet = await queryOne<{ console_url: string }>(em, sql`select console_url from mail_outlet`);
  if (!outlet || !owner.notifyPoolExpiry || owner.state !== 'ACTIVE') return true;
  const mail = noticeMail(notice, owner.locale, {
    pool: pool.subdomain,
    endsAt: pool.endsAt,
    timeZone: owner.timeZone,
    autoRenew: pool.autoRenew,
    detail,
    link: `${outlet.console_url}/pools/${pool.id}`,
  });
  await enqueueMail(em, { to: owner.email, ...mail });
  return true;
}
