/**
 * Creates, changes and deletes routes from models to providers. The first route to a real provider ends the
 * demo.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { canServe } from '@gateway/shared/catalog';
import type { ProtocolName, Family } from '@gateway/shared/catalog';
import { audit } from '../audit/audit.service.ts';
import type { Micros } from '@gateway/shared/money';
import { formatDollars } from '@gateway/shared/money';
import { ModelSchema } from '../catalog/model.entity.ts';
import { announce } from '../database/config-log.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction } from '../database/sql.ts';
import { endDemoMoney } from '../payments/play.settings.ts';
import { ProviderSchema, RouteSchema } from './upstream.entity.ts';
import type { RouteRow } from './upstream.entity.ts';
import { routeRecord } from './upstream.record.ts';
import { removeProviders } from './upstream.service.ts';
import type { Change } from './upstream.service.ts';

const PRIORITY_MAX = 1000;
const WEIGHT_MAX = 10_000;
/** Largest cost of a request, in micro-USD. */
const COST_MAX: Micros = 1_000_000_000n;
const NAME_LENGTH_MAX = 200;
/** Maximum number of routes that are created together. */
const NEW_ROUTES_MAX = 100;

/** A new route, or a change of the one with this `id` and `version`. */
export interface RouteInput {
  id?: string | null;
  version?: number | 'ANY' | null;
  modelId: string;
  providerId: string;
  upstreamModel: string;
  families: Family[];
  priority: number;
  weight: number;
  /** Average cost of a request for the operator, in micro-USD; absent or null if unknown. */
  cost?: Micros | null;
  enabled: boolean;
  reason: string;
}

/** Routes of a model, of a provider, or all, in the order in which nodes use them; at most 5000. */
export function findRoutes(
  em: EntityManager,
  filter: { modelId?: string | null; providerId?: string | null },
): Promise<RouteRow[]> {
  const { modelId, providerId } = filter;
  return em.find(
    RouteSchema,
    { ...(modelId && { modelId }), ...(providerId && { providerId }) },
    { orderBy: { modelId: 'asc', priority: 'asc', id: 'asc' }, limit: 5000 },
  );
}

/** Creates or changes a route, and publishes it to nodes. Throws INVALID, NOT_FOUND, STALE_VERSION. */
export function upsertRoute(em: EntityManager, input: RouteInput, change: Change): Promise<RouteRow> {
  checkRoute(input);
  return inTransaction(em, (inner) => saveRoute(inner, input, change));
}

/** New routes to one provider, alike apart from the models. */
interface NewRoutes extends Pick<RouteInput, 'providerId' | 'families' | 'priority' | 'weight' | 'reason'> {
  routes: readonly Pick<RouteInput, 'modelId' | 'upstreamModel'>[];
}

/** Creates the routes, all or none, and publishes them to nodes. Throws INVALID, NOT_FOUND. */
export function createRoutes(em: EntityManager, input: NewRoutes, change: Change): Promise<RouteRow[]> {
  const { routes, ...common } = input;
  if (routes.length === 0 || routes.length > NEW_ROUTES_MAX)
    throw new UserFailure('INVALID', `Choose 1 to ${NEW_ROUTES_MAX} models.`, 'routes');
  const inputs = routes.map((route) => ({ ...common, ...route, enabled: true }));
  for (const each of inputs) checkRoute(each);
  return inTransaction(em, async (inner) => {
    const created: RouteRow[] = [];
    for (const each of inputs) created.push(await saveRoute(inner, each, change));
    return created;
  });
}

async function saveRoute(inner: EntityManager, input: RouteInput, change: Change): Promise<RouteRow> {
  const found = input.id ? await lockRoute(inner, input.id, input.version) : null;
  const provider = await inner.findOne(ProviderSchema, { id: input.providerId });
  if (!provider) throw new UserFailure('NOT_FOUND', 'Unknown provider. Choose another one.', 'providerId');
  checkFamilies(input.families, provider.protocols);
  if ((await inner.count(ModelSchema, { id: input.modelId })) === 0) {
    throw new UserFailure('NOT_FOUND', 'Unknown model. Choose another one.', 'modelId');
  }
  const { modelId, providerId, upstreamModel, priority, weight, enabled } = input;
  const families = [...new Set(input.families)];
  const cost = input.cost ?? null;
  const values = { modelId, providerId, upstreamModel, priority, weight, cost, enabled, families };
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

/** Deletes the demo's providers and routes, and voids the unspent part of its credit and its play money. */
async function endDemo(em: EntityManager): Promise<void> {
  const providers = await em.find(ProviderSchema, { demo: true });
  if (providers.length === 0) return;
  await endDemoMoney(em, 'The demo ended with the first real route');
  await removeProviders(em, providers);
}

/**
 * The route, locked for a change. `version` must be the current one, so that no other change is overwritten;
 * `ANY` is for changes that do not depend on earlier values. Throws NOT_FOUND, STALE_VERSION.
 */
export async function lockRoute(
  em: EntityManager,
  id: string,
  version: number | 'ANY' | null | undefined,
): Promise<RouteRow> {
  const route = await em.findOne(RouteSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!route) throw new UserFailure('NOT_FOUND', 'Unknown route. Reload the page.', 'id');
  if (version === 'ANY' || route.version === version) return route;
  throw new UserFailure(
    'STALE_VERSION',
    'The route was changed meanwhile. Reload it, then repeat your change.',
    'version',
  );
}

function checkRoute(input: RouteInput): void {
  const refuse = (field: string, message: string): never => {
    throw new UserFailure('INVALID', message, field);
  };
  const name = input.upstreamModel;
  if (!name.trim() || name.length > NAME_LENGTH_MAX || /[\s?#]/.test(name))
    refuse('upstreamModel', "Enter the provider's name of the model, without spaces, ? and #.");
  if (input.families.length === 0) refuse('families', 'Choose at least one family.');
  if (input.priority < 0 || input.priority > PRIORITY_MAX)
    refuse('priority', `Enter a priority from 0 to ${PRIORITY_MAX}.`);
  if (input.weight < 1 || input.weight > WEIGHT_MAX)
    refuse('weight', `Enter a weight from 1 to ${WEIGHT_MAX}.`);
  if (input.cost !== undefined && input.cost !== null && (input.cost < 0n || input.cost > COST_MAX))
    refuse('cost', 'Enter a cost of 0 to 1000 USD, or leave it empty.');
}

/** Throws INVALID if no protocol of the provider can serve one of the families. */
function checkFamilies(families: readonly Family[], protocols: readonly ProtocolName[]): void {
  const unserved = families.filter((family) => !canServe(family, { families, protocols }));
  if (unserved.length === 0) return;
  const message = `The provider's protocols cannot serve ${unserved.join(', ')}. Remove these families.`;
  throw new UserFailure('INVALID', message, 'families');
}

/** The values of a route that the audit log records. */
function summary(route: RouteRow): Record<string, unknown> {
  const { modelId, providerId, upstreamModel, families, priority, weight, enabled } = route;
  const cost = typeof route.cost === 'bigint' ? formatDollars(route.cost) : null;
  return { modelId, providerId, upstreamModel, families, priority, weight, cost, enabled };
}
