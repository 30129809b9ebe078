/**
 * Applies what is learned of a top-up: facts, movements of the wallet and the new state, in one transaction.
 * Nothing else changes a top-up.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { clawBack, creditCash, returnCash } from '../wallet/movements.ts';
import type { Movement } from '../wallet/movements.ts';
import { recordWebhook } from '../webhooks/outbox.ts';
import { queueReceipt } from '../wallet/notice.service.ts';
import { countMovement } from './payment.metrics.ts';
import { holdPlayMoney, movePlayMoney, requireSameMoney } from './play.money.ts';
import type { TopUpIssue, TopUpRow } from './topup.entity.ts';
import { TopUpSchema } from './topup.entity.ts';
import { earlierFacts, lifeOf, lockPayment, lockTopUp, saveTopUp } from './topup.rows.ts';
import type { TopUpDetails } from './topup.rows.ts';
import { step } from './topup.rules.ts';
import type { ChainState, TopUpEvent, TopUpMethod, TopUpMovement } from './topup.rules.ts';

/** A change of a top-up, and its reporter. */
export interface TopUpNews {
  events: readonly TopUpEvent[];
  details?: TopUpDetails;
  actor: Actor;
  /**
   * How refunds leave the wallet. CLAW_BACK: they happened already, so a debt may remain. RETURN: they are
   * only asked for, so the cash must be there; throws INSUFFICIENT_BALANCE if it is not.
   */
  refunds?: 'CLAW_BACK' | 'RETURN';
}

/** A deposit on a blockchain as the watcher knows it now. */
export interface CryptoTopUp {
  walletId: string;
  /** Identity of the deposit, unique for all time: chain, transaction, and its place in the transaction. */
  reference: string;
  /** Micro-USD above zero; must be the same in all reports of a deposit. */
  amount: Micros;
  state: ChainState;
  actor: Actor;
}

/**
 * Applies the news to the top-up with this id, and returns its row. News that is known already changes
 * nothing. Throws NOT_FOUND.
 */
export async function applyNews(em: EntityManager, id: string, news: TopUpNews): Promise<TopUpRow> {
  const { details = {} } = news;
  return inTransaction(em, async (inner) => {
    if (details.paymentId) await lockPayment(inner, details.paymentId);
    const row = await lockTopUp(inner, id);
    if (!row) throw new UserFailure('NOT_FOUND', 'There is no such top-up. Check its id.', 'id');
    // The demo has ended: its top-ups stay as they are, whatever its processor still reports.
    if (row.playMoney && !(await holdPlayMoney(inner))) return row;
    const late = details.paymentId ? await earlierFacts(inner, details.paymentId) : [];
    const known = await lifeOf(inner, row);
    let life = known;
    const movements: TopUpMovement[] = [];
    for (const event of [...news.events, ...late]) {
      const done = step(life, event);
      life = done.life;
      movements.push(...done.movements);
    }
    for (const movement of movements) await move(inner, { row, movement, news });
    await reportCredits(inner, row, movements);
    const issue = details.issue === undefined ? await issueOf(inner, row, movements) : details.issue;
    const isDifferent = life.paid !== null && row.paid === null && life.paid !== row.amount;
    const found = issue ?? (isDifferent ? 'AMOUNT_DIFFERS' : issue);
    await saveTopUp(inner, row, { known, life, details: { ...details, issue: found } });
    await publish(inner, 'topUpUpdated', { audience: row.userId, id });
    return inner.findOneOrFail(TopUpSchema, { id }, { refresh: true });
  });
}

/**
 * Records what the watcher of a chain knows of a deposit. The first report of a reference creates the top-up;
 * CREDITED credits it once, and ORPHANED takes a credit back. Repeated reports change nothing. Throws
 * NOT_FOUND for an unknown wallet.
 */
export async function recordCryptoTopUp(em: EntityManager, deposit: CryptoTopUp): Promise<TopUpRow> {
  const { walletId, reference, amount, state, actor } = deposit;
  return inTransaction(em, async (inner) => {
    const id = await createTopUp(inner, { walletId, method: 'CRYPTO', amount, reference });
    return applyNews(inner, id, { events: [{ type: 'CHAIN', state, amount }], actor });
  });
}

/** A new top-up in its first stage. */
export interface TopUpDraft {
  walletId: string;
  method: TopUpMethod;
  /** Micro-USD, above zero. */
  amount: Micros;
  /** Identity of a deposit. */
  reference?: string;
  automatic?: boolean;
  /** The saved card with which an automatic top-up is paid. */
  card?: { customerId: string; methodId: string };
  /** Whether the processor is the demo's. */
  playMoney?: boolean;
  saveCard?: boolean;
  returnPath?: string | null;
  /** When the processor is asked about it for the first time; null for never. */
  checkAt?: Date | null;
}

/**
 * Inserts a top-up and returns its id; for a reference that is known, the id of the existing one. Throws
 * NOT_FOUND for an unknown wallet, and CONFLICT if the demo has ended since its processor was read.
 */
