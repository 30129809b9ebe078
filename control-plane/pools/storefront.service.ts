/** The storefront: whether pools are on sale and on which terms. One row; closing it refuses open quotes. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import { modelsById } from '../catalog/catalog.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { EVERYBODY, publish } from '../events.ts';
import { announceSettings } from '../settings-record.ts';
import type { Settings } from '../settings.ts';
import { inTransaction, queryOne, sql } from '../sql.ts';
import { STOREFRONT_ID, StorefrontSchema } from './storefront.entity.ts';
import type { StorefrontRow, StorefrontState } from './storefront.entity.ts';

const MESSAGE_LENGTH_MAX = 500;
const RPM_CAP_MAX = 100_000;
const OFFERED_MAX = 200;

export interface StorefrontChange {
  version: number;
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

/** The storefront as it stands. */
export function storefront(em: EntityManager): Promise<StorefrontRow> {
  return em.findOneOrFail(StorefrontSchema, { id: STOREFRONT_ID });
}

/**
 * The storefront, which cannot change before the transaction ends. Throws STOREFRONT_CLOSED, with what the
 * administrators say about it.
 */
export async function openStorefront(em: EntityManager): Promise<StorefrontRow> {
  const row = await em.findOneOrFail(
    StorefrontSchema,
    { id: STOREFRONT_ID },
    { lockMode: LockMode.PESSIMISTIC_READ },
  );
  if (row.state === 'OPEN') return row;
  const said = row.message ? ` ${row.message}` : '';
  throw new UserFailure('STOREFRONT_CLOSED', `Dedicated pools are not on sale now.${said}`);
}

/** The models that a pool may be made of, in the catalog's order. */
export function offeredModels(em: EntityManager, row: StorefrontRow): Promise<ModelRow[]> {
  const ids = row.offeredModelIds ?? null;
  return em.find(
    ModelSchema,
    { state: 'PUBLISHED', ...(ids && { id: { $in: ids } }) },
    { orderBy: { position: 'asc', id: 'asc' } },
  );
}

/** How many quotes could still be bought. */
export async function countOpenQuotes(em: EntityManager): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from pool_quotes where used_at is null and expires_at > now()`,
  );
  return row?.count ?? 0;
}

/**
 * Changes what is given; a message of null takes it away, no list of models offers all. Throws
 * STALE_VERSION, INVALID, NOT_FOUND, and REQUIRED for opening the first time without standing by the prices.
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
    if (row.version !== change.version) throw stale();
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
      'Nobody has confirmed these prices yet. Look at them, then open with confirmPrices.',
      'confirmPrices',
    );
  }
  row.state = change.state ?? row.state;
}

/** The cap itself. Throws INVALID outside 1 to 100,000 requests a minute. */
export function checkRpmCap(rpmCap: number): number {
  if (rpmCap >= 1 && rpmCap <= RPM_CAP_MAX) return rpmCap;
  throw new UserFailure('INVALID', `A cap lies between 1 and ${RPM_CAP_MAX} requests a minute.`, 'rpmCap');
}

async function checkOffered(
  em: EntityManager,
  ids: string[] | null | undefined,
): Promise<string[] | null | undefined> {
  if (ids === null || ids === undefined) return ids;
  const unique = [...new Set(ids)];
  if (unique.length === 0 || unique.length > OFFERED_MAX)
    throw new UserFailure('INVALID', 'Name the models on offer, or none at all for all.', 'offeredModelIds');
  if ((await modelsById(em, unique)).length === unique.length) return unique;
  throw new UserFailure('NOT_FOUND', 'One of these models does not exist.', 'offeredModelIds');
}

function amountOf(amount: Micros | null | undefined, field: string): Micros | undefined {
  if (amount === null || amount === undefined) return undefined;
  if (amount >= 0n) return amount;
  throw new UserFailure('INVALID', 'An amount is not below zero.', field);
}

function checkMessage(message: string | null): string | null {
  const trimmed = message?.trim() || null;
  if (!trimmed || trimmed.length <= MESSAGE_LENGTH_MAX) return trimmed;
  throw new UserFailure('INVALID', `A message has at most ${MESSAGE_LENGTH_MAX} characters.`, 'message');
}

/** What the audit log keeps of the storefront. */
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
    'Somebody changed the storefront meanwhile. Read it again, then repeat the change.',
    'version',
  );
}
