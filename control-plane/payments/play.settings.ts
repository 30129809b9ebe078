/** The play money of a demo: begins it with the demo's card processor, and voids what is left at its end. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { publishMany } from '../database/events.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { voidGifts } from '../wallet/gift.void.ts';
import type { PaymentSettingsRow } from './settings.entity.ts';
import {
  apiKeyOf,
  applyKey,
  lockSettings,
  signingSecrets,
  storeWebhookSecret,
  webhookSecrets,
} from './settings.service.ts';

/** Ledger reference of the credit that a demo gives. */
export const DEMO_CREDIT = 'demo:credit';

const SECRET_LABEL = 'Demo';

/** The card processor of the demo. */
export interface PlayProcessor {
  /** Origin of its API. */
  address: string;
  key: string;
  webhookSecret: string;
}

/**
 * Offers payments with play money if `allowed` and no operator has configured payments by card; then, and if
 * play money is offered already, stores the present address of the processor. Returns whether play money is
 * offered.
 */
export async function preparePlayMoney(
  em: EntityManager,
  processor: PlayProcessor,
  { allowed, secretKey }: { allowed: boolean; secretKey: string },
): Promise<boolean> {
  return inTransaction(em, async (inner) => {
    const row = await lockSettings(inner);
    const isUntouched = !row.apiKey && !row.cardEnabled && (await webhookSecrets(inner)).length === 0;
    if (!row.playMoney && !(allowed && isUntouched)) return false;
    const isNew = !row.playMoney;
    const { address, key, webhookSecret } = processor;
    if (isNew || row.apiAddress !== address || apiKeyOf(row, secretKey) !== key) {
      row.apiAddress = address;
      applyKey(row, key, secretKey);
    }
    if (isNew) Object.assign(row, { playMoney: true, cardEnabled: true });
    await inner.flush();
    if (!(await signingSecrets(inner, secretKey)).includes(webhookSecret))
      await storeWebhookSecret(inner, { label: SECRET_LABEL, secret: webhookSecret, secretKey });
    if (isNew) await note(inner, true, 'The demo began');
    return true;
  });
}

/**
 * Ends the play money of the demo, and voids what is left of it and of the demo's gift. Open top-ups fail,
 * saved cards and the processor's settings are removed, and automatic top-ups are switched off. A payment
 * that is reported later credits nothing. Paid balances stay untouched.
 */
export async function endDemoMoney(em: EntityManager, reason: string): Promise<void> {
  await inTransaction(em, async (inner) => {
    const row = await lockSettings(inner);
    if (row.playMoney) {
      await closeTopUps(inner);
      await removeCards(inner);
      await removeSettings(inner, row);
      await note(inner, false, reason);
    }
    const credits = await query<{ reference: string }>(
      inner,
      sql`select 'topup:' || id || ':credit' as reference from top_up where play_money and paid is not null`,
    );
    const references = [DEMO_CREDIT, ...credits.map(({ reference }) => reference)];
    await voidGifts(inner, { references, description: reason });
  });
}

async function closeTopUps(em: EntityManager): Promise<void> {
  const closed = await query<{ id: string; audience: string }>(
    em,
    sql`update top_up set stage = 'FAILED', state = 'FAILED', checkout_url = null, check_at = null,
      failure_code = 'demo_ended', failure_message = 'The demo ended before this was paid.',
      updated_at = clock_timestamp()
    where play_money and state in ('CREATED', 'AWAITING_PAYMENT')
    returning id, user_id as audience`,
  );
  await query(em, sql`update top_up set check_at = null, issue = null where play_money`);
  await query(
    em,
    sql`update top_up_refund set check_at = null, status = 'FAILED', failure_message = 'demo_ended'
    where status in ('REQUESTED', 'PENDING') and top_up_id in (select id from top_up where play_money)`,
  );
  await publishMany(em, 'topUpUpdated', closed);
}

/** While play money is offered no real card can be saved, so all saved cards are the demo's. */
async function removeCards(em: EntityManager): Promise<void> {
  await query(em, sql`delete from saved_card`);
  await query(em, sql`delete from forgotten_card`);
  await query(em, sql`update auto_top_up set enabled = false, off_reason = 'NO_CARD' where enabled`);
}

async function removeSettings(em: EntityManager, row: PaymentSettingsRow): Promise<void> {
  await query(em, sql`delete from payment_webhook_secret`);
  Object.assign(row, {
    ...{ playMoney: false, cardEnabled: false, apiAddress: 'https://api.stripe.com' },
    ...{ apiKey: null, apiKeySuffix: null, apiOrigin: null, reconciledAt: null, balanceCheckedTo: null },
    ...{ lastError: null, lastErrorAt: null, lastSuccessAt: null },
  });
  await em.flush();
}

function note(em: EntityManager, playMoney: boolean, reason: string): Promise<void> {
  const change = { before: { playMoney: !playMoney }, after: { playMoney } };
  const target = { targetType: 'PaymentSettings', targetId: null };
  return audit(em, { actor: SYSTEM_ACTOR, action: 'payments.set', ...target, ...change, reason });
}
