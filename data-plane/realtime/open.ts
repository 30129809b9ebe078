/**
 * Opens realtime sessions over a WebSocket: admits the caller and connects to an upstream before the
 * upgrade is accepted, so that every failure until then is an HTTP answer.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { AttemptRecord } from '@gateway/shared/records';
import { WebSocketServer } from 'ws';
import { admit, endAdmission } from '../admission/admit.ts';
import type { Admitted, BilledEndpoint, BilledRequest } from '../admission/admit.ts';
import { rateHeaders } from '../admission/caller.ts';
import { Slot } from '../admission/slot.ts';
import { openBill } from '../bill.ts';
import type { Call } from '../call/call.ts';
import { newRequestId } from '../call/timed-id.ts';
import { CHUNKS_PER_FRAME, FRAGMENTS_PER_MESSAGE } from '../limits.ts';
import type { Services } from '../services.ts';
import { dialRealtime } from './dial.ts';
import { runSession } from './session.ts';
import { ClientSocket, FRAME_BYTES } from './socket.ts';

const SUBPROTOCOL = 'realtime';

/** An upgrade request that is not answered yet. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  /** Detaches the socket from the HTTP answer. Afterwards no failure can be sent in HTTP. */
  detach(): void;
  draining(): boolean;
}

/** The query names the model. The family has no limits per request. */
const REALTIME: BilledEndpoint<BilledRequest> = {
  family: 'realtime',
  credentials: 'realtime',
  open: async (call) => {
    checkHandshake(call);
    return { model: modelOf(call), streamed: true, checkLimits: () => undefined };
  },
};

/** Serves one session to its end. Throws the failure that is sent instead of accepting the upgrade. */
export async function serveRealtime(call: Call, services: Services, upgrade: Upgrade): Promise<void> {
  const admitted = await admit(call, REALTIME, services);
  try {
    const leave = services.sessions.enter(call.address, admitted.caller.key);
    await connectAndRun(call, admitted, { services, upgrade }).finally(leave);
  } finally {
    endAdmission(call, admitted, services);
  }
}

/** Connects to an upstream, accepts the client, and runs the session. */
async function connectAndRun(
  call: Call,
  { caller, slot, sale, routes, request: billed }: Admitted<BilledRequest>,
  { services, upgrade }: { services: Services; upgrade: Upgrade },
): Promise<void> {
  // Refuses a caller who could not pay one response. Nothing stays held, because a session may be silent
  // for long. The session counts by itself, so the request leaves its slot here.
  (await openBill(call, caller, { sale, slot, limits: services })).discard();
  const formats = { preferred: 'openai-chat' as const, capable: FAMILY_PROTOCOLS.realtime };
  const attempts: AttemptRecord[] = [];
  const observer = { attempted: (attempt: AttemptRecord) => void attempts.push(attempt) };
  const request = { ...formats, open: dialRealtime(call) };
  const connection = await services.upstreams.openSession(call, request, {
    walletId: slot.walletId,
    model: billed.model,
    routes,
    observer,
  });
  const rate = caller.pool ? rateHeaders(call, caller.pool, services) : {};
  const client = accept(call, upgrade, rate);
  if (!client) return connection.socket.terminate();
  await runSession({
    client,
    upstream: connection.socket,
    models: { upstream: connection.upstreamModel, catalog: billed.model },
    cut: call.cut,
    now: services.now,
    draining: upgrade.draining,
    openBill: async () => {
      const place = new Slot(caller, call.config, services);
      const bill = await openBill(responseCall(call), caller, { sale, slot: place, limits: services });
      bill.routeId = connection.routeId;
      // The receipt of the first response lists the attempts to open the session.
      for (const attempt of attempts.splice(0)) bill.attempted(attempt);
      return bill;
    },
  });
}

/** The call of one response, which is a request of its own in the usage log. */
function responseCall(call: Call): Call {
  return { ...call, id: newRequestId(), at: Date.now(), startedAt: performance.now() };
}

/** Checks the headers that RFC 6455, section 4.2.1, requires. */
function checkHandshake({ headers }: Call): void {
  const isComplete =
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '') &&
    headers['sec-websocket-version'] === '13';
  if (!isComplete)
    throw new GatewayError(
      'invalid_request',
      'The WebSocket handshake is incomplete. Use a WebSocket client.',
    );
}

/** The model that the query names. Throws `invalid_request` unless there is exactly one. */
function modelOf({ query }: Call): string {
  if (query.has('call_id'))
    throw new GatewayError(
      'invalid_request',
      'call_id is not supported. Open a session with ?model=<name>.',
      { parameter: 'call_id' },
    );
  const [model, ...others] = query.getAll('model');
  if (!model || others.length > 0)
    throw new GatewayError('invalid_request', 'Name one model: /v1/realtime?model=<name>.', {
      parameter: 'model',
    });
  return model;
}

/** Accepts the upgrade. The client's socket, paused; undefined if the client has left meanwhile. */
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
    maxFragments: FRAGMENTS_PER_MESSAGE,
    maxBufferedChunks: CHUNKS_PER_FRAME,
    WebSocket: ClientSocket,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const added = Object.entries({ 'x-request-id': call.id, ...rate });
  server.on('headers', (headers) => headers.push(...added.map(([name, value]) => `${name}: ${value}`)));
  detach();
  let client: ClientSocket | undefined;
  server.handleUpgrade(request, socket, head, (accepted) => {
    client = accepted;
  });
  return client;
}
