/** Admits a request: finds the caller and the model, and checks what one flat price of the model includes. */
import type { Family } from '@gateway/shared/catalog';
import type { Call } from '../call/call.ts';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import type { Services } from '../services.ts';
import type { Caller, Credentials } from './authenticate.ts';
import { identifyCaller } from './caller.ts';
import { findModel } from './find-model.ts';
import type { PricedModel } from './find-model.ts';
import { Slot } from './slot.ts';

/** A billed request, of which only the model and the members that affect price and limits are parsed. */
export interface BilledRequest {
  /** The catalog name that the client sent. */
  readonly model: string;
  readonly streamed: boolean;
  /**
   * Throws `invalid_request` if the request exceeds the limits that the flat price of this model includes.
   */
  checkLimits(model: SoldModel): void;
  /**
   * The routes among these that can serve the request; absent: all of them. Throws "not found" if the request
   * names a stored object that none of them has. Called after `checkLimits`.
   */
  usableRoutes?(routes: readonly CompiledRoute[]): readonly CompiledRoute[];
}

/** A billed endpoint: its family, where its clients send the key, and how its requests are read. */
export interface BilledEndpoint<R extends BilledRequest> {
  family: Family;
  credentials: Credentials;
  /** Throws `invalid_request` and other refusals of the request itself. */
  open(call: Call, services: Services): Promise<R>;
}

/** The model that is sold to the caller, with its price. */
export interface Sale extends PricedModel {
  family: Family;
  streamed: boolean;
}

/** A request that may be billed and sent to one of these routes. */
export interface Admitted<R extends BilledRequest> {
  caller: Caller;
  /** Code that calls `admit` calls `leave` of the slot when the request has ended. */
  slot: Slot;
  request: R;
  sale: Sale;
  routes: readonly CompiledRoute[];
}

/**
 * Identifies the caller, counts the request as concurrent, reads it, finds its model and checks the model's
 * limits. Throws the first refusal. Adds the call to `services.streams`, so that stopping the key or
 * its secret cuts it; after a success the code that called `admit` must call `endAdmission` at the end of the
 * request.
 */
export async function admit<R extends BilledRequest>(
  call: Call,
  { family, credentials, open }: BilledEndpoint<R>,
  services: Services,
): Promise<Admitted<R>> {
  const caller = identifyCaller(call, credentials, services);
  const slot = new Slot(caller, call.config, services);
  call.incoming.payer = slot;
  services.streams.add({ id: caller.key.id, digest: caller.digest }, call.cut);
  try {
    const request = await open(call, services);
    const found = findModel(call, caller, { name: request.model, family });
    const { model, price } = found;
    request.checkLimits(model);
    const routes = request.usableRoutes?.(found.routes) ?? found.routes;
    return { caller, slot, request, sale: { model, price, family, streamed: request.streamed }, routes };
  } catch (error) {
    endAdmission(call, { caller, slot }, services);
    throw error;
  }
}

/** Ends what `admit` began. May be called more than once. */
export function endAdmission(
  { cut }: Pick<Call, 'cut'>,
  { caller, slot }: Pick<Admitted<BilledRequest>, 'caller' | 'slot'>,
  { streams }: Pick<Services, 'streams'>,
): void {
  streams.remove(caller.key.id, cut);
  slot.leave();
}

/** Identifies the caller of a free endpoint and counts the request. Throws `rate_limited` above the limit. */
export function admitFree(call: Call, credentials: Credentials, services: Services): Caller {
  const caller = identifyCaller(call, credentials, services);
  services.freeRequests.take(caller.key.id);
  return caller;
}
