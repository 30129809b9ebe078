/** The way of every billed request, in one function. */
import { GatewayError } from '@gateway/shared/failures';
import { FAMILIES, isChatFamily } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import { callerOf } from './rate.ts';
import type { Caller } from './authenticate.ts';
import { openBill } from './bill.ts';
import type { Bill, Sale } from './bill.ts';
import type { Call } from './call.ts';
import { claimKey, fingerprinted } from './claim.ts';
import type { Services } from './services.ts';
import type { Credentials } from './authenticate.ts';
import type { CompiledRoute, Config, SoldModel } from './config/config.ts';
import type { Exchange } from './exchange/exchange.ts';

/** What a row of the endpoint table says about a billed route. */
export interface Sold {
  family: Family;
  credentials: Credentials;
  /** Reads the request just far enough to know what it wants. */
  open(call: Call, services: Services): Promise<Exchange>;
}

/**
 * Authenticates, asks the upstreams in order, delivers and bills. Throws whatever could not be told to the
 * client yet.
 */
export async function serve(call: Call, sold: Sold, services: Services): Promise<void> {
  const caller = callerOf(call, sold.credentials, services);
  services.streams.add(caller.key.id, call.cut);
  try {
    const read = fingerprinted(call);
    const exchange = await sold.open(read.call, services);
    const { model, price, routes } = findModel(call, caller, { name: exchange.model, family: sold.family });
    exchange.checkLimits(model);
    const { walletId } = caller.key;
    const claimed = { walletId, fingerprint: read.fingerprint() };
    const claim = await claimKey(call, claimed, services.claims);
    const sale = { model, price, family: sold.family, streamed: exchange.streamed };
    let bill: Bill | undefined;
    let failure: unknown;
    try {
      bill = await openBill(call, caller, { sale, till: services });
      const answer = await services.upstreams.ask(call, exchange, { routes, witness: bill });
      bill.routeId = answer.routeId;
      await answer.deliver(call.reply, bill);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      bill?.close(failure);
      claim?.end(bill?.charged === true);
    }
  } finally {
    services.streams.remove(caller.key.id, call.cut);
  }
}

/** What a model costs the caller, and who serves it. */
export interface Found extends Pick<Sale, 'model' | 'price'> {
  routes: readonly CompiledRoute[];
}

/**
 * The model in the caller's group and pool, its price, and the routes that serve the family. Throws
 * `model_not_found`, `model_not_in_pool`.
 */
export function findModel(
  { config }: Call,
  caller: Caller,
  { name, family }: { name: string; family: Family },
): Found {
  const { model, price } = findSold(config, caller, name);
  const routes = routesOf(config, model, family);
  if (routes.length === 0)
    throw caller.pool ? gone(config, model, family) : notOffered(config, model, family);
  return { model, price, routes };
}

/**
 * The model and its price in the caller's group and pool, served or not. Throws `model_not_found`,
 * `model_not_in_pool`.
 */
export function findSold(config: Config, caller: Caller, name: string): Pick<Sale, 'model' | 'price'> {
  const model = modelOf(config, caller, name);
  const price = model.prices[caller.key.group];
  if (!price || !mayUse(caller, model.name)) throw modelNotFound(name);
  return { model, price };
}

/** A pool sells the copies that were frozen for it, whatever became of the catalog. */
function modelOf(config: Config, { pool }: Caller, name: string): SoldModel {
  const model = pool ? pool.models.find((copy) => copy.name === name) : config.modelByName(name);
  if (model) return model;
  if (!pool || !config.modelByName(name)) throw modelNotFound(name);
  throw new GatewayError(
    'model_not_in_pool',
    `${name} is not among the models of this pool. Use one of those.`,
    { parameter: 'model' },
  );
}

/** Any chat model could search or compact; only those sold for it do. */
function routesOf(config: Config, model: SoldModel, family: Family): readonly CompiledRoute[] {
  if ((family === 'search' || family === 'compact') && !model.families.includes(family)) return [];
  return config.routesFor(model.id, family);
}

/** What a pool bought and no upstream serves any more is our fault, not the client's. */
function gone(config: Config, model: SoldModel, family: Family): GatewayError {
  const isSold =
    model.families.includes(family) || (isChatFamily(family) && model.families.some(isChatFamily));
  if (!isSold) return notOffered(config, model, family);
  return new GatewayError(
    'unavailable',
    `No upstream serves ${model.name} any more. Ask the operator, who was told of it too.`,
  );
}

function notOffered(config: Config, model: SoldModel, family: Family): GatewayError {
  const served = FAMILIES.filter((other) => routesOf(config, model, other).length > 0);
  const instead = served.length > 0 ? `It serves: ${served.join(', ')}.` : 'It is not served at all now.';
  if (family !== 'search') {
    const message = `${model.name} is not offered on this endpoint. ${instead}`;
    return new GatewayError('model_not_found', message, { parameter: 'model' });
  }
  // Agents go on without a search after a 501, and give up after a 404.
  return new GatewayError('not_implemented', `Web search is not available with ${model.name}. ${instead}`);
}

function mayUse({ key }: Caller, name: string): boolean {
  return key.allowedModels === null || key.allowedModels.includes(name);
}

/** What a client sent as a name is repeated only where it looks like one. */
function modelNotFound(name: string): GatewayError {
  const shown = /^[\w.:/-]{1,100}$/.test(name) ? `"${name}"` : 'of that name';
  return new GatewayError('model_not_found', `There is no model ${shown}. GET /v1/models lists the names.`, {
    parameter: 'model',
  });
}
