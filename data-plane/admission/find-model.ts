/** Finds the model that a request names: its price for the caller, and the routes that serve it. */
import { FAMILIES, isChatFamily } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { GroupPriceRecord } from '@gateway/shared/records';
import type { Call } from '../call/call.ts';
import type { CompiledRoute, Config, SoldModel } from '../config/config.ts';
import type { Caller } from './authenticate.ts';

/** A model and its price in the caller's group. */
export interface PricedModel {
  model: SoldModel;
  price: GroupPriceRecord;
}

/** A priced model and the routes that can serve the requested family, never none. */
interface FoundModel extends PricedModel {
  routes: readonly CompiledRoute[];
}

/**
 * The model by this name with its price and its routes for the family. Throws `model_not_found`,
 * `model_not_in_pool`, `not_implemented` for a model without web search, and `unavailable` if a pool bought
 * the model and no upstream serves it any more, or if no upstream of it may get the request.
 */
export function findModel(
  { config }: Call,
  caller: Caller,
  { name, family }: { name: string; family: Family },
): FoundModel {
  const { model, price } = findPricedModel(config, caller, name);
  const routes = routesOf(config, model, family);
  if (routes.length === 0)
    throw caller.pool ? noLongerServed(config, model, family) : notOffered(config, model, family);
  return { model, price, routes: permittedRoutes(routes, caller, model) };
}

/** The routes to the upstreams that may get the request. Throws `unavailable` if there is none. */
function permittedRoutes(
  routes: readonly CompiledRoute[],
  { providerIds }: Caller,
  { name }: SoldModel,
): readonly CompiledRoute[] {
  if (!providerIds) return routes;
  const permitted = routes.filter(({ provider }) => providerIds.includes(provider.id));
  if (permitted.length > 0) return permitted;
  throw new GatewayError(
    'unavailable',
    `The upstreams of ${name} have changed. They may not get notes about you. Send the message again.`,
  );
}

/**
 * The model by this name and its price, with or without routes. Throws `model_not_found`,
 * `model_not_in_pool`.
 */
export function findPricedModel(config: Config, caller: Caller, name: string): PricedModel {
  const model = modelByName(config, caller, name);
  const price = priceFor(caller, model);
  if (!price) throw modelNotFound(name);
  return { model, price };
}

/** Every model that the caller may use: of its pool, or of the catalog. */
export function usableModels(config: Config, caller: Caller): SoldModel[] {
  const sold: Iterable<SoldModel> = caller.pool ? caller.pool.models : config.models();
  return [...sold].filter((model) => priceFor(caller, model) !== undefined);
}

/**
 * The price in the caller's group; undefined if the model has none there, or the key may not use the model.
 */
function priceFor({ key }: Caller, { name, prices }: SoldModel): GroupPriceRecord | undefined {
  const isAllowed = key.allowedModels === null || key.allowedModels.includes(name);
  return isAllowed ? prices[key.group] : undefined;
}

/** A pool sells the copies that were frozen when it was bought, even if the catalog has changed since. */
function modelByName(config: Config, { pool }: Caller, name: string): SoldModel {
  const model = pool ? pool.models.find((copy) => copy.name === name) : config.modelByName(name);
  if (model) return model;
  if (!pool || !config.modelByName(name)) throw modelNotFound(name);
  throw new GatewayError(
    'model_not_in_pool',
    `${name} is not among the models of this pool. GET /v1/models lists them.`,
    { parameter: 'model' },
  );
}

/** Any chat route could serve search or compaction, so these two must also be sold with the model. */
function routesOf(config: Config, model: SoldModel, family: Family): readonly CompiledRoute[] {
  if ((family === 'search' || family === 'compact') && !model.families.includes(family)) return [];
  return config.routesFor(model.id, family);
}

/** A pool bought the model, so a missing upstream is the operator's failure: 503 instead of 404. */
function noLongerServed(config: Config, model: SoldModel, family: Family): GatewayError {
  const isSold =
    model.families.includes(family) || (isChatFamily(family) && model.families.some(isChatFamily));
  if (!isSold) return notOffered(config, model, family);
  return new GatewayError(
    'unavailable',
    `No upstream serves ${model.name} any more. Ask the operator of the gateway.`,
  );
}

function notOffered(config: Config, model: SoldModel, family: Family): GatewayError {
  const served = FAMILIES.filter((other) => routesOf(config, model, other).length > 0);
  const instead = served.length > 0 ? `It serves: ${served.join(', ')}.` : 'It is not served at all now.';
  if (family !== 'search') {
    const message = `${model.name} is not offered on this endpoint. ${instead}`;
    return new GatewayError('model_not_found', message, { parameter: 'model' });
  }
  // Agents continue without search after a 501, and give up after a 404.
  return new GatewayError('not_implemented', `Web search is not available with ${model.name}. ${instead}`);
}

/** Repeats the client's text only if it looks like a model name. */
function modelNotFound(name: string): GatewayError {
  const shown = /^[\w.:/-]{1,100}$/.test(name) ? `"${name}"` : 'of that name';
  return new GatewayError('model_not_found', `There is no model ${shown}. GET /v1/models lists the names.`, {
    parameter: 'model',
  });
}
