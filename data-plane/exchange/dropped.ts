/** Tells the client which parts of its request the chosen upstream could not carry. */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import type { Reply } from '../reply.ts';

/** JSON pointers named in `x-gateway-dropped`, at most; then `…`. */
const DROPPED_NAMED = 20;

/** Throws `invalid_request` where the client forbade losses with `x-gateway-strict: 1`. */
export function refuseLosses(dropped: readonly string[], headers: IncomingHttpHeaders): void {
  const [first] = dropped;
  if (first === undefined || headers['x-gateway-strict'] !== '1') return;
  throw new GatewayError(
    'invalid_request',
    `The model cannot take ${first}. Leave it out, or allow losses.`,
    { parameter: first },
  );
}

/** Names what was dropped in the answer's header, percent-encoded. */
export function nameDropped(dropped: readonly string[], reply: Reply): void {
  if (dropped.length === 0) return;
  const named = dropped.slice(0, DROPPED_NAMED).map((pointer) => encodeURI(pointer).replaceAll(',', '%2C'));
  if (dropped.length > DROPPED_NAMED) named.push(encodeURI('…'));
  reply.header('x-gateway-dropped', named.join(', '));
}
