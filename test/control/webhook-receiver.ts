/** A receiver of webhooks for tests: keeps what it gets, and verifies signatures as receivers do. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** A delivery as it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** The receiver; `status` decides its next answers. */
export interface Receiver {
  url: string;
  status: number;
  /** Time before each answer, in ms. */
  pauseMs: number;
  received: Received[];
  close(): Promise<void>;
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      receiver.received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      const answer = (): unknown =>
        response.writeHead(receiver.status, { location: 'http://127.0.0.1:1/' }).end('x'.repeat(100_000));
      if (receiver.pauseMs === 0) answer();
      else void delay(receiver.pauseMs).then(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const receiver: Receiver = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`,
    status: 204,
    pauseMs: 0,
    received: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Whether one of the signatures is of this secret, by the text of the Standard Webhooks specification. */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const wanted = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(wanted);
}
