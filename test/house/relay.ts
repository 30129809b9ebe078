/**
 * A load balancer between a node and its control plane that has read a whole message: it
 * delivers the message late, twice or never, also after the death of its sender.
 */
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Treatment of a message: `keep` delivers it when the test says so, `deafen` delivers it and loses the
 * answer, `lose` never delivers it.
 */
export type Fate = 'pass' | 'keep' | 'deafen' | 'lose';

export interface Relay {
  url: string;
  /** Asked for each message by the name of its mutation. */
  fateOf: (mutation: string) => Fate;
  /** Delivers each kept message once, and resolves when they are answered. Returns their number. */
  deliver(): Promise<number>;
  close(): void;
}

interface Message {
  near: IncomingMessage;
  body: Buffer;
}

/**
 * Listens on a free port. Passes everything on to the control plane at `url`, unless `fateOf` says otherwise.
 */
export async function startRelay(url: string): Promise<Relay> {
  const port = Number(new URL(url).port);
  const kept: Message[] = [];
  const server = createServer((near, answer) => {
    const parts: Buffer[] = [];
    near.on('data', (part: Buffer) => parts.push(part));
    near.on('end', () => {
      const message = { near, body: Buffer.concat(parts) };
      const fate = relay.fateOf(/(\w+)\(input:/.exec(message.body.toString())?.[1] ?? '');
      if (fate === 'keep') kept.push(message);
      if (fate === 'deafen') void send(port, message);
      if (fate === 'pass') void send(port, message, answer);
    });
  });
  server.on('upgrade', (near, socket, head) => join(port, { near, socket, head }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fateOf: () => 'pass',
    deliver: async () => (await Promise.all(kept.splice(0).map((message) => send(port, message)))).length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return relay;
}

/** Delivers a message, and its answer where somebody waits for it. */
function send(port: number, { near, body }: Message, answer?: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const { url: path, method, headers } = near;
    const far = request({ port, host: '127.0.0.1', path, method, headers }, (said) => {
      said.on('end', () => resolve());
      if (!answer) return void said.resume();
      answer.writeHead(said.statusCode ?? 502, said.headers);
      said.pipe(answer);
    });
    far.on('error', () => {
      answer?.destroy();
      resolve();
    });
    far.end(body);
  });
}

/** The WebSocket of the configuration passes as it is. */
function join(
  port: number,
  { near, socket, head }: { near: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const far: Socket = connect({ port, host: '127.0.0.1' }, () => {
    const lines = [`${near.method} ${near.url} HTTP/1.1`];
    for (const [name, value] of Object.entries(near.headers)) lines.push(`${name}: ${String(value)}`);
    far.write(`${lines.join('\r\n')}\r\n\r\n`);
    far.write(head);
    far.pipe(socket);
    socket.pipe(far);
  });
  const end = (): void => {
    far.destroy();
    socket.destroy();
  };
  for (const one of [far, socket]) one.on('error', end);
  for (const one of [far, socket]) one.on('close', end);
}
