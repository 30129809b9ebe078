/** Bounds the open connections of a listener, per network and in total. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { CONNECTIONS, CONNECTIONS_MAX } from '../limits.ts';
import type { ProxyTrust } from '../process/client-address.ts';
import { networkOf } from '../process/network.ts';
import type { Callers } from './callers.ts';
import { Shares } from './shares.ts';

/** Closes connections beyond the limits when they open. Those of trusted proxies count in the total alone. */
export function boundConnections(server: Server, callers: Callers, isProxy: ProxyTrust): void {
  const open = new Shares(CONNECTIONS);
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address !== undefined && isProxy(address)) return;
    const name = networkOf(address ?? null);
    const giveBack = open.take({ rank: callers.rankOf(name), name });
    if (giveBack) socket.once('close', giveBack);
    else socket.destroy();
  });
}
