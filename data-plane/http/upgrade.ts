/** Serves the WebSocket upgrades of the endpoint table. */
import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asGatewayError } from '@gateway/shared/failures';
import type { GatewayError } from '@gateway/shared/failures';
import { wrongHost } from './arrival.ts';
import type { Call, OpenCall } from '../call/call.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import type { Services } from '../services.ts';

type Upgradable = Endpoint & Required<Pick<Endpoint, 'upgrade'>>;

const ROWS = new Map(
  ENDPOINTS.filter((row): row is Upgradable => row.upgrade !== undefined).map((row) => [row.path, row]),
);

/** Whether a request asks for a WebSocket that a row of the table serves. Others are ordinary requests. */
export function isUpgrade({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '') && ROWS.has(pathOf(url));
}

/** The parts of the server that upgrades need. */
export interface UpgradeParts {
  services: Services;
  open(request: IncomingMessage, response: ServerResponse): OpenCall;
  /** Throws `unavailable`. */
  config(): Config;
  fail(call: OpenCall, error: GatewayError): void;
  draining(): boolean;
}

/** Serves one upgrade. Never rejects: a failure before the upgrade is answered in HTTP. */
export async function serveUpgrade(
  parts: UpgradeParts,
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
): Promise<void> {
  const row = ROWS.get(pathOf(request.url));
  if (!row || !(socket instanceof Socket)) return void socket.destroy();
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.destroySoon());
  const opened = parts.open(request, response);
  const { metrics } = parts.services;
  let code = 'ok';
  metrics.began();
  try {
    const refusal = wrongHost(request);
    if (refusal) throw refusal;
    const call: Call = Object.assign(opened, { config: parts.config() });
    const detach = (): void => response.detachSocket(socket);
    await row.upgrade(call, parts.services, { request, socket, head, detach, draining: parts.draining });
  } catch (cause) {
    const error = asGatewayError(cause);
    code = error.code;
    parts.fail(opened, error);
    if (!opened.reply.begun || !response.socket) socket.destroy();
  } finally {
    metrics.ended(row.family, code, performance.now() - opened.startedAt);
  }
}

/** The path of a request target, without its query. */
export function pathOf(url = '/'): string {
  const question = url.indexOf('?');
  return question < 0 ? url : url.slice(0, question);
}
