/** Bounds what a caller takes of a listener before its requests are read: connections, pace, refused work. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { PIPELINE_REFUSAL_MS, RefusedWork } from '@gateway/shared/refused-work';
import { RequestPace } from '@gateway/shared/request-pace';
import type { FastifyInstance } from 'fastify';
import { CONNECTIONS, CONNECTIONS_MAX } from '../limits.ts';
import type { ProxyTrust } from '../process/client-address.ts';
import { networkOf } from '../process/network.ts';
import type { Callers } from './callers.ts';
import { Shares } from './shares.ts';
import type { Claimant } from './shares.ts';

/** The network of a connection; undefined for one of a trusted proxy, which carries many callers. */
type NetworkOfSocket = (socket: Socket) => string | undefined;

/** Refused work of the senders of requests. */
export interface Penalties {
  /** Counts the CPU time of what was refused to the sender of a request, in ms. */
  onRefused: (request: IncomingMessage, ms: number) => void;
  /** Time until a large body of this caller may be read, in ms; 0 for none. */
  waitMs: (claimant: Claimant) => number;
}

/**
 * Bounds connections, requests that are sent ahead, and free answers. Returns the penalties for refused work.
 * An account or node whose token was verified lately counts by itself, others by their network.
 */
export function boundCallers(server: FastifyInstance, callers: Callers, isProxy: ProxyTrust): Penalties {
  const networkOfSocket: NetworkOfSocket = ({ remoteAddress }) =>
    remoteAddress !== undefined && isProxy(remoteAddress) ? undefined : networkOf(remoteAddress ?? null);
  const refusedWork = new RefusedWork();
  const onRefused: Penalties['onRefused'] = (request, ms) =>
    refusedWork.spend(ms, { caller: verifiedName(callers, request), network: callers.networkOf(request) });
  boundConnections(server.server, { callers, networkOfSocket, refusedWork });
  const pace = new RequestPace({
    callerOf: (request) => {
      const network = networkOfSocket(request.socket);
      return network === undefined ? undefined : (verifiedName(callers, request) ?? network);
    },
    onFull: (request) => onRefused(request, PIPELINE_REFUSAL_MS),
  });
  server.addHook('onRequest', (request, reply, done) => pace.admit(request.raw, reply.raw, done));
  return {
    onRefused,
    waitMs: ({ rank, name }) =>
      rank === 'anonymous' ? refusedWork.waitMsOfStrangers(name) : refusedWork.waitMs(nameOf({ rank, name })),
  };
}

function nameOf({ rank, name }: Claimant): string {
  return `${rank} ${name}`;
}

/** The name of the account or node whose token the request has, if it was verified lately. */
function verifiedName(callers: Callers, request: IncomingMessage): string | undefined {
  const claimant = callers.recentlyVerified(request);
  return claimant && nameOf(claimant);
}

/** The parts that decide about a new connection. */
interface ConnectionParts {
  callers: Callers;
  networkOfSocket: NetworkOfSocket;
  refusedWork: Pick<RefusedWork, 'admits'>;
}

/**
 * Closes connections beyond the limits, and those of a penalty, when they open. Connections of trusted
 * proxies count in the total alone.
 */
function boundConnections(server: Server, { callers, networkOfSocket, refusedWork }: ConnectionParts): void {
  const open = new Shares(CONNECTIONS);
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    const name = networkOfSocket(socket);
    if (name === undefined) return;
    const rank = callers.rankOf(name);
    if (!refusedWork.admits(name, rank !== 'anonymous')) return void socket.destroy();
    const giveBack = open.take({ rank, name });
    if (giveBack) socket.once('close', giveBack);
    else socket.destroy();
  });
}
