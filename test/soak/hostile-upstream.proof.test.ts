/** The memory of a node's process stays bounded, whatever its upstream sends. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOSTILE_MODES, answerHostile } from './hostile-upstream.ts';
import type { HostileMode } from './hostile-upstream.ts';

/** Requests at once, half of them streamed. */
const REQUESTS = 4;
/** Permitted peak above the level before: four answers of up to 25 MB, their buffers, and garbage. */
const GROWTH_MB = 256;
const TIMEOUT_MS = 60_000;
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

const HONEST =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n' +
  `Content-Length: ${ANSWER.length}\r\n\r\n${ANSWER}`;

let upstream: Server;
let child: ChildProcess;
let node: { port: number; key: string };
let mode: HostileMode | undefined;

beforeAll(async () => {
  upstream = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (mode) void answerHostile(socket, mode);
      else socket.write(HONEST);
    });
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const { port } = upstream.address() as AddressInfo;
  child = fork(join(import.meta.dirname, 'hostile-node.ts'), [String(port)], {
    execArgv: ['--max-old-space-size=512'],
    env: { PATH: process.env['PATH'] },
  });
  [node] = (await once(child, 'message')) as [typeof node];
}, TIMEOUT_MS);

afterAll(() => {
  child.disconnect();
  upstream.close();
});

async function ask(stream: boolean): Promise<number> {
  const body = JSON.stringify({ model: 'swift', stream, messages: [{ role: 'user', content: 'Hi' }] });
  const headers = { authorization: `Bearer ${node.key}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${node.port}/v1/chat/completions`;
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.text().catch(() => undefined);
  return response.status;
}

/** A figure of the node's process, in MB. */
function memory(name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
}

it.skipIf(process.platform !== 'linux').each(HOSTILE_MODES)(
  'a node stays small and serves others after an upstream sent $name',
  async (hostile) => {
    mode = undefined;
    // The circuit of a route opens after failures, and closes with the next success.
    await expect.poll(() => ask(false), { timeout: TIMEOUT_MS, interval: 500 }).toBe(200);
    const before = memory('VmRSS');
    // 5 resets the peak.
    writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
    mode = hostile;
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, (_, index) => ask(index % 2 === 0)));
    expect(memory('VmHWM') - before).toBeLessThan(GROWTH_MB);
    expect(statuses.every((status) => status === 200 || status >= 500)).toBe(true);
    expect(child.exitCode).toBeNull();
    mode = undefined;
    await expect.poll(() => ask(false), { timeout: TIMEOUT_MS, interval: 500 }).toBe(200);
  },
  2 * TIMEOUT_MS,
);
