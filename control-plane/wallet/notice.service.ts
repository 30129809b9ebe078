/** Mails to owners of wallets: a balance fell below their threshold, or cash was credited. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { enqueueMail } from '../mail/mail.service.ts';
import { recordWebhook } from '../webhooks/outbox.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { walletMail } from './notice.texts.ts';
import type { WalletNotice } from './notice.texts.ts';

/** Maximum number of owners warned in one run; the next run warns the others. */
const WARNINGS_MAX = 200;

/** Balance of wallet `w` in micro-USD, including open leases. */
const BALANCE = sql`(
  (select coalesce(sum(a.balance), 0) from ledger_account a where a.wallet_id = w.id and a.kind = 'WALLET')
  + (select coalesce(sum(h.balance), 0) from wallet_lease l join ledger_account h on h.lease_id = l.id
    where l.wallet_id = w.id and l.state in ('ACTIVE', 'ORPHANED')))`;

/**
 * Job: mails the owners whose balance fell below their threshold, once per fall. A warned wallet is warned
 * again only after its balance was at or above the threshold. Runs of two control planes at once send one
 * mail.
 */
export async function warnLowBalances(em: EntityManager): Promise<void> {
  await inTransaction(em, (inner) =>
    query(
      inner,
      sql`update wallet w set low_balance_warned_at = null
      where w.low_balance_warned_at is not null
        and (w.low_balance_threshold is null or ${BALANCE} >= w.low_balance_threshold)`,
    ),
  );
  const due = await query<{ id: string }>(
    em,
    sql`select w.id from wallet w join users u on u.id = w.user_id and u.state = 'ACTIVE'
    where w.low_balance_threshold is not null and w.low_balance_warned_at is null
      and ${BALANCE} < w.low_balance_threshold order by w.id limit ${WARNINGS_MAX}`,
  );
  for (const { id } of due) await inTransaction(em, (inner) => warnOwner(inner, id));
}

async function warnOwner(em: EntityManager, walletId: string): Promise<void> {
  const warned = await queryOne<{ threshold: string; ownerId: string; balance: string }>(
    em,
    sql`update wallet w set low_balance_warned_at = now()
    where w.id = ${walletId} and w.low_balance_warned_at is null and ${BALANCE} < w.low_balance_threshold
    returning w.low_balance_threshold::text as threshold,
      w.user_id as "ownerId", ${BALANCE}::text as balance`,
  );
  if (!warned) return;
  const threshold = BigInt(warned.threshold);
  await queueMail(em, walletId, { notice: 'LOW_BALANCE', amount: threshold });
  const balance = formatDollars(BigInt(warned.balance));
  await recordWebhook(em, warned.ownerId, {
    type: 'WALLET_LOW_BALANCE',
    data: { walletId, balance, threshold: formatDollars(threshold) },
  });
}

/**
 * Queues the receipt mail for credited cash (`amount` in micro-USD) in the caller's transaction, if the owner
 * wants receipts and is active.
 */
export async function queueReceipt(em: EntityManager, walletId: string, amount: Micros): Promise<void> {
  const wanted = await queryOne(
    em,
    sql`select from users u join wallet w on w.user_id = u.id
    where w.id = ${walletId} and u.notify_payment_receipts and u.state = 'ACTIVE'`,
  );
  if (wanted) await queueMail(em, walletId, { notice: 'RECEIPT', amount });
}

/** Does nothing if this installation sends no mail. */
async function queueMail(
  em: EntityManager,
  walletId: string,
  { notice, amount }: { notice: WalletNotice; amount: Micros },
): Promise<void> {
  const owner = await queryOne<{ email: string; locale: string; console_url: string; balance: string }>(
    em,
    sql`select u.email, u.locale, o.console_url, ${BALANCE}::text as balance
    from mail_outlet o, wallet w join users u on u.id = w.user_id where w.id = ${walletId}`,
  );
  if (!owner) return;
  const mail = walletMail(notice, owner.locale, {
    balance: `$${formatDollars(BigInt(owner.balance))}`,
    amount: `$${formatDollars(amount)}`,
    link: `${owner.console_url}/wallet`,
  });
  await enqueueMail(em, { to: owner.email, ...mail });
}
