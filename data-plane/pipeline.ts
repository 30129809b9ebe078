/** The way of every billed request, in one function. */
import { GatewayError } from '@gateway/shared/failures';
import type { Family } from '@gateway/shared/catalog';
import { authenticate } from './authenticate.ts';
import type { Caller } from './authenticate.ts';
import { openBill } from './bill.ts';
import type { Sale } from './bill.ts';
import type { Call } from './call.ts';
import type { Services } from './services.ts';
import type { Credentials } from './authenticate.ts';
import type { CompiledRoute } from './config/config.ts';
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
  const caller = authenticate(call, sold.credentials);
  services.streams.add(caller.key.id, call.cut);
  try {
    const exchange = await sold.open(call, services);
    const { sale, routes } = findModel(call, caller, { exchange, family: sold.family });
    const bill = await openBill(call, caller, { sale, till: services });
    let failure: unknown;
    try {
      const answer = await services.upstreams.ask(call, exchange, routes);
      bill.routeId = answer.routeId;
      await answer.deliver(call.reply, bill);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      bill.close(failure);
    }
  } finally {
    services.streams.remove(caller.key.id, call.cut);
  }
}

/** The model in the caller's group and pool, its price, and the routes that serve it. */
function findModel(
  call: Call,
  caller: Caller,
  { exchange, family }: { exchange: Exchange; family: Family },
): { sale: Sale; routes: readonly CompiledRoute[] } {
  const { config } = call;
  const model = config.modelByName(exchange.model);
  const price = model?.prices[caller.key.group];
  if (!model || !price || !mayUse(caller, model.name)) throw modelNotFound(exchange.model);
  if (caller.pool && !caller.pool.models.includes(model.name)) {
    throw new GatewayError(
      'model_not_in_pool',
      `${model.name} is not among the models of this pool. Use one of those.`,
      { parameter: 'model' },
    );
  }
  const routes = config.routesFor(model.id, family);
  if (routes.length === 0) {
    throw new GatewayError(
      'model_not_found',
      `${model.name} is not offered on this endpoint. Use another one.`,
      { parameter: 'model' },
    );
  }
  exchange.checkLimits(model);
  return { sale: { model, price, family, streamed: exchange.streamed }, routes };
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