export async function createTopUp(em: EntityManager, draft: TopUpDraft): Promise<string> {
  const { walletId, method, amount, reference = null, playMoney = false } = draft;
  if (method === 'CARD') await requireSameMoney(em, playMoney);
  const stage = method === 'CARD' ? 'CREATED' : 'SEEN';
  const created = await queryOne<{ id: string }>(
    em,
    sql`insert into top_up (id, user_id, wallet_id, method, amount, stage, state, reference, automatic,
      play_money, save_card, card_customer_id, card_method_id, return_path, check_at)
    select ${newId('top')}, user_id, id, ${method}, ${amount}, ${stage}, ${stage}, ${reference},
      ${draft.automatic ?? false}, ${playMoney}, ${draft.saveCard ?? false},
      ${draft.card?.customerId ?? null}, ${draft.card?.methodId ?? null},
      ${draft.returnPath ?? null}, ${draft.checkAt ?? null}::timestamptz
    from wallet where id = ${walletId} on conflict (reference) do nothing returning id`,
  );
  if (created) return created.id;
  const known = await queryOne<{ id: string }>(em, sql`select id from top_up where reference = ${reference}`);
  if (!known) throw new UserFailure('NOT_FOUND', 'There is no such wallet. Check its id.');
  return known.id;
}

interface Move {
  row: TopUpRow;
  movement: TopUpMovement;
  news: TopUpNews;
}

async function move(em: EntityManager, { row, movement, news }: Move): Promise<void> {
  const { walletId, method } = row;
  const { name, kind } = movement;
  const amount = movement.amount < 0n ? -movement.amount : movement.amount;
  const wanted: Movement = {
    walletId,
    amount,
    kind,
    reference: `topup:${row.id}:${name}`,
    actor: news.actor,
    description: describe(movement, method),
  };
  const isAskedFor = kind === 'REFUND' && news.refunds === 'RETURN';
  if (row.playMoney) return movePlay(em, { movement, wanted, isAskedFor });
  const debit = isAskedFor ? returnCash : clawBack;
  const { outcome } = await (movement.amount > 0n ? creditCash : debit)(em, wanted);
  if (outcome === 'INSUFFICIENT') throw tooLittle(amount, 'cash');
  if (outcome === 'MISMATCH') throw new Error(`${wanted.reference} was posted with another amount.`);
  if (outcome !== 'POSTED') return;
  countMovement(method, kind, movement.amount);
  if (isCredit(movement)) await queueReceipt(em, walletId, amount);
}

/** No receipt is mailed and no movement is counted, because no money was paid. */
async function movePlay(
  em: EntityManager,
  { movement, wanted, isAskedFor }: { movement: TopUpMovement; wanted: Movement; isAskedFor: boolean },
): Promise<void> {
  const isBack = movement.amount > 0n && !isCredit(movement);
  const took = isAskedFor ? 'TAKE_ALL' : 'TAKE';
  const gave = isBack ? 'GIVE_BACK' : 'CREDIT';
  const hasMoved = await movePlayMoney(em, {
    movement: { ...wanted, description: `Play money: ${wanted.description}` },
    how: movement.amount < 0n ? took : gave,
    undoes: wanted.reference.replace(/:(failed|won)$/, ''),
  });
  if (!hasMoved) throw tooLittle(wanted.amount, 'play money');
}

function tooLittle(amount: Micros, what: string): UserFailure {
  const message = `Less than $${formatDollars(amount)} of the wallet's ${what} is free. Refund less.`;
  return new UserFailure('INSUFFICIENT_BALANCE', message, 'amount');
}

/** Reports each credit of the top-up to webhooks. */
async function reportCredits(
  em: EntityManager,
  { id, userId, method, playMoney }: TopUpRow,
  movements: readonly TopUpMovement[],
): Promise<void> {
  for (const { amount } of movements.filter(isCredit))
    await recordWebhook(em, userId, {
      type: 'TOP_UP_CREDITED',
      data: { topUpId: id, method, amount: formatDollars(amount), playMoney: playMoney ?? false },
    });
}

/** The issue that the movements cause; undefined if they cause none. */
async function issueOf(
  em: EntityManager,
  row: TopUpRow,
  movements: readonly TopUpMovement[],
): Promise<TopUpIssue | undefined> {
  if (movements.some(({ name }) => name.startsWith('reversal:'))) return 'REVERSED';
  if (movements.some(({ name }) => name.endsWith(':failed'))) return 'REFUND_FAILED';
  if (!movements.some(isCredit)) return undefined;
  const [owner] = await query<{ state: string }>(em, sql`select state from users where id = ${row.userId}`);
  return owner?.state === 'ACTIVE' ? undefined : 'ACCOUNT_NOT_ACTIVE';
}

function isCredit({ kind, amount }: TopUpMovement): boolean {
  return amount > 0n && (kind === 'TOP_UP_CARD' || kind === 'TOP_UP_CRYPTO');
}

function describe({ kind, name, amount }: TopUpMovement, method: TopUpMethod): string {
  const source = method === 'CARD' ? 'by card' : 'on a blockchain';
  if (kind === 'DISPUTE_HOLD') return 'Withdrawn by a dispute of a top-up';
  if (kind === 'DISPUTE_RELEASE') return 'Returned from a dispute of a top-up';
  if (kind === 'REFUND') return amount < 0n ? 'Refund of a top-up' : 'Refund of a top-up that failed';
  return name.startsWith('reversal:') ? 'Top-up that left the blockchain' : `Top-up ${source}`;
}
