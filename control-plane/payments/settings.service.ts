/** Settings of payments by card: reads and changes them, with secrets sealed like upstream credentials. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import { PAYMENT_PRESETS_MAX, WEBHOOK_SECRETS_MAX } from '../limits.ts';
import { checkBaseUrl } from '../upstreams/address-guard.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import { checkCents } from './amount.rules.ts';
import { PAYMENT_SETTINGS_ID, PaymentSettingsSchema } from './settings.entity.ts';
import type { PaymentSettingsRow } from './settings.entity.ts';

const SECRET_LENGTH_MIN = 12;
const SECRET_LENGTH_MAX = 4096;
const LABEL_LENGTH_MAX = 80;
const TAX_CODE = /^txcd_\d{8}$/;
const SUFFIX_LENGTH = 4;

const KEY_LOCATION = { table: 'payment_settings', id: String(PAYMENT_SETTINGS_ID), field: 'api_key' };

/** A change by an administrator; amounts are in micro-USD, and fields that are left out stay. */
export interface PaymentSettingsChange {
  version: number | 'ANY';
  cardEnabled?: boolean | null;
  apiAddress?: string | null;
  apiKey?: string | null;
  managedPayments?: boolean | null;
  automaticTax?: boolean | null;
  stablecoins?: boolean | null;
  taxCode?: string | null;
  amountMin?: Micros | null;
  amountMax?: Micros | null;
  dailyMax?: Micros | null;
  presets?: Micros[] | null;
  reason: string;
}

/** The administrator who changes the settings, and the settings of the installation. */
export interface SettingsChange {
  actor: Actor;
  settings: { secretKey: string; allowPrivateUpstreams: boolean };
}

/** A webhook secret without the secret. */
export interface WebhookSecretView {
  id: string;
  label: string;
  suffix: string;
  createdAt: Date;
}

/** The settings. */
export function paymentSettings(em: EntityManager): Promise<PaymentSettingsRow> {
  return em.findOneOrFail(PaymentSettingsSchema, { id: PAYMENT_SETTINGS_ID }, { refresh: true });
}

/** Whether customers can pay by card now. */
export function offersCard({ cardEnabled, apiKey }: PaymentSettingsRow): boolean {
  return cardEnabled && Boolean(apiKey);
}

/** The API key; null without one. Throws if SECRET_KEY is not the one that sealed it. */
export function apiKeyOf({ apiKey }: PaymentSettingsRow, secretKey: string): string | null {
  return apiKey ? decryptSecret(secretKey, apiKey, KEY_LOCATION) : null;
}

/** The secrets of the webhook, oldest first, for administrators. */
export async function webhookSecrets(em: EntityManager): Promise<WebhookSecretView[]> {
  const rows = await query<{ id: string; label: string; suffix: string; created_at: string }>(
    em,
    sql`select id, label, suffix, created_at from payment_webhook_secret order by id`,
  );
  return rows.map(({ id, label, suffix, created_at: at }) => ({ id, label, suffix, createdAt: toDate(at) }));
}

/** The secrets with which events may be signed, newest first. */
export async function signingSecrets(em: EntityManager, secretKey: string): Promise<string[]> {
  const rows = await query<{ id: string; sealed: string }>(
    em,
    sql`select id, sealed from payment_webhook_secret order by id desc`,
  );
  return rows.map(({ id, sealed }) => decryptSecret(secretKey, sealed, secretLocation(id)));
}

/**
 * Changes the settings. Throws STALE_VERSION, INVALID, CONFLICT (a processor beside the demo's), and REQUIRED
 * if payments by card are enabled without key and webhook secret, or another address comes without its key.
 */
export async function setPaymentSettings(
  em: EntityManager,
  change: PaymentSettingsChange,
  { actor, settings }: SettingsChange,
): Promise<PaymentSettingsRow> {
  const address = await checkAddress(change.apiAddress, settings.allowPrivateUpstreams);
  return inTransaction(em, async (inner) => {
    const row = await lockSettings(inner);
    if (change.version !== 'ANY' && row.version !== change.version) throw stale();
    if (address !== undefined || change.apiKey) refuseInDemo(row);
    const before = summary(row);
    applyAmounts(row, change);
    applySwitches(row, change);
    if (address !== undefined) row.apiAddress = address;
    if (change.apiKey) applyKey(row, checkSecret(change.apiKey, 'apiKey'), settings.secretKey);
    checkKeyAddress(row);
    row.cardEnabled = change.cardEnabled ?? row.cardEnabled;
    if (row.cardEnabled) await checkComplete(inner, row);
    await inner.flush();
    await auditSettings(inner, { actor, before, after: summary(row), reason: change.reason });
    return row;
  });
}

