/**
 * A rolling restart of three nodes behind the proxies of the documentation, under traffic: no request fails
 * and every stream is complete. Runs with each proxy that is installed.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../database.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import { startFront } from './front.ts';
import type { Front, FrontKind } from './front.ts';

const BASE_DOMAIN = 'api.test';
const REQUESTS_PER_SECOND = 100;
const STREAMS = 30;
/** A stream lasts four seconds. */
const CHUNKS = 20;
const CHUNK_EVERY_MS = 200;
/** A node is not ready for a tenth of it, then serves open connections until 2 s without a request. */
const DRAIN_SECONDS = 25;
const INSTALLED: readonly [FrontKind, boolean][] = [
  ['nginx', spawnSync('nginx', ['-v']).status === 0],
  ['caddy', spawnSync('caddy', ['version']).status === 0],
];

const frame = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'budget' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const ANSWER = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'budget' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'stop' }],
});

async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let count = 0; count < CHUNKS; count += 1) {
    response.write(frame({ content: 'word ' }, null));
    await sleep(CHUNK_EVERY_MS);
  }
  response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
}

/** An upstream that answers at once, or streams slowly. */
async function startModel(): Promise<{ url: string; close(): void }> {
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      if (body.includes('"stream":true')) void stream(response);
      else response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

/** Sends chat requests through the proxy. */
function clientOf(front: Front, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const options = {
    ...{ agent, host: '127.0.0.1', port: front.port, servername: BASE_DOMAIN, ca: front.certificate },
    ...{ path: '/v1/chat/completions', method: 'POST' },
    headers: { host: BASE_DOMAIN, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  };
  return {
    /** The body of the answer, or why there is none. */
    ask: (isStreamed: boolean): Promise<string> =>
      new Promise((resolve) => {
        const outgoing = request(options, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () =>
            resolve(response.statusCode === 200 ? text : `${response.statusCode} ${text}`),
          );
          response.on('error', (error) => resolve(`cut: ${error.message}`));
        });
        outgoing.on('error', (error) => resolve(`failed: ${error.message}`));
        const messages = [{ role: 'user', content: 'Hi' }];
        outgoing.end(JSON.stringify({ model: 'budget', stream: isStreamed, messages }));
      }),
    close: () => agent.destroy(),
  };
}

/** Traffic until `end`, and everything that went wrong. */
function startTraffic(client: ReturnType<typeof clientOf>) {
  const wrong: string[] = [];
  const counts = { requests: 0, streams: 0 };
  let isOver = false;
  const plain = async (): Promise<void> => {
    const text = await client.ask(false);
    counts.requests += 1;
    if (!text.includes('"word"')) wrong.push(text.slice(0, 300));
  };
  const streams = async (): Promise<void> => {
    while (!isOver) {
      const text = await client.ask(true);
      counts.streams += 1;
      if (!text.endsWith('data: [DONE]\n\n')) wrong.push(`stream: ${text.slice(-300)}`);
    }
  };
  const open = Array.from({ length: STREAMS }, streams);
  const asked: Promise<void>[] = [];
  const timer = setInterval(() => asked.push(plain()), 1000 / REQUESTS_PER_SECOND);
  return {
    end: async () => {
      isOver = true;
      clearInterval(timer);
      await Promise.all([...asked, ...open]);
      return { wrong, ...counts };
    },
  };
}

describe('a rolling restart of three nodes', () => {
  for (const [kind, isInstalled] of INSTALLED)
    it.skipIf(!isInstalled)(
      `behind ${kind} fails no request and completes every stream${isInstalled ? '' : ' (not installed)'}`,
      { timeout: 300_000 },
      async () => {
        const folder = mkdtempSync(join(tmpdir(), 'gateway-rolling-'));
        const [database, model] = await Promise.all([createTestDatabase(), startModel()]);
        const house = await startHouse({
          databaseUrl: database.url,
          nodes: 3,
          controlEnv: { PUBLIC_URL: `https://${BASE_DOMAIN}` },
          nodeEnv: { TRUST_PROXY: '127.0.0.1/32', DRAIN_SECONDS: String(DRAIN_SECONDS) },
        });
        await addUpstream(house, { baseUrl: model.url, models: ['budget'] });
        const customer = await addCustomer(house, '1000');
        const front = await startFront(kind, {
          ...{ folder: join(folder, kind), baseDomain: BASE_DOMAIN, consoleDomain: 'console.test' },
          nodePorts: house.nodes.map((node) => node.process.port),
          controlPort: house.control.port,
        });
        const client = clientOf(front, customer.key);
        try {
          const traffic = startTraffic(client);
          await sleep(2000);
          for (const node of house.nodes) {
            const ended = once(node.process.child, 'exit');
            node.process.child.kill('SIGTERM');
            expect((await ended)[0]).toBe(0);
            await node.restart();
            // The proxies look every few seconds which nodes are ready.
            await sleep(3000);
          }
          const { wrong, requests, streams } = await traffic.end();
          expect(wrong, wrong.length > 0 ? front.written() : '').toEqual([]);
          expect(requests).toBeGreaterThan(1000);
          expect(streams).toBeGreaterThanOrEqual(2 * STREAMS);
        } finally {
          client.close();
          await front.stop();
          await house.stop();
          model.close();
          await database.drop();
          rmSync(folder, { recursive: true, force: true });
        }
      },
    );
});
