/** Limits of a listener against clients that send long headers, do not read, or cause many log lines. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { PIPELINED_REQUESTS } from '@gateway/shared/request-pace';
import { startTestApp } from '../test/control/app.ts';
import type { TestApp } from '../test/control/app.ts';
import { CONTROL_PATHS, pathsIn } from '../test/limits/doors.ts';
import { HEADER_BYTES, LOG_LINES_PER_NETWORK, UNSENT_BYTES } from './limits.ts';

const MEGABYTE = 1024 * 1024;
/** Upper bound of the bytes that the kernel buffers for a connection. */
const KERNEL_BYTES = 16 * MEGABYTE;
const FILE_BYTES = 4 * MEGABYTE;
const FILES = PIPELINED_REQUESTS;
/** Files of the console in this test, and of the API explorer. */
const FILE_NAMES = new Set(['/index.html', '/large.bin', '/small.txt', '/graphql/index.html']);
const FREELY = { perSecond: 1e6, atOnce: 1e6 };
const UNLIMITED = { anonymous: FREELY, allAnonymous: FREELY, user: FREELY, admin: FREELY, node: FREELY };

let folder: string;
let test: TestApp;
let lines: Record<string, unknown>[];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'console-'));
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(folder, 'large.bin'), Buffer.alloc(FILE_BYTES));
  writeFileSync(path.join(folder, 'small.txt'), 'small');
  lines = [];
  test = await startTestApp({
    env: { CONSOLE_FOLDER: folder },
    rates: { messages: UNLIMITED },
    log: (line) => lines.push(line),
  });
});
afterAll(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const requests = (): number => lines.filter(({ status }) => status !== undefined).length;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));

function open(): Socket {
  const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}

it('headers above their limit are refused with 431, and shorter ones are accepted', async () => {
  const statusOf = async (bytes: number): Promise<string> => {
    const socket = open();
    socket.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(bytes)}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString('latin1').slice(9, 12);
  };
  expect(await statusOf(HEADER_BYTES)).toBe('431');
  expect(await statusOf(HEADER_BYTES - 1_000)).toBe('200');
});

it('a connection whose client does not read gets no further files', async () => {
  const before = requests();
  const socket = open();
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(FILES));
  await pause();
  expect(requests() - before).toBeLessThanOrEqual(KERNEL_BYTES / FILE_BYTES);
  socket.resume();
  await expect.poll(() => requests() - before, { timeout: 20_000 }).toBe(FILES);
  socket.destroy();
});

it('a WebSocket whose client does not read is disconnected above UNSENT_BYTES', async () => {
  const { cookie } = await test.user('slow@example.com');
  const url = `${test.url.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers: { cookie: cookie ?? '' } });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  let pongs = 0;
  socket.on('message', () => (pongs += 1));
  socket.on('error', () => undefined);
  socket.pause();
  const payload = { text: 'x'.repeat(50_000) };
  const count = (KERNEL_BYTES + 2 * UNSENT_BYTES) / payload.text.length;
  for (let sent = 0; sent < count; sent += 1) socket.send(JSON.stringify({ type: 'ping', payload }));
  await expect.poll(() => socket.bufferedAmount, { timeout: 20_000 }).toBe(0);
  socket.resume();
  expect(await closed).toBe(1006);
  expect(pongs).toBeLessThan(count);
});

it('a network causes a limited number of log lines per minute', async () => {
  const before = requests();
  for (let sent = before; sent < LOG_LINES_PER_NETWORK + 50; sent += 1) {
    const { status } = await fetch(`${test.url}/small.txt`);
    expect(status).toBe(200);
  }
  expect(requests()).toBe(LOG_LINES_PER_NETWORK);
});

it('every path belongs to an entrance of the table of limits', () => {
  const paths = pathsIn(test.app.server.printRoutes({ commonPrefix: false }));
  const isFile = (name: string): boolean => FILE_NAMES.has(name) || name.startsWith('/graphql/assets/');
  expect(paths.filter((name) => !isFile(name))).toEqual(Object.keys(CONTROL_PATHS).toSorted());
});
