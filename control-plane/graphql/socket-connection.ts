/** Connects one WebSocket to the graphql-ws protocol, with a limit on messages and on unsent bytes. */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { UNSENT_BYTES } from '../limits.ts';
import type { Rates } from '../request/rates.ts';
import type { SocketSlot } from './socket-slots.ts';

const KEEP_ALIVE_MS = 12_000;
const CLOSE_TOO_MANY = 4429;
const CLOSE_FAILED = 4500;

/** The socket of an operation, with the request that opened it and the slot that it holds. */
export interface SocketExtra {
  socket: WebSocket;
  request: IncomingMessage;
  slot: SocketSlot;
}

/** Serves the protocol on an open socket until it closes. `messages` counts those of all callers. */
export function connectSocket(server: Server<SocketExtra>, extra: SocketExtra, messages: Rates): void {
  const { socket, slot } = extra;
  // The library answers a broken frame by closing the socket; the event alone would end the process.
  socket.on('error', () => undefined);
  /** Whether the client may send one more message, and reads the messages that are sent to it. */
  const mayGoOn = (): boolean => {
    if (socket.readyState !== socket.OPEN) return false;
    const isFlooding = !messages.take(slot.claimant);
    const isUnread = slot.claimant.rank !== 'node' && socket.bufferedAmount > UNSENT_BYTES;
    if (!isFlooding && !isUnread) return true;
    if (isFlooding) socket.close(CLOSE_TOO_MANY, 'Too many messages. Connect again later.');
    else socket.terminate();
    return false;
  };
  socket.on('ping', mayGoOn);
  const stopPings = keepAlive(socket);
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (text) =>
        new Promise((resolve, reject) => {
          if (socket.readyState !== socket.OPEN) resolve();
          else socket.send(text, (error) => (error ? reject(error) : resolve()));
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) => {
        socket.on('message', (data) => {
          if (!mayGoOn()) return;
          receive(textOf(data)).catch(() => socket.close(CLOSE_FAILED, 'Internal error'));
        });
      },
    },
    extra,
  );
  socket.once('close', (code, reason) => {
    stopPings();
    void closed(code, String(reason));
  });
}

/** Pings the client, and terminates a socket whose client does not answer in time. */
function keepAlive(socket: WebSocket): () => void {
  let missing: NodeJS.Timeout | undefined;
  socket.on('pong', () => {
    clearTimeout(missing);
    missing = undefined;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    missing ??= setTimeout(() => socket.terminate(), KEEP_ALIVE_MS);
    socket.ping();
  }, KEEP_ALIVE_MS);
  return () => {
    clearInterval(timer);
    clearTimeout(missing);
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}
