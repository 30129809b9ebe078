/** Routes from models to providers. The first one to a real provider ends the demo. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { canServe } from '@gateway/shared/catalog';
import type { DialectName, Family } from '@gateway/shared/catalog';
import { audit } from '../audit/audit.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import { announce } from '../config-log.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction } from '../sql.ts';
import { voidGift } from '../wallet/gift.void.ts';
import { ProviderSchema, RouteSchema } from './upstream.entity.ts';
import type { RouteRow } from './upstream.entity.ts';
import { routeRecord } from './upstream.record.ts';
import { removeProviders } from './upstream.service.ts';
import type { Change } from './upstream.service.ts';

const PRIORITY_MAX = 1000;
const WEIGHT_MAX = 10_000;
const NAME_LENGTH_MAX = 200;
/** The ledger reference under which a demo's credit was given. */
const DEMO_CREDIT = 'demo:credit';

export interface RouteInput {
  id?: string | null;
  version?: number | null;
  modelId: string;
  providerId: string;
  upstreamModel: string;
  families: Family[];
  priority: number;
  weight: number;
  enabled: boolean;
  reason: string;
}

/** Routes of a model, of a provider, or all; in the order nodes ask them. */
export function findRoutes(
  em: EntityManager,
  wanted: { modelId?: string | null; providerId?: string | null },
): Promise<RouteRow[]> {
  const { modelId, providerId } = wanted;
  return em.find(
    RouteSchema,
    { ...(modelId && { modelId }), ...(providerId && { providerId }) },
    { orderBy: { modelId: 'asc', priority: 'asc', id: 'asc' }, limit: 5000 },
  );
}

/** Makes or changes a route. Throws INVALID, NOT_FOUND, STALE_VERSION. */
export async function upsertRoute(em: EntityManager, input: RouteInput, change: Change): Promise<RouteRow> {
  checkRoute(input);
  return inTransaction(em, async (inner) => {
    const found = input.id ? await lockRoute(inner, input.id, input.version) : null;
    const provider = await inner.findOne(ProviderSchema, { id: input.providerId });
    if (!provider) throw new UserFailure('NOT_FOUND', 'There is no such provider.', 'providerId');
    checkFamilies(input.families, provider.protocols);
    if ((await inner.count(ModelSchema, { id: input.modelId })) === 0) {
      throw new UserFailure('NOT_FOUND', 'There is no such model.', 'modelId');
    }
    const { modelId, providerId, upstreamModel, priority, weight, enabled } = input;
    const values = {
      modelId,
      providerId,
      upstreamModel,
      priority,
      weight,
      enabled,
      families: [...new Set(input.families)],
    };
    const before = found ? summary(found) : null;
    const route = found ?? inner.create(RouteSchema, { id: newId('rte'), ...values });
    if (found) inner.assign(found, values);
    await inner.flush();
    await audit(inner, {
      actor: change.actor,
      action: found ? 'route.update' : 'route.create',
      targetType: 'UpstreamRoute',
      targetId: route.id,
      before,
      after: summary(route),
      reason: input.reason,
    });
    if (!provider.demo) await endDemo(inner);
    const isLive = route.enabled && provider.enabled;
    await announce(
      inner,
      isLive ? { upsert: [routeRecord(route)] } : { remove: [{ kind: 'ROUTE', id: route.id }] },
    );
    return route;
  });
}

/** Deletes a route. Throws NOT_FOUND. */
export async function deleteRoute(
  em: EntityManager,
  input: { id: string; reason: string },
  change: Change,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const route = await lockRoute(inner, input.id, 'ANY');
    await audit(inner, {
      actor: change.actor,
      action: 'route.delete',
      targetType: 'UpstreamRoute',
      targetId: route.id,
      before: summary(route),
      reason: input.reason,
    });
    inner.remove(route);
    await inner.flush();
    await announce(inner, { remove: [{ kind: 'ROUTE', id: route.id }] });
  });
}

/** Takes the demo's providers and routes away, and exactly what is unspent of its credit. */
async function endDemo(em: EntityManager): Promise<void> {
  const providers = await em.find(ProviderSchema, { demo: true });
  if (providers.length === 0) return;
  await voidGift(em, { reference: DEMO_CREDIT, description: 'The demo ended with the first real route' });
  await removeProviders(em, providers);
}

/** `ANY` is for changes that overwrite nothing; whoever read no version cannot know what is overwritten. */
async function lockRoute(
  em: EntityManager,
  id: string,
  version: number | 'ANY' | null | undefined,
): Promise<RouteRow> {
  const route = await em.findOne(RouteSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!route) throw new UserFailure('NOT_FOUND', 'There is no such route.', 'id');
  if (version === 'ANY' || route.version === version) return route;
  throw new UserFailure(
    'STALE_VERSION',
    'The route changed meanwhile. Read it again, then repeat the change.',
    'version',
  );
}

function checkRoute(input: RouteInput): void {
  const refuse = (field: string, message: string): never => {
    throw new UserFailure('INVALID', message, field);
  };
  const name = input.upstreamModel;
  if (!name.trim() || name.length > NAME_LENGTH_MAX || /[\s?#]/.test(name))
    refuse('upstreamModel', 'Not the name of a model.');
  if (input.families.length === 0) refuse('families', 'Name at least one family.');
  if (input.priority < 0 || input.priority > PRIORITY_MAX)
    refuse('priority', `A priority lies between 0 and ${PRIORITY_MAX}.`);
  if (input.weight < 1 || input.weight > WEIGHT_MAX)
    refuse('weight', `A weight lies between 1 and ${WEIGHT_MAX}.`);
}

/** A family that no format of the provider can serve would be offered and never answered. */
function checkFamilies(families: readonly Family[], protocols: readonly DialectName[]): void {
  const useless = families.filter((family) => !canServe(family, { families, protocols }));
  if (useless.length === 0) return;
  const message = `The provider's protocols cannot serve ${useless.join(', ')}.`;
  throw new UserFailure('INVALID', message, 'families');
}

function summary(route: RouteRow): Record<string, unknown> {
  const { modelId, providerId, upstreamModel, families, priority, weight, enabled } = route;
  return { modelId, providerId, upstreamModel, families, priority, weight, enabled };
}
