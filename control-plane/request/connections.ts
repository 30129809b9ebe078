/** Bounds the open connections of a listener, per network and in total. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { CONNECTIONS, CONNECTIONS_MAX } from '../limits.ts';
import type { ProxyTrust } from '../process/client-address.ts';
import { networkOf } from '../process/network.ts';
import type { Callers } from './callers.ts';
import { Shares } from './shares.ts';

/** The network of a connection; undefined for one of a trusted proxy, which carries many callers. */
type NetworkOfSocket = (socket: Socket) => string | undefined;

/** Returns the function that names the network of a connection. */
export function networksOf(isProxy: ProxyTrust): NetworkOfSocket {
  return ({ remoteAddress }) =>
    remoteAddress !== undefined && isProxy(remoteAddress) ? undefined : networkOf(remoteAddress ?? null);
}

/**
 * Returns the function that names the sender of a request for the pace of free answers: the account or node
 * of a credential that was verified lately, else the network. Connections of trusted proxies have no limits.
 */
export function callersOfPace(
  callers: Callers,
  networkOfSocket: NetworkOfSocket,
): (request: IncomingMessage) => string | undefined {
  return (request) => {
    const network = networkOfSocket(request.socket);
    return network === undefined ? undefined : (callers.recentlyVerified(request) ?? network);
  };
}

/** Closes connections beyond the limits when they open. Those of trusted proxies count in the total alone. */
export function boundConnections(server: Server, callers: Callers, networkOfSocket: NetworkOfSocket): void {
  const open = new Shares(CONNECTIONS);
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    const name = networkOfSocket(socket);
    if (name === undefined) return;
    const giveBack = open.take({ rank: callers.rankOf(name), name });
    if (giveBack) socket.once('close', giveBack);
    else socket.destroy();
  });
}
