/**
 * An HTTP upstream over real sockets that answers, refuses, hangs, cuts or slows down as a test tells it
 * to.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How the upstream answers one request. */
export interface Play {
  status?: number;
  headers?: Record<string, string>;
  /** The body, each item written as its own network chunk. */
  chunks?: (string | Buffer)[];
  /** Pause before each chunk but the first, in ms. */
  gapMs?: number;
  /** Each chunk but the first waits until this promise resolves, and then for the pause. */
  waitFor?: Promise<unknown>;
  /** Destroys the socket after this many bytes of the body. */
  cutAfterBytes?: number;
  /** Sends nothing more: from the start, or after the chunks. */
  hang?: 'before-headers' | 'after-chunks';
  /** Destroys the socket before anything is sent. */
  refuse?: boolean;
}

/** A request that the upstream received. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** The upstream under a test's control. */
export interface FakeUpstream {
  /** Base address without a path. */
  origin: string;
  seen: SeenRequest[];
  /** Decides how a request is answered; `count` is its number. May be replaced at any time. */
  play: (request: SeenRequest, count: number) => Play;
  /** Body bytes written to the network. */
  sentBytes: number;
  /** Number of open connections. */
  openSockets(): number;
  close(): Promise<void>;
}

/** Starts an upstream on a free port of 127.0.0.1. */
export async function startUpstream(play: FakeUpstream['play']): Promise<FakeUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const seen: SeenRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(pieces).toString('utf8'),
      };
      upstream.seen.push(seen);
      void perform(upstream, upstream.play(seen, upstream.seen.length), response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  const upstream: FakeUpstream = {
    origin: '',
    seen: [],
    sentBytes: 0,
    play,
    openSockets: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  upstream.origin = `http://127.0.0.1:${port}`;
  return upstream;
}

async function perform(upstream: FakeUpstream, play: Play, response: ServerResponse): Promise<void> {
  if (play.refuse) return void response.socket?.destroy();
  if (play.hang === 'before-headers') return;
  response.writeHead(play.status ?? 200, { 'content-type': 'application/json', ...play.headers });
  response.flushHeaders();
  let left = play.cutAfterBytes ?? Number.POSITIVE_INFINITY;
  for (const [index, chunk] of (play.chunks ?? []).entries()) {
    if (index > 0) await play.waitFor;
    if (index > 0 && play.gapMs) await sleep(play.gapMs);
    if (response.destroyed) return;
    const bytes = Buffer.from(chunk).subarray(0, left);
    left -= bytes.length;
    await new Promise((resolve) => {
      response.write(bytes, resolve);
    });
    upstream.sentBytes += bytes.length;
    if (left <= 0) return void response.socket?.destroy();
  }
  if (play.hang !== 'after-chunks') response.end();
}
