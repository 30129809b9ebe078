/**
 * Realtime sessions over a WebSocket: everything is checked and an upstream found before the upgrade is
 * accepted.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { AttemptRecord } from '@gateway/shared/records';
import { WebSocketServer } from 'ws';
import { callerOf, rateHeaders } from '../rate.ts';
import type { Caller } from '../authenticate.ts';
import { openBill } from '../bill.ts';
import type { Bill, Sale } from '../bill.ts';
import type { Call } from '../call.ts';
import { findModel } from '../pipeline.ts';
import { mintRequestId } from '../request-id.ts';
import type { Services } from '../services.ts';
import { dialRealtime } from './realtime-dial.ts';
import { runSession } from './realtime-session.ts';
import { ClientSocket, FRAME_BYTES } from './realtime-socket.ts';

const SUBPROTOCOL = 'realtime';

/** An upgrade request that was not answered yet. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  /** Takes the socket away from the HTTP answer; afterwards no failure can be told in HTTP. */
  detach(): void;
  draining(): boolean;
}

/** Serves one session to its end. Throws the failure that is to be told instead of the upgrade. */
export async function serveRealtime(call: Call, services: Services, upgrade: Upgrade): Promise<void> {
  const caller = callerOf(call, 'realtime', services);
  checkHandshake(call);
  const found = findModel(call, caller, { name: modelOf(call), family: 'realtime' });
  const sale: Sale = { model: found.model, price: found.price, family: 'realtime', streamed: true };
  const keyId = caller.key.id;
  services.sessions.enter(keyId);
  services.streams.add(keyId, call.cut);
  try {
    await checkFunds(call, caller, { sale, services });
    const dial = { preferred: 'openai-chat' as const, capable: FAMILY_PROTOCOLS.realtime };
    const open = dialRealtime(call);
    const turns: AttemptRecord[] = [];
    const witness = { tried: (attempt: AttemptRecord) => void turns.push(attempt) };
    const ways = { routes: found.routes, witness };
    const line = await services.upstreams.dial(call, { ...dial, open }, ways);
    const rate = caller.pool ? rateHeaders(call, caller.pool, services) : {};
    const client = accept(call, upgrade, rate);
    if (!client) return line.socket.terminate();
    await runSession({
      client,
      upstream: line.socket,
      upstreamModel: line.upstreamModel,
      cut: call.cut,
      now: services.now,
      draining: upgrade.draining,
      openBill: async () => {
        const bill = await openBill(responseCall(call), caller, { sale, till: services });
        bill.routeId = line.routeId;
        // How the session came about stands in the receipt of its first response.
        for (const turn of turns.splice(0)) bill.tried(turn);
        return bill;
      },
    });
  } finally {
    services.streams.remove(keyId, call.cut);
    services.sessions.leave(keyId);
  }
}

/** Each response is a request of its own in the usage log. */
function responseCall(call: Call): Call {
  return { ...call, id: mintRequestId(), at: Date.now(), startedAt: performance.now() };
}

/** RFC 6455, section 4.2.1. */
function checkHandshake({ headers }: Call): void {
  const isComplete =
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '') &&
    headers['sec-websocket-version'] === '13';
  if (!isComplete) throw new GatewayError('invalid_request', 'The WebSocket handshake is incomplete.');
}

function modelOf({ query }: Call): string {
  if (query.has('call_id'))
    throw new GatewayError('invalid_request', 'Calls are not offered. Open a session with ?model=.', {
      parameter: 'call_id',
    });
  const [model, ...others] = query.getAll('model');
  if (!model || others.length > 0)
    throw new GatewayError('invalid_request', 'Name one model: /v1/realtime?model=<name>.', {
      parameter: 'model',
    });
  return model;
}

interface Purse {
  sale: Sale;
  services: Services;
}

/** Whether one response could be paid now. Nothing stays held: a session may be silent for long. */
async function checkFunds(call: Call, caller: Caller, { sale, services }: Purse): Promise<void> {
  const bill: Bill = await openBill(call, caller, { sale, till: services });
  bill.discard();
}

/** The client's socket, paused; undefined where it left meanwhile. */
function accept(
  call: Call,
  { request, socket, head, detach }: Upgrade,
  rate: Record<string, string>,
): ClientSocket | undefined {
  if (socket.destroyed) return undefined;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES,
    WebSocket: ClientSocket,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const told = Object.entries({ 'x-request-id': call.id, ...rate });
  server.on('headers', (headers) => headers.push(...told.map(([name, value]) => `${name}: ${value}`)));
  detach();
  let client: ClientSocket | undefined;
  server.handleUpgrade(request, socket, head, (accepted) => {
    client = accepted;
  });
  return client;
}
