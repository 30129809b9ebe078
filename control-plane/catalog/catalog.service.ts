/** Reads and changes the catalog: models, their states, and the price ratios of billing groups. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import { formatDollars, formatRatio, RATIO_ONE } from '@gateway/shared/money';
import type { Micros, Ratio } from '@gateway/shared/money';
import { pageByColumn } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../database/config-log.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publishMany } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { GroupRatioSchema, ModelSchema } from './model.entity.ts';
import type { GroupRatioRow, ModelRow, ModelState } from './model.entity.ts';
import { isServed, modelRecord } from './model.record.ts';
import { checkModel, checkNote, checkRetirement, valuesOf } from './model.rules.ts';
import type { ModelChange, StateChange } from './model.rules.ts';
import { DEFAULT_LIMITS, familiesOf, modalitiesOf, SEED_MODELS, SEED_RATIOS } from './seed-models.ts';

/** Maximum ratio of a group. */
const RATIO_MAX: Ratio = 10n * RATIO_ONE;
/** States of the models that everybody may see and use. */
export const PUBLIC_STATES: ModelState[] = ['PUBLISHED', 'DEPRECATED'];

/** Filters of a list of models. */
export interface CatalogQuery {
  search?: string | null;
  traits?: Trait[] | null;
  tiers?: Tier[] | null;
  families?: Family[] | null;
  maxPrice?: Micros | null;
  group?: Group | null;
  states: ModelState[];
}

/** A page of models by position and id. */
export async function findModels(
  em: EntityManager,
  filter: CatalogQuery,
  page: RowPage,
): Promise<ModelRow[]> {
  const { where, options } = pageByColumn('position', page, 'asc');
  return em.find(ModelSchema, { $and: [conditionOf(filter), where] }, options);
}

/** Number of models that match the filter. */
export function countModels(em: EntityManager, filter: CatalogQuery): Promise<number> {
  return em.count(ModelSchema, conditionOf(filter));
}

/** The model with this exact name and one of these states. */
export function modelByName(em: EntityManager, name: string, states: ModelState[]): Promise<ModelRow | null> {
  return em.findOne(ModelSchema, { name, state: { $in: states } });
}

/** The models with these ids, in any order. Unknown ids are ignored. */
export function modelsById(em: EntityManager, ids: readonly string[]): Promise<ModelRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : em.find(ModelSchema, { id: { $in: [...ids] } });
}

/** The ratios of all groups, the highest first. */
export function groupRatios(em: EntityManager): Promise<GroupRatioRow[]> {
  return em.find(GroupRatioSchema, {}, { orderBy: { ratio: 'desc', name: 'asc' } });
}

/** Creates a model as a draft, or changes one. Throws INVALID, TAKEN, NOT_FOUND, STALE_VERSION. */
export async function upsertModel(em: EntityManager, input: ModelChange, actor: Actor): Promise<ModelRow> {
  checkModel(input);
  return inTransaction(em, async (inner) => {
    const found = input.id ? await modelForChange(inner, input.id, input.version) : null;
    const named = await inner.findOne(ModelSchema, { name: input.name });
    if (named && named.id !== found?.id)
      throw new UserFailure('TAKEN', 'Another model has this name. Choose another one.', 'name');
    if (found && found.name !== input.name && found.state !== 'DRAFT') {
      throw new UserFailure(
        'INVALID',
        'The name of a published model cannot change, because clients use it. Create a new model.',
        'name',
      );
    }
    const before = found ? summary(found) : null;
    const model =
      found ??
      inner.create(ModelSchema, {
        ...valuesOf(input),
        id: newId('mdl'),
        state: 'DRAFT',
        position: await nextPosition(inner),
      });
    if (found) inner.assign(found, valuesOf(input, found));
    await inner.flush();
    await audit(inner, {
      actor,
      action: found ? 'model.update' : 'model.create',
      targetType: 'CatalogModel',
      targetId: model.id,
      before,
      after: summary(model),
      reason: input.reason,
    });
    await announceModels(inner, [model]);
    return model;
  });
}

/**
 * Publishes, deprecates or retires a model. Throws NOT_FOUND, CONFLICT if a published model would become a
 * draft, INVALID if the note is too long or the model would retire in the past.
 */
export async function setModelState(em: EntityManager, input: StateChange, actor: Actor): Promise<ModelRow> {
  checkRetirement(input, new Date());
  const note = checkNote(input.note);
  return inTransaction(em, async (inner) => {
    const model = await modelForChange(inner, input.id, 'ANY');
    if (model.state !== 'DRAFT' && input.state === 'DRAFT') {
      throw new UserFailure(
        'CONFLICT',
        'A published model cannot become a draft again. Retire it instead.',
        'state',
      );
    }
    if (input.replacementId && !(await inner.findOne(ModelSchema, { id: input.replacementId }))) {
      throw new UserFailure('NOT_FOUND', 'Unknown replacement. Choose another model.', 'replacementId');
    }
    const before = summary(model);
    model.state = input.state;
    const isDeprecated = input.state === 'DEPRECATED' || input.state === 'RETIRED';
    model.deprecatedAt = isDeprecated ? (model.deprecatedAt ?? new Date()) : null;
    model.retiresAt = isDeprecated ? (input.retiresAt ?? null) : null;
    model.replacementId = isDeprecated ? (input.replacementId ?? null) : null;
    model.deprecationNote = isDeprecated ? note : null;
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'model.set-state',
      targetType: 'CatalogModel',
      targetId: model.id,
      before,
      after: summary(model),
      reason: input.reason,
    });
    await announceModels(inner, [model]);
    return model;
  });
}

