/** The two ways in which an attacker sends requests: as raw bytes on a socket, and through an HTTP client. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { attackerAddress } from './attack.ts';
import type { Assault } from './attack.ts';

/** A request whose bytes are written to a socket without an HTTP client, so that it may be malformed. */
export interface RawRequest {
  port: number;
  /** Index of the attacker. It determines the source address (`attackerAddress`). */
  from: number;
  /** Request line and headers, with their line ends. They are sent once. */
  head: string;
  /** Bytes that are sent repeatedly after the head. */
  block?: Buffer | string;
  /** Pause between two blocks, in ms. */
  pauseMs?: number;
  /** Maximum number of blocks; without it, blocks are sent until the end of the connection or attack. */
  blocks?: number;
  /** Whether the client reads nothing of the answer. */
  deaf?: boolean;
}

/** Maximum duration of one request, in ms. */
const LIMIT_MS = 30_000;
const DEFAULT_PAUSE_MS = 5;

/**
 * Sends the head and the blocks, then waits for the first bytes of the answer, and closes the connection.
 * Resolves at the latest when the gateway closes the connection, the attack ends, or `LIMIT_MS` is over. The
 * tally counts the status of the answer; without an answer it counts `closed` if the gateway closed the
 * connection, else `held`. Never rejects.
 */
export async function sendRaw({ tally, signal }: Assault, raw: RawRequest): Promise<void> {
  const socket = connect({ port: raw.port, host: '127.0.0.1', localAddress: attackerAddress(raw.from) });
  let answer = '';
  socket.on('error', () => undefined);
  if (raw.deaf) socket.pause();
  else
    socket.on('data', (data) => {
      if (answer.length < 100) answer += data.toString('latin1');
    });
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const until = Date.now() + LIMIT_MS;
  try {
    await write(socket, raw.head);
    for (let block = 0; raw.block && block < (raw.blocks ?? Infinity); block += 1) {
      if (socket.destroyed || signal.aborted || Date.now() > until) break;
      await write(socket, raw.block);
      tally.sent(raw.block.length);
      await sleep(raw.pauseMs ?? DEFAULT_PAUSE_MS);
    }
    while (!socket.destroyed && !answer && !signal.aborted && Date.now() < until) await sleep(20);
  } finally {
    signal.removeEventListener('abort', stop);
    const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
    tally.ended(status ?? (socket.destroyed && !signal.aborted ? 'closed' : 'held'));
    socket.destroy();
  }
}

/** Resolves when the system has taken the bytes, or the connection is closed. */
function write(socket: Socket, data: Buffer | string): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', resolve);
    socket.write(data, () => {
      socket.off('close', resolve);
      resolve();
    });
  });
}

/** A well-formed request through the HTTP client of Node.js. */
export interface Ordinary {
  port: number;
  from: number;
  path: string;
  headers?: Record<string, string>;
  /** JSON, or text or bytes that are sent as they are. Without a body, the method is GET. */
  body?: object | string | Buffer;
}

const agents = new Map<string, Agent>();

/**
 * Sends a request on a keep-alive connection, reads the whole answer, and counts its status. Ends the request
 * if nothing arrives for `limitMs`. Resolves with the first bytes of the answer, or with '' if none came.
 * Without an answer the tally counts `held` if the attack has ended, else `refused`. Never rejects.
 */
export function sendRequest(
  { tally, signal, target }: Assault,
  ordinary: Ordinary,
  limitMs = LIMIT_MS,
): Promise<string> {
  const address = attackerAddress(ordinary.from);
  const agent = agents.get(address) ?? new Agent({ keepAlive: true, maxSockets: 64 });
  agents.set(address, agent);
  const { body, port, path } = ordinary;
  const text = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
  return new Promise((resolve) => {
    const outgoing = request(
      {
        ...{ host: '127.0.0.1', port, path, localAddress: address, agent, signal, timeout: limitMs },
        method: text === undefined ? 'GET' : 'POST',
        headers: {
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
          ...ordinary.headers,
        },
      },
      (response) => {
        let answer = '';
        response.on('data', (data: Buffer) => {
          if (answer.length < 1_000) answer += data.toString();
        });
        response.on('error', () => undefined);
        response.on('close', () => resolve(answer));
        tally.ended(response.statusCode ?? 0);
        if (response.statusCode === 200 && port === target.nodePort) tally.counts.paid += 1;
      },
    );
    let isLate = false;
    // Node only announces it.
    outgoing.on('timeout', () => {
      isLate = true;
      outgoing.destroy();
    });
    outgoing.on('error', () => {
      tally.ended(isLate ? 'late' : signal.aborted ? 'held' : 'refused');
      resolve('');
    });
    tally.sent(text?.length ?? 0);
    outgoing.end(text);
  });
}

/** The header that authenticates a request to a node with this API key. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
