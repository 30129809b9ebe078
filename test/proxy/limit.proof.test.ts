/** The limit of one address in nginx with the file of the documentation, if nginx is installed. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFront } from './front.ts';
import type { Front } from './front.ts';

const BASE_DOMAIN = 'api.test';
const FILE = join(import.meta.dirname, '..', '..', 'docs', 'operations', 'nginx.conf.template');
const LIMIT = Number(/^limit_conn addresses (\d+);$/m.exec(readFileSync(FILE, 'utf8'))?.[1]);
const isInstalled = spawnSync('nginx', ['-v']).status === 0;
/** For a busy machine. */
const UNTIL_MS = 60_000;

/** A node that answers no request until it is told to. */
async function startNode(): Promise<{ port: number; waiting: ServerResponse[]; close(): void }> {
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => waiting.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, waiting, close: () => server.close() };
}

/** The status of the answer to a request from an address of this machine. */
function ask({ port, certificate }: Front, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, localAddress, servername: BASE_DOMAIN, ca: certificate };
    const headers = { host: BASE_DOMAIN };
    const outgoing = request({ ...options, headers, path: '/v1/models', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

it.skipIf(!isInstalled)(
  'nginx refuses requests of an address above its limit with 429, and serves other addresses',
  { timeout: 2 * UNTIL_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-limit-'));
    const node = await startNode();
    const front = await startFront('nginx', {
      ...{ folder: join(folder, 'nginx'), baseDomain: BASE_DOMAIN, consoleDomain: 'console.test' },
      ...{ nodePorts: [node.port], controlPort: node.port },
    });
    const arrived = (count: number): Promise<void> =>
      expect.poll(() => node.waiting.length, { timeout: UNTIL_MS }).toBe(count);
    try {
      const held = Array.from({ length: LIMIT }, () => ask(front, '127.0.0.1'));
      await arrived(LIMIT);
      expect(await ask(front, '127.0.0.1')).toBe(429);
      const other = ask(front, '127.0.0.2');
      await arrived(LIMIT + 1);
      for (const response of node.waiting) response.end('{}');
      expect(await other).toBe(200);
      expect(new Set(await Promise.all(held))).toEqual(new Set([200]));
    } finally {
      await front.stop();
      node.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
