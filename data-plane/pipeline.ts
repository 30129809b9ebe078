/** The path of every billed HTTP request, from its admission to its charge. */
import { admit, endAdmission } from './admission/admit.ts';
import type { Admitted, BilledEndpoint } from './admission/admit.ts';
import { fingerprintBody, reserveKey } from './admission/idempotency.ts';
import type { IdempotencyRecord } from './admission/idempotency.ts';
import { openBill } from './bill.ts';
import type { Bill } from './bill.ts';
import type { Call } from './call/call.ts';
import type { Answer, Exchange } from './exchange/exchange.ts';
import type { Services } from './services.ts';
import { beginTrace } from './tracing/request-trace.ts';

/**
 * The steps that were begun for a request, and end with it. Filled step by step, so that a failure ends the
 * steps before it.
 */
interface Work {
  admitted?: Pick<Admitted<Exchange>, 'caller' | 'slot'>;
  record?: IdempotencyRecord;
  bill?: Bill;
}

/**
 * Admits the request, reserves its Idempotency-Key and its price, asks the upstreams in order, delivers the
 * answer and charges it. Throws the failure if the client has not received it yet.
 */
export async function serve(
  call: Call,
  endpoint: BilledEndpoint<Exchange>,
  services: Services,
): Promise<void> {
  const work: Work = {};
  let failure: unknown;
  try {
    const { answer, bill } = await answerOf(call, endpoint, { services, work });
    await answer.deliver(call.reply, bill);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    const { admitted, record, bill } = work;
    if (admitted) endAdmission(call, admitted, services);
    bill?.close(failure);
    record?.end(bill?.charged === true);
  }
}

/**
 * The answer that may be delivered, and its bill. The bill is in `work` as well, so that it ends if no
 * upstream answers. A function of its own, because the request would otherwise stay in memory as long as its
 * answer is streamed.
 */
async function answerOf(
  call: Call,
  endpoint: BilledEndpoint<Exchange>,
  { services, work }: { services: Services; work: Work },
): Promise<{ answer: Answer; bill: Bill }> {
  const fingerprinted = fingerprintBody(call);
  const { caller, slot, request, sale, routes } = await admit(
    fingerprinted?.call ?? call,
    endpoint,
    services,
  );
  work.admitted = { caller, slot };
  if (fingerprinted) work.record = await reserveKey(fingerprinted, caller.key.walletId, services.idempotency);
  const bill = await openBill(call, caller, { sale, slot, limits: services });
  work.bill = bill;
  if (services.tracing) bill.trace = beginTrace(services.tracing, call, endpoint.family);
  const answer = await services.upstreams.ask(call, request, {
    walletId: slot.walletId,
    model: request.model,
    routes,
    observer: bill,
  });
  bill.routeId = answer.routeId;
  return { answer, bill };
}
