/** A stopping node fails no request of a proxy that keeps connections. */
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { Vitals } from '../metrics.ts';
import { depart } from './departure.ts';
import type { Stage } from './departure.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function open(server: Server, agent: Agent | false): Promise<number> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

const IDLE = { inflight: 0, served: 0 };

async function listening(): Promise<Server> {
  const server = createServer((_request, response) => void response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.closeAllConnections());
  return server;
}

describe('departure', () => {
  it('accepts connections while not ready, then serves only open connections, then ends', async () => {
    const server = await listening();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanups.push(() => agent.destroy());
    await open(server, agent);
    const stages: Stage[] = [];
    const left = depart(server, { drainMs: 3_000, enter: (stage) => void stages.push(stage), traffic: IDLE });
    expect(stages).toEqual(['leaving']);
    expect(await open(server, false)).toBe(200);
    const { port } = server.address() as AddressInfo;
    await expect.poll(() => server.listening, { timeout: 2_000, interval: 5 }).toBe(false);
    await expect.poll(() => stages, { timeout: 2_000, interval: 5 }).toEqual(['leaving', 'draining']);
    const refused = get({ host: '127.0.0.1', port, agent: false });
    await expect(new Promise((_, reject) => void refused.on('error', reject))).rejects.toThrow(
      'ECONNREFUSED',
    );
    const kept = get({ host: '127.0.0.1', port, agent });
    const status = await new Promise((resolve, reject) => {
      kept.on('error', reject).on('response', (response) => resolve(response.resume().statusCode));
    });
    expect(status).toBe(200);
    await left;
    expect(stages).toEqual(['leaving', 'draining', 'ended']);
  });

  it('resets no connection that waits to be accepted', async () => {
    const server = await listening();
    const answers = Array.from({ length: 30 }, () => open(server, false));
    // The system has completed these connections; the server accepts them one by one.
    await depart(server, { drainMs: 1, enter: () => undefined, traffic: IDLE });
    expect(await Promise.all(answers)).toEqual(answers.map(() => 200));
  });

  it('ends when no request was in progress for a while, at the latest after its whole time', async () => {
    const stages: Stage[] = [];
    const enter = (stage: Stage): void => void stages.push(stage);
    const traffic = { inflight: 1, served: 0 };
    const first = depart(await listening(), { drainMs: 5_000, enter, traffic });
    await expect.poll(() => stages, { timeout: 10_000, interval: 5 }).toEqual(['leaving', 'draining']);
    traffic.inflight = 0;
    await first;
    expect(stages).toEqual(['leaving', 'draining', 'ended']);
    await depart(await listening(), { drainMs: 500, enter, traffic: { inflight: 1, served: 0 } });
    expect(stages.at(-1)).toBe('ended');
  });
});

const VITALS: Vitals = {
  leaving: false,
  revision: 1,
  confirmedAt: undefined,
  journalWritable: true,
  unreadableCredentials: 0,
  skippedRecords: 0,
  usageBacklog: 0,
  usageDropped: 0,
  leases: 0,
  charges: 0,
  chargedMicros: 0n,
  quarantined: 0,
};

async function statusOf(node: TestNode, path: string): Promise<[number, string | undefined]> {
  const { status, headers } = await node.call({ method: 'GET', path, headers: { connection: 'keep-alive' } });
  return [status, headers.connection];
}

describe('a node', () => {
  it('is not ready while it leaves; it serves and closes connections, except for metrics', async () => {
    let stage: Stage = 'serving';
    const node = await startNode({ stage: () => stage });
    cleanups.push(() => node.close());
    expect(await statusOf(node, '/readyz')).toEqual([200, 'keep-alive']);
    expect(await statusOf(node, '/v1/models')).toEqual([200, 'keep-alive']);
    stage = 'leaving';
    expect(await statusOf(node, '/readyz')).toEqual([503, 'close']);
    expect(await statusOf(node, '/v1/models')).toEqual([200, 'close']);
    expect(await statusOf(node, '/metrics')).toEqual([200, 'keep-alive']);
    stage = 'draining';
    expect(await statusOf(node, '/livez')).toEqual([200, 'close']);
    expect(await statusOf(node, '/v1/models')).toEqual([200, 'close']);
    expect(await statusOf(node, '/metrics')).toEqual([200, 'keep-alive']);
    stage = 'ended';
    expect(await statusOf(node, '/v1/models')).toEqual([503, 'close']);
    expect(await statusOf(node, '/metrics')).toEqual([200, 'keep-alive']);
  });

  it('serves one more request on the connection of a stream that began before the node left', async () => {
    const chunk = (content: string, reason: string | null = null): string => {
      const choices = [{ index: 0, delta: { content }, finish_reason: reason }];
      const event = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'vendor-model', choices };
      return `data: ${JSON.stringify(event)}\n\n`;
    };
    const upstream = await startUpstream(() => ({
      headers: { 'content-type': 'text/event-stream' },
      chunks: [chunk('one'), chunk('two', 'stop'), 'data: [DONE]\n\n'],
      gapMs: 100,
    }));
    cleanups.push(() => upstream.close());
    let stage: Stage = 'serving';
    const node = await startNode({ stage: () => stage });
    cleanups.push(() => node.close());
    node.store.routes = [makeRoute(upstream.origin)];
    const body = JSON.stringify({
      model: 'swift',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const socket = connect(node.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway.test\r\nauthorization: Bearer ${node.secret}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes('one')) stage = 'draining';
    });
    await expect.poll(() => text).toMatch(/connection: keep-alive[^]*two[^]*\r\n0\r\n\r\n$/i);
    text = '';
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: gateway.test\r\nauthorization: Bearer ${node.secret}\r\n\r\n`,
    );
    await once(socket, 'end');
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i);
  });

  it('is not ready while its journal cannot be written', async () => {
    const vitals = { ...VITALS, journalWritable: false };
    const node = await startNode({ vitals: () => vitals });
    cleanups.push(() => node.close());
    expect((await statusOf(node, '/readyz'))[0]).toBe(503);
    vitals.journalWritable = true;
    expect((await statusOf(node, '/readyz'))[0]).toBe(200);
  });
});
