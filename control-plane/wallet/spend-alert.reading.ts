/** The spend alerts of this month that the console shows, and their dismissal. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { query, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { SPENT_THIS_MONTH } from './budget.service.ts';
import { KEY_SPENT_THIS_MONTH, MONTH } from './spend-alert.service.ts';

/** A key or account that has spent a part of its monthly cap or budget. Amounts are in micro-USD. */
export interface SpendAlert {
  /** Names the key or wallet by a digest, the month and the percentage. */
  id: string;
  /** Null for the budget of the account. */
  keyId: string | null;
  keyName: string | null;
  percent: number;
  spent: Micros;
  limit: Micros;
  at: Date;
}

/** Maximum number of alerts of one wallet. */
const ALERTS_MAX = 20;
const ID = /^([\da-f]{32}):(\d{4}-\d{2}):(50|80|100)$/;
/** A digest of the id of a key or wallet: access tokens that do not read keys do not get their ids. */
const digestOf = (id: Statement) => sql`left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 32)`;

/**
 * The alerts of these wallets, the highest percentage first: for each key and for the budget the highest
 * percentage that still holds, unless it was dismissed.
 */
export async function alertsOfWallets(
  em: EntityManager,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, SpendAlert[]>> {
  const rows = await query<AlertRow>(
    em,
    sql`select w.id as wallet_id, found.* from wallet w cross join lateral (
      select s.*, ${digestOf(sql`s.subject_id`)} as subject, a.percent, a.sent_at::text as at,
        to_char(a.month at time zone 'UTC', 'YYYY-MM') as month
      from (
        select k.id as subject_id, k.id as key_id, k.name as key_name, k.spend_limit as cap,
          ${KEY_SPENT_THIS_MONTH} as spent
        from api_key k where k.owner_id = w.user_id and k.spend_limit is not null and k.state = 'ENABLED'
        union all
        select w.id, null, null, w.monthly_budget, ${SPENT_THIS_MONTH} where w.monthly_budget is not null) s
      cross join lateral (select a.* from spend_alert a
        where a.month = ${MONTH} and a.subject_id = s.subject_id and s.spent * 100 >= s.cap * a.percent
        order by a.percent desc limit 1) a
      where a.dismissed_at is null order by a.percent desc, a.sent_at desc, s.subject_id limit ${ALERTS_MAX}
    ) found where w.id = any(${[...walletIds]}::text[])`,
  );
  return new Map(
    [...Map.groupBy(rows, (row) => row.wallet_id)].map(([id, found]) => [id, found.map(toAlert)]),
  );
}

/**
 * Dismisses an alert of the user, with the alerts of the same key or budget at lower percentages. Does
 * nothing for an alert of another month, and for one that the user does not own.
 */
export async function dismissAlert(em: EntityManager, userId: string, id: string): Promise<void> {
  const [, subject, month, percent] = ID.exec(id) ?? [];
  if (subject === undefined) return;
  await query(
    em,
    sql`update spend_alert a set dismissed_at = now()
      where a.month = ${MONTH} and a.percent <= ${Number(percent)}
        and to_char(a.month at time zone 'UTC', 'YYYY-MM') = ${month} and a.dismissed_at is null
        and a.subject_id in (
          select id from api_key where owner_id = ${userId} and ${digestOf(sql`id`)} = ${subject}
          union all select id from wallet where user_id = ${userId} and ${digestOf(sql`id`)} = ${subject})`,
  );
}

interface AlertRow {
  wallet_id: string;
  subject: string;
  key_id: string | null;
  key_name: string | null;
  cap: string;
  spent: string;
  percent: number;
  at: string;
  month: string;
}

function toAlert(row: AlertRow): SpendAlert {
  return {
    id: `${row.subject}:${row.month}:${row.percent}`,
    keyId: row.key_id,
    keyName: row.key_name,
    percent: row.percent,
    spent: BigInt(row.spent),
    limit: BigInt(row.cap),
    at: toDate(row.at),
  };
}