/** Adds a secret of the webhook. Throws INVALID, CONFLICT in a demo, and LIMIT_REACHED beyond ten secrets. */
export async function addWebhookSecret(
  em: EntityManager,
  input: { label: string; secret: string; reason: string },
  { actor, settings }: SettingsChange,
): Promise<PaymentSettingsRow> {
  const secret = checkSecret(input.secret, 'secret');
  const label = input.label.trim();
  if (!label || label.length > LABEL_LENGTH_MAX)
    throw new UserFailure('INVALID', `Give a name of at most ${LABEL_LENGTH_MAX} characters.`, 'label');
  return inTransaction(em, async (inner) => {
    const row = await lockSettings(inner);
    refuseInDemo(row);
    if ((await webhookSecrets(inner)).length >= WEBHOOK_SECRETS_MAX)
      throw new UserFailure('LIMIT_REACHED', `There are ${WEBHOOK_SECRETS_MAX} secrets. Remove one first.`);
    const stored = await storeWebhookSecret(inner, { label, secret, secretKey: settings.secretKey });
    const after = { webhookSecret: stored };
    await auditSettings(inner, { actor, before: null, after, reason: input.reason });
    return row;
  });
}

/** Seals and stores a secret of the webhook. Returns what is shown of it. */
export async function storeWebhookSecret(
  em: EntityManager,
  { label, secret, secretKey }: { label: string; secret: string; secretKey: string },
): Promise<{ id: string; label: string; suffix: string }> {
  const id = newId('whs');
  const sealed = encryptSecret(secretKey, secret, secretLocation(id));
  const suffix = secret.slice(-SUFFIX_LENGTH);
  await query(
    em,
    sql`insert into payment_webhook_secret (id, label, suffix, sealed)
    values (${id}, ${label}, ${suffix}, ${sealed})`,
  );
  return { id, label, suffix };
}

/**
 * Removes a secret of the webhook. Throws NOT_FOUND, and CONFLICT for the last one while payments by card are
 * enabled.
 */
export async function removeWebhookSecret(
  em: EntityManager,
  input: { id: string; reason: string },
  { actor }: SettingsChange,
): Promise<PaymentSettingsRow> {
  return inTransaction(em, async (inner) => {
    const row = await lockSettings(inner);
    refuseInDemo(row);
    const removed = await queryOne<{ label: string; suffix: string }>(
      inner,
      sql`delete from payment_webhook_secret where id = ${input.id} returning label, suffix`,
    );
    if (!removed) throw new UserFailure('NOT_FOUND', 'Unknown secret. Reload the page.', 'id');
    if (row.cardEnabled && (await webhookSecrets(inner)).length === 0) {
      const message = 'Payments need a webhook secret. Add another one first, or disable payments by card.';
      throw new UserFailure('CONFLICT', message, 'id');
    }
    const before = { webhookSecret: { id: input.id, ...removed } };
    await auditSettings(inner, { actor, before, after: null, reason: input.reason });
    return row;
  });
}

