/**
 * Alerts owners whose key or account has spent a part of its monthly cap or budget: by mail, and on open
 * pages.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import { enqueueMail } from '../mail/mail.service.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { SPENT_THIS_MONTH } from './budget.service.ts';
import { spendAlertMail } from './spend-alert.texts.ts';
import { walletOfUserChanged } from './wallet.events.ts';

/** Maximum number of mails in one run; the next run sends the others. */
const ALERTS_MAX = 200;

/** Start of the current month (UTC). */
export const MONTH = sql`date_trunc('month', clock_timestamp(), 'UTC')`;

/** Cost of the requests of key `k` in this calendar month (UTC), in micro-USD. */
export const KEY_SPENT_THIS_MONTH = sql`(
  select coalesce(sum(u.cost), 0) from usage_key_month u where u.key_id = k.id and u.month >= ${MONTH})`;

/**
 * Keys and wallets with a limit, and what they have spent this month, in micro-USD. The link is the path of
 * the page in the console.
 */
const SPENDS = sql`(
  select k.id, k.owner_id as user_id, k.name as key_name, k.spend_limit as cap, '/keys/' || k.id as path,
    ${KEY_SPENT_THIS_MONTH} as spent
  from api_key k where k.spend_limit is not null and k.state = 'ENABLED'
  union all
  select w.id, w.user_id, null, w.monthly_budget, '/wallet', ${SPENT_THIS_MONTH}
  from wallet w where w.monthly_budget is not null)`;

interface Due {
  id: string;
  user_id: string;
  percents: number[];
  key_name: string | null;
  spent: string;
  cap: string;
  path: string;
  email: string;
  locale: string;
  console_url: string | null;
}

/**
 * Job: alerts the owners whose key or account has reached 50, 80 or 100 percent of its monthly cap or budget.
 * Each percentage is reported once per month; if several were reached, only the highest is mailed. Runs of
 * two control planes at once send one mail.
 */
export async function sendSpendAlerts(em: EntityManager): Promise<void> {
  await query(em, sql`delete from spend_alert where month < ${MONTH}`);
  const due = await query<Due>(
    em,
    sql`select s.id, s.user_id, s.key_name, s.spent::text, s.cap::text, s.path, u.email, u.locale,
      array_agg(p.percent order by p.percent) as percents, max(o.console_url) as console_url
    from ${SPENDS} s join users u on u.id = s.user_id and u.state = 'ACTIVE'
    join (values (50), (80), (100)) p (percent) on s.spent * 100 >= s.cap * p.percent
    left join mail_outlet o on true
    where not exists (select from spend_alert a
      where a.subject_id = s.id and a.month = ${MONTH} and a.percent = p.percent)
    group by s.id, s.user_id, s.key_name, s.spent, s.cap, s.path, u.email, u.locale order by s.id
    limit ${ALERTS_MAX}`,
  );
  for (const one of due) await inTransaction(em, (inner) => alertOwner(inner, one));
}

async function alertOwner(em: EntityManager, due: Due): Promise<void> {
  const reported = await query<{ percent: number }>(
    em,
    sql`insert into spend_alert (subject_id, month, percent)
    select ${due.id}, ${MONTH}, unnest(${due.percents}::smallint[])
    on conflict do nothing returning percent`,
  );
  const percent = Math.max(0, ...reported.map((row) => row.percent));
  if (percent === 0) return;
  await walletOfUserChanged(em, due.user_id);
  if (due.console_url === null) return;
  const mail = spendAlertMail(due.locale, {
    keyName: due.key_name,
    percent,
    spent: `$${formatDollars(BigInt(due.spent))}`,
    limit: `$${formatDollars(BigInt(due.cap))}`,
    link: `${due.console_url}${due.path}`,
  });
  await enqueueMail(em, { to: due.email, ...mail });
}
