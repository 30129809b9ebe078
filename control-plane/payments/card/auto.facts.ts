/** Facts of a wallet for automatic top-ups: its settings, its balance, and its past attempts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, queryRow, sql, toDate } from '../../database/sql.ts';
import { SAME_MONEY } from '../topup.queries.ts';
import type { AutoFacts } from './auto.rules.ts';
import { queueAutoMail } from './auto.mails.ts';
import { savedCard } from './saved-card.ts';
import type { SavedCard } from './saved-card.ts';

/** Wallets that one run looks at; the next run looks at the others. */
const WALLETS_MAX = 200;

/** Balance of wallet `w` in micro-USD, including open leases. */
const BALANCE = sql`(
  (select coalesce(sum(a.balance), 0) from ledger_account a where a.wallet_id = w.id and a.kind = 'WALLET')
  + (select coalesce(sum(h.balance), 0) from wallet_lease l join ledger_account h on h.lease_id = l.id
    where l.wallet_id = w.id and l.state in ('ACTIVE', 'ORPHANED')))`;

/** Wallets below their thresholds without an attempt in flight, in random order; at most 200. */
export async function walletsBelow(em: EntityManager): Promise<string[]> {
  const low = await query<{ id: string }>(
    em,
    sql`select w.id from auto_top_up s join wallet w on w.id = s.wallet_id
    where s.enabled and ${BALANCE} < s.threshold and not exists (select from top_up t
      where t.wallet_id = w.id and t.automatic and t.paid is null
        and t.stage in ('CREATED', 'AWAITING_PAYMENT'))
    order by random() limit ${WALLETS_MAX}`,
  );
  return low.map(({ id }) => id);
}

/** Facts of the decision, and the card that would be charged; null without one. */
export interface WalletFacts extends AutoFacts {
  userId: string;
  card: SavedCard | null;
}

/**
 * Facts for the decision about a wallet; null without settings. Locks the settings until the transaction
 * ends.
 */
export async function lockFacts(em: EntityManager, walletId: string): Promise<WalletFacts | null> {
  const settings = await queryOne<SettingsRow>(
    em,
    sql`select s.enabled, s.threshold::text, s.amount::text, s.monthly_cap::text,
      s.changed_at, u.state = 'ACTIVE' as active, u.id as user_id
    from auto_top_up s join wallet w on w.id = s.wallet_id join users u on u.id = w.user_id
    where s.wallet_id = ${walletId} for update of s`,
  );
  if (!settings) return null;
  // Attempts are read before the balance: one that is credited between both statements still counts as in
  // flight. In the other order the balance would lack it, and the card would be charged again.
  const past = await pastAttempts(em, walletId, toDate(settings.changed_at));
  const { balance } = await queryRow<{ balance: string }>(
    em,
    sql`select ${BALANCE}::text as balance from wallet w where w.id = ${walletId}`,
  );
  const card = await savedCard(em, walletId);
  return {
    userId: settings.user_id,
    enabled: settings.enabled,
    balance: BigInt(balance),
    threshold: BigInt(settings.threshold),
    amount: BigInt(settings.amount),
    monthlyCap: BigInt(settings.monthly_cap),
    ...past,
    card,
    hasCard: card !== null,
    isActive: settings.active,
  };
}

interface SettingsRow {
  enabled: boolean;
  threshold: string;
  amount: string;
  monthly_cap: string;
  changed_at: string;
  active: boolean;
  user_id: string;
}

/**
 * Attempts of the wallet: their sum in this month (UTC), failures in a row since `since`, and one in flight.
 */
async function pastAttempts(
  em: EntityManager,
  walletId: string,
  since: Date,
): Promise<Pick<AutoFacts, 'spentThisMonth' | 'failures' | 'failedAt' | 'inFlight'>> {
  const row = await queryRow<{ spent: string; failures: number; failed_at: string | null; open: boolean }>(
    em,
    sql`with attempt as (select * from top_up where wallet_id = ${walletId} and automatic and ${SAME_MONEY}),
      success as (select max(created_at) as at from attempt where paid is not null)
    select coalesce(sum(amount) filter (where (paid is not null or stage not in ('FAILED', 'EXPIRED'))
        and created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'), 0)::text
        as spent,
      (count(*) filter (where stage = 'FAILED' and paid is null and created_at > ${since}
        and created_at > coalesce((select at from success), '-infinity')))::integer as failures,
      max(updated_at) filter (where stage = 'FAILED' and paid is null and created_at > ${since}) as failed_at,
      coalesce(bool_or(stage in ('CREATED', 'AWAITING_PAYMENT') and paid is null), false) as open
    from attempt`,
  );
  return {
    spentThisMonth: BigInt(row.spent),
    failures: row.failures,
    failedAt: row.failed_at === null ? null : toDate(row.failed_at),
    inFlight: row.open,
  };
}

/** Switches automatic top-ups of the wallet off after failures, and mails the owner if they were on. */
export async function switchOff(em: EntityManager, walletId: string): Promise<void> {
  const off = await queryOne(
    em,
    sql`update auto_top_up set enabled = false, off_reason = 'FAILURES'
    where wallet_id = ${walletId} and enabled
    returning wallet_id`,
  );
  if (off) await queueAutoMail(em, walletId, { notice: 'OFF', amount: 0n });
}