/** The settings, locked until the transaction ends. */
export function lockSettings(em: EntityManager): Promise<PaymentSettingsRow> {
  const where = { id: PAYMENT_SETTINGS_ID };
  return em.findOneOrFail(PaymentSettingsSchema, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Throws CONFLICT while the demo takes play money, whose processor is never mixed with a real one. */
function refuseInDemo({ playMoney }: PaymentSettingsRow): void {
  if (playMoney)
    throw new UserFailure('CONFLICT', 'The demo takes play money. Add a route to a real provider first.');
}

function applyAmounts(row: PaymentSettingsRow, change: PaymentSettingsChange): void {
  row.amountMin = checkCents(change.amountMin ?? row.amountMin, 'amountMin');
  row.amountMax = checkCents(change.amountMax ?? row.amountMax, 'amountMax');
  row.dailyMax = checkCents(change.dailyMax ?? row.dailyMax, 'dailyMax');
  const presets = (change.presets ?? row.presets).map((amount) => checkCents(amount, 'presets'));
  if (row.amountMin > row.amountMax || row.amountMax > row.dailyMax) {
    const message = 'The smallest amount must not exceed the largest one, nor that the sum of a day.';
    throw new UserFailure('INVALID', message, 'amountMax');
  }
  const isInside = (amount: Micros): boolean => amount >= row.amountMin && amount <= row.amountMax;
  if (presets.length > PAYMENT_PRESETS_MAX || !presets.every(isInside)) {
    const message = `Suggest at most ${PAYMENT_PRESETS_MAX} amounts, each within the limits of a top-up.`;
    throw new UserFailure('INVALID', message, 'presets');
  }
  row.presets = presets;
}

function applySwitches(row: PaymentSettingsRow, change: PaymentSettingsChange): void {
  row.managedPayments = change.managedPayments ?? row.managedPayments;
  row.automaticTax = change.automaticTax ?? row.automaticTax;
  row.stablecoins = change.stablecoins ?? row.stablecoins;
  if (change.taxCode === undefined) return;
  if (change.taxCode !== null && !TAX_CODE.test(change.taxCode)) {
    const message = 'Enter a tax code of the processor, such as txcd_10103001, or none.';
    throw new UserFailure('INVALID', message, 'taxCode');
  }
  row.taxCode = change.taxCode;
}

/** Stores the key, and the present address as the only one to which it is sent. */
export function applyKey(row: PaymentSettingsRow, key: string, secretKey: string): void {
  row.apiKey = encryptSecret(secretKey, key, KEY_LOCATION);
  row.apiKeySuffix = key.slice(-SUFFIX_LENGTH);
  row.apiOrigin = row.apiAddress;
}

/** The key is sent only to the address for which it was entered. */
function checkKeyAddress({ apiKey, apiAddress, apiOrigin }: PaymentSettingsRow): void {
  if (!apiKey || apiAddress === apiOrigin) return;
  const message = 'Enter the API key again: it is sent only to the address for which it was entered.';
  throw new UserFailure('REQUIRED', message, 'apiKey');
}

async function checkComplete(em: EntityManager, row: PaymentSettingsRow): Promise<void> {
  if (!row.apiKey)
    throw new UserFailure('REQUIRED', 'Enter the API key before you enable payments by card.', 'apiKey');
  if ((await webhookSecrets(em)).length > 0) return;
  throw new UserFailure(
    'REQUIRED',
    'Add a webhook secret before you enable payments by card.',
    'cardEnabled',
  );
}

async function checkAddress(
  text: string | null | undefined,
  allowPrivate: boolean,
): Promise<string | undefined> {
  if (text === null || text === undefined) return undefined;
  const address = await checkBaseUrl(text, allowPrivate);
  if (address === new URL(address).origin) return address;
  throw new UserFailure('INVALID', 'Enter the origin alone, without a path.', 'apiAddress');
}

function checkSecret(text: string, field: string): string {
  const secret = text.trim();
  const isSized = secret.length >= SECRET_LENGTH_MIN && secret.length <= SECRET_LENGTH_MAX;
  if (isSized && !/[^\x21-\x7e]/.test(secret)) return secret;
  const sizes = `${SECRET_LENGTH_MIN} to ${SECRET_LENGTH_MAX}`;
  throw new UserFailure('INVALID', `Enter a secret of ${sizes} printable ASCII characters.`, field);
}

interface AuditParts {
  actor: Actor;
  before: unknown;
  after: unknown;
  reason: string;
}

function auditSettings(em: EntityManager, parts: AuditParts): Promise<void> {
  return audit(em, { ...parts, action: 'payments.set', targetType: 'PaymentSettings', targetId: null });
}

/** The fields of the settings for the audit log, without secrets. */
function summary(row: PaymentSettingsRow): Record<string, unknown> {
  const { cardEnabled, apiAddress, managedPayments, automaticTax, stablecoins } = row;
  return {
    ...{ cardEnabled, apiAddress, managedPayments, automaticTax, stablecoins },
    apiKeySuffix: row.apiKeySuffix ?? null,
    taxCode: row.taxCode ?? null,
    amountMin: formatDollars(row.amountMin),
    amountMax: formatDollars(row.amountMax),
    dailyMax: formatDollars(row.dailyMax),
    presets: row.presets.map(formatDollars),
  };
}

function secretLocation(id: string): { table: string; id: string; field: string } {
  return { table: 'payment_webhook_secret', id, field: 'secret' };
}

function stale(): UserFailure {
  const message = 'The settings have changed meanwhile. Read them again, then repeat the change.';
  return new UserFailure('STALE_VERSION', message, 'version');
}