/** A change of the ratio of a group. */
export interface RatioChange {
  group: Group;
  ratio: Ratio;
  /** ANY for a change that does not depend on the earlier ratio. */
  version: number | 'ANY';
  reason: string;
}

/**
 * Sets a group's ratio and publishes the new prices of all models to nodes. Throws INVALID, STALE_VERSION.
 */
export async function setGroupRatio(
  em: EntityManager,
  input: RatioChange,
  actor: Actor,
): Promise<GroupRatioRow> {
  if (input.ratio > RATIO_MAX) throw new UserFailure('INVALID', 'Enter a ratio of at most 10.', 'ratio');
  return inTransaction(em, async (inner) => {
    const row = await inner.findOneOrFail(
      GroupRatioSchema,
      { name: input.group },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (input.version !== 'ANY' && row.version !== input.version) throw stale();
    const before = { ratio: formatRatio(row.ratio) };
    row.ratio = input.ratio;
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'group-ratio.set',
      targetType: 'GroupRatio',
      targetId: input.group,
      before,
      after: { ratio: formatRatio(row.ratio) },
      reason: input.reason,
    });
    await announceModels(inner, await inner.find(ModelSchema, { state: { $in: PUBLIC_STATES } }));
    return row;
  });
}

/** Inserts the models and ratios of a new installation, if there are none. */
export async function seedCatalog(em: EntityManager): Promise<void> {
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('seed-catalog', 0))`);
    if ((await inner.count(GroupRatioSchema)) > 0) return;
    for (const ratio of SEED_RATIOS) inner.create(GroupRatioSchema, ratio);
    const groups = SEED_RATIOS.map((ratio) => ratio.name);
    const models = SEED_MODELS.map(({ extraFamilies, ...model }, position) => {
      const families = familiesOf({ extraFamilies });
      const { input, output } = modalitiesOf(model.traits, families);
      return inner.create(ModelSchema, {
        ...model,
        id: newId('mdl'),
        families,
        groups,
        position,
        limits: DEFAULT_LIMITS,
        passUnknown: false,
        storesState: false,
        stateRetentionDays: 30,
        state: 'PUBLISHED',
        inputModalities: input,
        outputModalities: output,
      });
    });
    await inner.flush();
    await announceModels(inner, models);
  });
}

/** The audience of changes of all models, also of drafts and retired ones. */
export const CATALOG_ADMINS = 'catalog-admins';

/**
 * Publishes the models to open pages, and their records to nodes. Others than administrators get no event of
 * a model that they may not read.
 */
export async function announceModels(em: EntityManager, models: readonly ModelRow[]): Promise<void> {
  const ratios = await groupRatios(em);
  const eventsFor = (audience: string, seen: readonly ModelRow[]) => seen.map(({ id }) => ({ audience, id }));
  const shown = models.filter(({ state }) => PUBLIC_STATES.includes(state));
  const events = [...eventsFor(CATALOG_ADMINS, models), ...eventsFor(EVERYBODY, shown)];
  await publishMany(em, 'catalogUpdated', events);
  await announce(em, {
    upsert: models.filter(isServed).map((model) => modelRecord(model, ratios)),
    remove: models.filter((model) => !isServed(model)).map(({ id }) => ({ kind: 'MODEL', id })),
  });
}

/**
 * The model, locked for a change. `version` must be the current one, so that no other change is overwritten;
 * `ANY` is for changes that do not depend on earlier values. Throws NOT_FOUND, STALE_VERSION.
 */
export async function modelForChange(
  em: EntityManager,
  id: string,
  version: number | 'ANY' | null | undefined,
): Promise<ModelRow> {
  const model = await em.findOne(ModelSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!model) throw new UserFailure('NOT_FOUND', 'Unknown model. Reload the catalog.', 'id');
  if (version !== 'ANY' && model.version !== version) throw stale();
  return model;
}

function conditionOf(filter: CatalogQuery): FilterQuery<ModelRow> {
  const { search, traits, tiers, families, maxPrice, group, states } = filter;
  const text = search?.trim();
  const pattern = text ? `%${text.replace(/[\\%_]/g, '\\$&')}%` : undefined;
  return {
    state: { $in: states },
    ...(pattern && { $or: [{ name: { $ilike: pattern } }, { displayName: { $ilike: pattern } }] }),
    ...(traits?.length && { traits: { $contains: traits } }),
    ...(families?.length && { families: { $contains: families } }),
    ...(group && { groups: { $contains: [group] } }),
    ...(tiers?.length && { tier: { $in: tiers } }),
    ...(maxPrice !== null && maxPrice !== undefined && { price: { $lte: maxPrice } }),
  };
}

async function nextPosition(em: EntityManager): Promise<number> {
  const [last] = await em.find(ModelSchema, {}, { orderBy: { position: 'desc' }, limit: 1 });
  return (last?.position ?? -1) + 1;
}

/** The values of a model that the audit log records. */
function summary(model: ModelRow): Record<string, unknown> {
  const { name, displayName, tier, traits, contextTokens, groups, families, limits, state } = model;
  const price = formatDollars(model.price);
  const { passUnknown, storesState, stateRetentionDays } = model;
  const { retiresAt = null, replacementId = null } = model;
  const plain = { name, displayName, tier, traits, contextTokens, price, groups, families, limits, state };
  const stored = { storesState, stateRetentionDays };
  return { ...plain, passUnknown, ...stored, retiresAt: retiresAt?.toISOString() ?? null, replacementId };
}

function stale(): UserFailure {
  return new UserFailure(
    'STALE_VERSION',
    'Somebody else changed this meanwhile. Reload it, then repeat your change.',
    'version',
  );
}
