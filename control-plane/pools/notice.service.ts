/** Notices about the end of a pool: one row for each pool, period and notice, so that none is given twice. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserSchema } from '../accounts/account.entity.ts';
import { enqueueMail } from '../mail/mail.service.ts';
import { queryOne, sql } from '../sql.ts';
import { noticeMail } from './notice.texts.ts';
import type { Notice } from './notice.texts.ts';
import type { PoolRow } from './pool.entity.ts';
import { DAY_MS } from './quote.rules.ts';

/** The notices before the end, the latest first, and how long before it each is due, in ms. */
const BEFORE_END: readonly [Notice, number][] = [
  ['HOURS_24', DAY_MS],
  ['DAYS_3', 3 * DAY_MS],
  ['DAYS_7', 7 * DAY_MS],
];

/**
 * The notice that is due now, or null. Only the most pressing one: whoever was not told in time is not told
 * everything at once.
 */
export function dueNotice(endsAt: Date, now: Date): Notice | null {
  const left = endsAt.getTime() - now.getTime();
  if (left <= 0) return 'ENDED';
  return BEFORE_END.find(([, before]) => left <= before)?.[0] ?? null;
}

/**
 * Gives the notice in the caller's transaction, unless it was given for this period: a row, and a mail where
 * mail is sent here and the owner wants it. Returns whether it was given now.
 */
export async function giveNotice(
  em: EntityManager,
  pool: PoolRow,
  { notice, detail }: { notice: Notice; detail: string | null },
): Promise<boolean> {
  const given = await queryOne(
    em,
    sql`insert into pool_notices (pool_id, period_id, notice, detail)
      select pool_id, id, ${notice}, ${detail} from pool_periods
      where pool_id = ${pool.id} order by number desc limit 1
    on conflict do nothing returning notice`,
  );
  if (!given) return false;
  const owner = await em.findOneOrFail(UserSchema, { id: pool.ownerId });
  const outlet = await queryOne<{ console_url: string }>(em, sql`select console_url from mail_outlet`);
  if (!outlet || !owner.notifyPoolExpiry || owner.state !== 'ACTIVE') return true;
  const words = noticeMail(notice, owner.locale, {
    pool: pool.subdomain,
    endsAt: pool.endsAt,
    timeZone: owner.timeZone,
    autoRenew: pool.autoRenew,
    detail,
    link: `${outlet.console_url}/pools/${pool.id}`,
  });
  await enqueueMail(em, { to: owner.email, ...words });
  return true;
}
