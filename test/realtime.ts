/** An upstream of realtime sessions that a test controls, and a client that connects to a node. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { frameText } from '../data-plane/realtime/side.ts';
import { until } from './request-path.ts';
import type { TestNode } from './request-path.ts';

/** Accepts every session, and sends the events of a test to the last one. */
export class RealtimeUpstream {
  /** The upgrade requests that were accepted. */
  readonly seen: { url: string; headers: IncomingHttpHeaders }[] = [];
  /** Events that clients sent. */
  readonly fromClient: { type: string; [name: string]: unknown }[] = [];
  readonly sockets = new WebSocketServer({ noServer: true });
  /** Answers 429 to ordinary requests, and to upgrades once a test removes the listener. */
  readonly server: Server;
  /** Socket of the last session. */
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

  /** Base address without a path. */
  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  /** Sends an event in the last session. */
  send(event: object): void {
    this.socket?.send(JSON.stringify(event));
  }
  /** A response begins. */
  created(id = 'r1'): void {
    this.send({ type: 'response.created', response: { id } });
  }
  /** A response has content. */
  delta(id = 'r1'): void {
    this.send({ type: 'response.output_text.delta', response_id: id, delta: 'Hi' });
  }
  /** A response ends with this status. */
  done(status = 'completed', id = 'r1'): void {
    const usage = { input_tokens: 7, output_tokens: 3 };
    this.send({ type: 'response.done', response: { id, status, usage } });
  }

  /** Breaks every session off. */
  terminate(): void {
    for (const socket of this.sockets.clients) socket.terminate();
  }
  async close(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** A client's session. */
export interface RealtimeClient {
  socket: WebSocket;
  /** Events that the node sent. */
  events: { type: string; error?: { code: string; param: string | null } }[];
  /** The close code. */
  closed: Promise<number>;
  /** Resolves when an event of this type has arrived. */
  received(type: string): Promise<void>;
}

/** Requests a session from the node. */
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
    received: (type) => until(() => events.some((event) => event.type === type)),
  };
}
