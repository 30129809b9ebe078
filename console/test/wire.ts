/** A TCP proxy before a service: tests cut its connections, freeze them, and let them through again. */
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Wire {
  url: string;
  /** Cuts all connections and refuses new ones. */
  kill(): Promise<void>;
  /** Accepts connections, but passes nothing on. */
  freeze(): void;
  /** Lets everything through again. */
  restore(): Promise<void>;
}

/** Opens the proxy on a free port before the service at `target`. */
export async function openWire(target: string): Promise<Wire> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const pair = [near, far];
    for (const socket of pair) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        pair.forEach((each) => each.destroy());
      });
      // The other side may reset the connection at any time.
      socket.on('error', () => socket.destroy());
    }
    near.pipe(far).pipe(near);
    if (frozen) pair.forEach((socket) => socket.pause().unpipe());
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://localhost:${own}`,
    kill: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    freeze: () => {
      frozen = true;
      sockets.forEach((socket) => socket.unpipe().pause());
    },
    restore: async () => {
      frozen = false;
      cut();
      if (!server.listening) await listen(own);
    },
  };
}
