/** An upstream of realtime sessions that says what a test tells it to, and a client of the node's. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { frameText } from '../data-plane/exchange/realtime-side.ts';
import { until } from './request-path.ts';
import type { TestNode } from './request-path.ts';

export class RealtimeUpstream {
  /** The upgrades that came. */
  readonly seen: { url: string; headers: IncomingHttpHeaders }[] = [];
  readonly fromClient: { type: string; [name: string]: unknown }[] = [];
  readonly sockets = new WebSocketServer({ noServer: true });
  /** Where nobody upgrades it answers 429. */
  readonly server: Server;
  /** The last session's. */
  socket: WebSocket | undefined;

  constructor() {
    this.server = createServer((_request, response) => response.writeHead(429).end('{}'));
    this.server.on('upgrade', (request, socket, head) =>
      this.sockets.handleUpgrade(request, socket, head, (accepted) => {
        this.seen.push({ url: request.url ?? '', headers: request.headers });
        accepted.on('message', (data) =>
          this.fromClient.push(JSON.parse(frameText(data)) as { type: string }),
        );
        accepted.send('{"type":"session.created","session":{"type":"realtime"}}');
        this.socket = accepted;
      }),
    );
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  say(event: object): void {
    this.socket?.send(JSON.stringify(event));
  }
  created(id = 'r1'): void {
    this.say({ type: 'response.created', response: { id } });
  }
  delta(id = 'r1'): void {
    this.say({ type: 'response.output_text.delta', response_id: id, delta: 'Hi' });
  }
  done(status = 'completed', id = 'r1'): void {
    const usage = { input_tokens: 7, output_tokens: 3 };
    this.say({ type: 'response.done', response: { id, status, usage } });
  }

  terminate(): void {
    for (const socket of this.sockets.clients) socket.terminate();
  }
  async close(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export interface RealtimeClient {
  socket: WebSocket;
  events: { type: string; error?: { code: string; param: string | null } }[];
  closed: Promise<number>;
  /** Waits for an event of this type. */
  saw(type: string): Promise<void>;
}

/** Asks the node for a session. */
export function connectRealtime(
  node: TestNode,
  query = '?model=swift',
  options: { protocols?: string[]; bearer?: string } = {},
): RealtimeClient {
  const headers = options.protocols ? {} : { authorization: `Bearer ${options.bearer ?? node.secret}` };
  const url = `ws://127.0.0.1:${node.port}/v1/realtime${query}`;
  const socket = new WebSocket(url, options.protocols ?? [], { headers });
  const events: RealtimeClient['events'] = [];
  socket.on('message', (data) => events.push(JSON.parse(frameText(data)) as { type: string }));
  return {
    socket,
    events,
    closed: new Promise((resolve) => socket.on('close', resolve)),
    saw: (type) => until(() => events.some((event) => event.type === type)),
  };
}
