/** The port that the workers of a node share. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Systems on which processes can share a port by SO_REUSEPORT so that the kernel distributes connections. */
const SHARING_SYSTEMS: ReadonlySet<string> = new Set(['linux', 'freebsd', 'dragonfly']);

/** Time in which workers of an earlier start may still hold the port, in ms. */
const FREE_WITHIN_MS = 10_000;
const RETRY_MS = 100;

/** Whether several processes can share a port on this system. */
export function canSharePorts(system: string): boolean {
  return SHARING_SYSTEMS.has(system);
}

/**
 * Checks that no other program listens at the address, because workers would share its port without notice.
 * Returns the port; a free one for port 0. Rejects with EADDRINUSE if the port stays in use for 10 s.
 */
export async function freePort(host: string, port: number): Promise<number> {
  const until = performance.now() + FREE_WITHIN_MS;
  for (;;) {
    try {
      return await tryPort(host, port);
    } catch (error) {
      if (performance.now() >= until) throw error;
      await pause(RETRY_MS);
    }
  }
}

async function tryPort(host: string, port: number): Promise<number> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen({ host, port, exclusive: true });
  await listening;
  const address = server.address() as AddressInfo;
  const closed = once(server, 'close');
  server.close();
  await closed;
  return address.port;
}
