/**
 * The storefront: whether pools are on sale, and the terms. While it is closed, open quotes cannot be bought.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import { modelsById } from '../catalog/catalog.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { announceSettings } from '../settings-record.ts';
import type { Settings } from '../process/settings.ts';
import { inTransaction, queryOne, sql } from '../database/sql.ts';
import { STOREFRONT_ID, StorefrontSchema } from './storefront.entity.ts';
import type { StorefrontRow, StorefrontState } from './storefront.entity.ts';

const MESSAGE_LENGTH_MAX = 500;
const RPM_CAP_MAX = 100_000;
const OFFERED_MAX = 200;

/** A change by an administrator; amounts are in micro-USD, and fields that are left out stay. */
export interface StorefrontChange {
  version: number | 'ANY';
  state?: StorefrontState | null;
  message?: string | null;
  basePrice?: Micros | null;
  extraModelPrice?: Micros | null;
  rpmCap?: number | null;
  giftCredit?: Micros | null;
  offeredModelIds?: string[] | null;
  poolRequestsFree?: boolean | null;
  confirmPrices: boolean;
  reason: string;
}

/** The storefront. */
export function storefront(em: EntityManager): Promise<StorefrontRow> {
  return em.findOneOrFail(StorefrontSchema, { id: STOREFRONT_ID });
}

/**
 * The open storefront, locked against changes until the transaction ends. Throws STOREFRONT_CLOSED, with the
 * message of the administrators.
 */
export async function requireOpenStorefront(em: EntityManager): Promise<StorefrontRow> {
  const row = await em.findOneOrFail(
    StorefrontSchema,
    { id: STOREFRONT_ID },
    { lockMode: LockMode.PESSIMISTIC_READ },
  );
  if (row.state === 'OPEN') return row;
  const message = row.message ?? 'Try again when the storefront is open.';
  throw new UserFailure('STOREFRONT_CLOSED', `Dedicated pools are not on sale now. ${message}`);
}

/** The models that can be chosen for a pool, in the catalog's order. */
export function offeredModels(em: EntityManager, row: StorefrontRow): Promise<ModelRow[]> {
  const ids = row.offeredModelIds ?? null;
  return em.find(
    ModelSchema,
    { state: 'PUBLISHED', ...(ids && { id: { $in: ids } }) },
    { orderBy: { position: 'asc', id: 'asc' } },
  );
}

/** Number of valid unused quotes. */
export async function countOpenQuotes(em: EntityManager): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pool_quotes where used_at is null and expires_at > now()`,
  );
  return row?.count ?? 0;
}

/**
 * Changes the given fields; null removes the message, and offers all models as `offeredModelIds`. Throws
 * STALE_VERSION, INVALID, NOT_FOUND, and REQUIRED when the storefront is opened before the prices were
 * confirmed.
 */
export async function setStorefront(
  em: EntityManager,
  change: StorefrontChange,
  { actor, settings }: { actor: Actor; settings: Settings },
): Promise<StorefrontRow> {
  return inTransaction(em, async (inner) => {
    const row = await inner.findOneOrFail(
      StorefrontSchema,
      { id: STOREFRONT_ID },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (change.version !== 'ANY' && row.version !== change.version) throw stale();
    const before = summary(row);
    const offered = await checkOffered(inner, change.offeredModelIds);
    apply(row, change, offered);
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'storefront.set',
      targetType: 'PoolStorefront',
      targetId: null,
      before,
      after: summary(row),
      reason: change.reason,
    });
    await publish(inner, 'storefrontUpdated', { audience: EVERYBODY, id: String(STOREFRONT_ID) });
    await announceSettings(inner, settings);
    return row;
  });
}

function apply(row: StorefrontRow, change: StorefrontChange, offered: string[] | null | undefined): void {
  row.basePrice = amountOf(change.basePrice, 'basePrice') ?? row.basePrice;
  row.extraModelPrice = amountOf(change.extraModelPrice, 'extraModelPrice') ?? row.extraModelPrice;
  row.giftCredit = amountOf(change.giftCredit, 'giftCredit') ?? row.giftCredit;
  row.rpmCap = checkRpmCap(change.rpmCap ?? row.rpmCap);
  row.requestsFree = change.poolRequestsFree ?? row.requestsFree;
  if (change.message !== undefined) row.message = checkMessage(change.message);
  if (offered !== undefined) row.offeredModelIds = offered;
  if (change.confirmPrices) row.pricesConfirmedAt = new Date();
  if (change.state === 'OPEN' && !row.pricesConfirmedAt) {
    throw new UserFailure(
      'REQUIRED',
      'The prices are not confirmed yet. Review them, then open the storefront with confirmPrices.',
      'confirmPrices',
    );
  }
  row.state = change.state ?? row.state;
}

/** Returns the cap. Throws INVALID outside 1 to 100,000 requests a minute. */
export function checkRpmCap(rpmCap: number): number {
  if (rpmCap >= 1 && rpmCap <= RPM_CAP_MAX) return rpmCap;
  throw new UserFailure('INVALID', `Set a cap of 1 to ${RPM_CAP_MAX} requests a minute.`, 'rpmCap');
}

async function checkOffered(
  em: EntityManager,
  ids: string[] | null | undefined,
): Promise<string[] | null | undefined> {
  if (ids === null || ids === undefined) return ids;
  const unique = [...new Set(ids)];
  if (unique.length === 0 || unique.length > OFFERED_MAX)
    throw new UserFailure(
      'INVALID',
      `Offer 1 to ${OFFERED_MAX} models, or send null for all.`,
      'offeredModelIds',
    );
  if ((await modelsById(em, unique)).length === unique.length) return unique;
  throw new UserFailure('NOT_FOUND', 'One of these models is unknown. Check the ids.', 'offeredModelIds');
}

function amountOf(amount: Micros | null | undefined, field: string): Micros | undefined {
  if (amount === null || amount === undefined) return undefined;
  if (amount >= 0n) return amount;
  throw new UserFailure('INVALID', 'The amount must be zero or more.', field);
}

function checkMessage(message: string | null): string | null {
  const trimmed = message?.trim() || null;
  if (!trimmed || trimmed.length <= MESSAGE_LENGTH_MAX) return trimmed;
  throw new UserFailure('INVALID', `Shorten the message to ${MESSAGE_LENGTH_MAX} characters.`, 'message');
}

/** The fields of the storefront for the audit log. */
function summary(row: StorefrontRow): Record<string, unknown> {
  const { state, message, basePrice, extraModelPrice, rpmCap, giftCredit, offeredModelIds } = row;
  const { requestsFree, pricesConfirmedAt } = row;
  return {
    ...{ state, message, rpmCap, offeredModelIds },
    basePrice: formatDollars(basePrice),
    extraModelPrice: formatDollars(extraModelPrice),
    giftCredit: formatDollars(giftCredit),
    ...{ requestsFree, pricesConfirmedAt: pricesConfirmedAt?.toISOString() ?? null },
  };
}

function stale(): UserFailure {
  return new UserFailure(
    'STALE_VERSION',
    'The storefront has changed meanwhile. Read it again, then repeat the change.',
    'version',
  );
}
