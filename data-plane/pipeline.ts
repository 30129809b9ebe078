/** The path of every billed HTTP request, in one function. */
import { admit, endAdmission } from './admission/admit.ts';
import type { BilledEndpoint } from './admission/admit.ts';
import { fingerprintBody, reserveKey } from './admission/idempotency.ts';
import type { IdempotencyRecord } from './admission/idempotency.ts';
import { openBill } from './bill.ts';
import type { Bill } from './bill.ts';
import type { Call } from './call/call.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { Services } from './services.ts';
import { beginTrace } from './tracing/request-trace.ts';

/**
 * Admits the request, reserves its Idempotency-Key and its price, asks the upstreams in order, delivers the
 * answer and charges it. Throws the failure if the client has not received it yet.
 */
export async function serve(
  call: Call,
  endpoint: BilledEndpoint<Exchange>,
  services: Services,
): Promise<void> {
  const fingerprinted = fingerprintBody(call);
  const admitted = await admit(fingerprinted?.call ?? call, endpoint, services);
  const { caller, slot, request, sale, routes } = admitted;
  let record: IdempotencyRecord | undefined;
  let bill: Bill | undefined;
  let failure: unknown;
  try {
    if (fingerprinted) record = await reserveKey(fingerprinted, caller.key.walletId, services.idempotency);
    bill = await openBill(call, caller, { sale, slot, limits: services });
    if (services.tracing) bill.trace = beginTrace(services.tracing, call, endpoint.family);
    const answer = await services.upstreams.ask(call, request, {
      walletId: slot.walletId,
      model: request.model,
      routes,
      observer: bill,
    });
    bill.routeId = answer.routeId;
    await answer.deliver(call.reply, bill);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    endAdmission(call, admitted, services);
    bill?.close(failure);
    record?.end(bill?.charged === true);
  }
}
