/** Tells owners by mail that a balance went below their threshold, and that money arrived. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { enqueueMail } from '../mail/mail.service.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { walletMail } from './notice.texts.ts';
import type { WalletNotice } from './notice.texts.ts';

/** So many are warned in one round; the others with the next. */
const ROUND_MAX = 200;

/** Micro-USD in wallet `w`: what nodes hold counts, for it is not spent. */
const BALANCE = sql`(
  (select coalesce(sum(a.balance), 0) from ledger_account a where a.wallet_id = w.id and a.kind = 'WALLET')
  + (select coalesce(sum(h.balance), 0) from wallet_lease l join ledger_account h on h.lease_id = l.id
    where l.wallet_id = w.id and l.state in ('ACTIVE', 'ORPHANED')))`;

/**
 * One round over the wallets with a threshold. A warning is one for each time that a balance goes below:
 * wallets that were warned are looked at again once they were above. Requests pay nothing for it. Of two
 * control planes the second one finds the wallet warned.
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
      and ${BALANCE} < w.low_balance_threshold order by w.id limit ${ROUND_MAX}`,
  );
  for (const { id } of due) await inTransaction(em, (inner) => warnOwner(inner, id));
}

async function warnOwner(em: EntityManager, walletId: string): Promise<void> {
  const warned = await queryOne<{ threshold: string }>(
    em,
    sql`update wallet w set low_balance_warned_at = now()
    where w.id = ${walletId} and w.low_balance_warned_at is null and ${BALANCE} < w.low_balance_threshold
    returning w.low_balance_threshold::text as threshold`,
  );
  if (warned) await tell(em, walletId, { notice: 'LOW_BALANCE', amount: BigInt(warned.threshold) });
}

/** Queues, in the caller's transaction, the receipt of cash that arrived, where the owner wants receipts. */
export async function giveReceipt(em: EntityManager, walletId: string, amount: Micros): Promise<void> {
  const wanted = await queryOne(
    em,
    sql`select from users u join wallet w on w.user_id = u.id
    where w.id = ${walletId} and u.notify_payment_receipts and u.state = 'ACTIVE'`,
  );
  if (wanted) await tell(em, walletId, { notice: 'RECEIPT', amount });
}

/** Nothing where no mail is sent here. */
async function tell(
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
  const words = walletMail(notice, owner.locale, {
    balance: `$${formatDollars(BigInt(owner.balance))}`,
    amount: `$${formatDollars(amount)}`,
    link: `${owner.console_url}/wallet`,
  });
  await enqueueMail(em, { to: owner.email, ...words });
}
