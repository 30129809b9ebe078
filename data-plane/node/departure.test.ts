/** A stopping node fails no request of a proxy that keeps connections. */
import { Agent, createServer, get } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
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

describe('departure', () => {
  it('accepts connections while not ready, then serves only open connections, then ends', async () => {
    const server = createServer((_request, response) => void response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanups.push(() => agent.destroy());
    await open(server, agent);
    const stages: Stage[] = [];
    const left = depart(server, { drainMs: 3_000, enter: (stage) => void stages.push(stage) });
    expect(stages).toEqual(['leaving']);
    expect(await open(server, false)).toBe(200);
    const { port } = server.address() as AddressInfo;
    await expect.poll(() => server.listening, { timeout: 2_000, interval: 5 }).toBe(false);
    expect(stages).toEqual(['leaving']);
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
    expect(stages).toEqual(['leaving', 'draining']);
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
    expect(await statusOf(node, '/readyz')).toEqual([503, 'keep-alive']);
    expect(await statusOf(node, '/v1/models')).toEqual([200, 'close']);
    expect(await statusOf(node, '/metrics')).toEqual([200, 'keep-alive']);
    stage = 'draining';
    expect(await statusOf(node, '/v1/models')).toEqual([503, 'close']);
    expect(await statusOf(node, '/metrics')).toEqual([200, 'keep-alive']);
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
