/**
 * Names the parts of a request that the upstream's format cannot carry, or refuses them for strict clients.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { invalidRequest } from '../call/refusals.ts';
import type { Reply } from '../call/reply.ts';

/** Maximum number of JSON pointers in `x-gateway-dropped`; `…` follows if there are more. */
const POINTERS_MAX = 20;

/** Throws `invalid_request` if something is dropped and the client sent `x-gateway-strict: 1`. */
export function refuseLosses(dropped: readonly string[], headers: IncomingHttpHeaders): void {
  const [first] = dropped;
  if (first === undefined || headers['x-gateway-strict'] !== '1') return;
  const message = `The model cannot take ${first}. Leave it out, or do not send x-gateway-strict.`;
  throw invalidRequest(message, first);
}

/** Sets `x-gateway-dropped` to the dropped JSON pointers, percent-encoded. */
export function nameDropped(dropped: readonly string[], reply: Reply): void {
  if (dropped.length === 0) return;
  const named = dropped.slice(0, POINTERS_MAX).map((pointer) => encodeURI(pointer).replaceAll(',', '%2C'));
  if (dropped.length > POINTERS_MAX) named.push(encodeURI('…'));
  reply.header('x-gateway-dropped', named.join(', '));
}
