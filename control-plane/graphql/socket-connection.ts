/** Connects one WebSocket to the graphql-ws protocol, with limits on messages and on unsent bytes. */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { FIRST_MESSAGE_BYTES, SHORT_MESSAGE_BYTES, UNSENT_BYTES } from '../limits.ts';
import { spendCpu } from '../request/rates.ts';
import type { CallerRates, Rates } from '../request/rates.ts';
import type { SocketOperations } from './operation-heap.ts';
import type { SocketSlot } from './socket-slots.ts';

const KEEP_ALIVE_MS = 12_000;
const CLOSE_TOO_MANY = 4429;
const CLOSE_FAILED = 4500;
const CLOSE_TOO_LONG = 1009;

/** The socket of an operation, with the request that opened it and the slot that it holds. */
export interface SocketExtra {
  socket: WebSocket;
  request: IncomingMessage;
  slot: SocketSlot;
  operations: SocketOperations;
  /** Whether connection_ack was or is being sent. */
  isAcknowledged: boolean;
  /** Size of the message that is being read, in bytes. */
  messageBytes: number;
}

/** Serves the protocol on an open socket until it closes. `rates` count all callers. */
export function connectSocket(
  server: Server<SocketExtra>,
  extra: SocketExtra,
  { messages, reading }: CallerRates,
): void {
  const { socket, slot } = extra;
  // The library answers a broken frame by closing the socket; the event alone would end the process.
  socket.on('error', () => undefined);
  const mayGoOn = (): boolean => mayContinue(extra, messages);
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
          const bytes = sizeOf(data);
          if (!mayGoOn() || !mayRead(extra, bytes, reading)) return;
          extra.messageBytes = bytes;
          // The library parses the message, and its operation is read, before `receive` returns.
          const done = spendCpu(reading, slot.claimant, () => receive(textOf(data)));
          done.catch(() => socket.close(CLOSE_FAILED, 'Internal error'));
        });
      },
      onPing: (payload) => {
        const pong = { type: 'pong', ...(payload && { payload }) };
        socket.send(spendCpu(reading, slot.claimant, () => JSON.stringify(pong)));
      },
    },
    extra,
  );
  socket.once('close', (code, reason) => {
    stopPings();
    extra.operations.giveAll();
    void closed(code, String(reason));
  });
}

/**
 * Whether the client may send one more message, and reads the messages that are sent to it. Otherwise the
 * socket is closed.
 */
function mayContinue({ socket, slot }: SocketExtra, messages: Rates): boolean {
  if (socket.readyState !== socket.OPEN) return false;
  const isFlooding = !messages.take(slot.claimant);
  const isUnread = slot.claimant.rank !== 'node' && socket.bufferedAmount > UNSENT_BYTES;
  if (!isFlooding && !isUnread) return true;
  if (isFlooding) socket.close(CLOSE_TOO_MANY, 'Too many messages. Connect again later.');
  else socket.terminate();
  return false;
}

/** Whether a message of this size is parsed. Otherwise the socket is closed. */
function mayRead({ socket, slot, isAcknowledged }: SocketExtra, bytes: number, reading: Rates): boolean {
  if (!isAcknowledged && bytes > FIRST_MESSAGE_BYTES)
    socket.close(CLOSE_TOO_LONG, 'The first message is too long. Send only a token with it.');
  else if (bytes > SHORT_MESSAGE_BYTES && !reading.has(slot.claimant))
    socket.close(CLOSE_TOO_MANY, 'Your messages took too much time to read. Connect again later.');
  else return true;
  return false;
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

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.byteLength;
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}
