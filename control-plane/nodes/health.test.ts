import { generateKeyPairSync } from 'node:crypto';
import { exportPublicKey } from '@gateway/shared/sealing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { readHealth } from '../catalog/health.service.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { runJob } from '../process/jobs.ts';
import { dataPlaneStatus } from './health.resolver.ts';
import { createNode, drainNode, nodeById } from './node.service.ts';
import { registerNode } from './registration.service.ts';

describe('system health', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it.each([
    [[], 'UNKNOWN'],
    [['JOINING'], 'UNKNOWN'],
    [['IN_SYNC', 'JOINING'], 'OK'],
    [['IN_SYNC', 'LAGGING'], 'DEGRADED'],
    [['IN_SYNC', 'OFFLINE'], 'DEGRADED'],
    [['OFFLINE', 'DRAINING'], 'DOWN'],
  ] as const)('reports for nodes %j the data plane status %s', (states, status) => {
    expect(dataPlaneStatus(states.map((state) => ({ state, retired: false })))).toBe(status);
  });

  it.each([
    [['IN_SYNC'], 'OK'],
    [['IN_SYNC', 'OFFLINE'], 'DEGRADED'],
    [['LAGGING'], 'DEGRADED'],
    [[], 'DOWN'],
  ] as const)('reports for nodes %j and a retired node the data plane status %s', (states, status) => {
    const others = states.map((state) => ({ state, retired: false }));
    expect(dataPlaneStatus([{ state: 'OFFLINE', retired: true }, ...others])).toBe(status);
  });

  it('is shown to administrators only', async () => {
    const source = '{ admin { systemHealth { status database settlementAlarms24h nodes { name } } } }';
    expect(pick(await (await test.admin()).send(source), 'admin', 'systemHealth')).toEqual({
      status: 'UNKNOWN',
      database: 'OK',
      settlementAlarms24h: 0,
      nodes: [],
    });
    expect((await (await test.user('curious@example.com')).send(source)).data).toEqual({ admin: null });
  });

  it('shows the archive of the usage log and why its last run failed', async () => {
    const source = '{ admin { systemHealth { usageArchive { status target pending files archivedAt } } } }';
    const archive = async () =>
      pick(await (await test.admin()).send(source), 'admin', 'systemHealth', 'usageArchive');
    const none = { pending: 0, files: 0, archivedAt: null };
    expect(await archive()).toEqual({ status: 'UNKNOWN', target: null, ...none });
    test.settings.usageArchive = { folder: '/archive' };
    test.settings.usageRetentionDays = 30;
    const em = () => test.orm.em.fork();
    const run = (work: () => Promise<void>) =>
      runJob({ name: 'usage archive', everyMs: 60_000, work }, { em }).catch(() => undefined);
    await run(async () => {
      throw new Error('The folder /archive cannot be used.');
    });
    expect(await archive()).toEqual({ status: 'DEGRADED', target: '/archive', ...none });
    await run(async () => undefined);
    expect(await archive()).toEqual({ status: 'OK', target: '/archive', ...none });
    test.settings.usageArchive = null;
    test.settings.usageRetentionDays = null;
  });

  it('reports a node as DRAINING until the node starts again', async () => {
    const admin = await test.admin();
    const input = { name: 'leaving', reason: 'Moves.' };
    const made = await admin.send(
      `mutation ($input: AdminNodeCreateInput!) { adminNodeCreate(input: $input) { node { id } } }`,
      { input },
    );
    const id = pick<string>(made, 'adminNodeCreate', 'node', 'id');
    const em = test.orm.em.fork();
    const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);
    const start = () => registerNode(em, id, { version: '1', region: null, publicKey, journalId: 'journal' });
    const stateOf = async () => (await nodeById(em, id)).state;
    await start();
    const drain = await admin.send(
      `mutation ($input: AdminReasonInput!) { adminNodeDrain(input: $input) { node { state }
        userErrors { code } } }`,
      { input: { id, reason: 'Moves.' } },
    );
    expect(pick(drain, 'adminNodeDrain', 'node', 'state')).toBe('DRAINING');
    await start();
    expect(await stateOf()).not.toBe('DRAINING');
    await expect(drainNode(em, 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV')).rejects.toThrow('no such node');
  });

  it('is DEGRADED by an offline node, unless an administrator drained it', async () => {
    const em = test.orm.em.fork();
    const admin = await test.admin();
    const start = async (name: string) => {
      const { node } = await createNode(em, name);
      const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);
      const again = () =>
        registerNode(em, node.id, { version: '1', region: null, publicKey, journalId: `journal ${name}` });
      await again();
      return { id: node.id, again };
    };
    const away = (id: string) =>
      query(em, sql`update data_plane_node set last_seen_at = now() - interval '1 hour' where id = ${id}`);
    const ask = async () =>
      pick<{ dataPlane: string; nodes: { name: string; state: string; retired: boolean }[] }>(
        await admin.send('{ admin { systemHealth { dataPlane nodes { name state retired } } } }'),
        'admin',
        'systemHealth',
      );
    await query(em, sql`update data_plane_node set last_seen_at = null`);
    const [, gone] = [await start('stays'), await start('goes')];
    await query(em, sql`update data_plane_node set applied_revision = (select revision from config_head)`);
    expect((await ask()).dataPlane).toBe('OK');
    await away(gone.id);
    expect((await ask()).dataPlane).toBe('DEGRADED');
    await drainNode(em, gone.id);
    const retired = await ask();
    expect(retired.dataPlane).toBe('OK');
    expect(retired.nodes).toContainEqual({ name: 'goes', state: 'OFFLINE', retired: true });
    await gone.again();
    await away(gone.id);
    expect((await ask()).dataPlane).toBe('DEGRADED');
  });
});

describe('the health of a model', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
    for (const name of ['one', 'two', 'three']) await test.user(`${name}@example.com`);
  });
  afterAll(() => test.close());

  it('compares answers with upstream failures of the last 24 hours, from three customers on', async () => {
    const entry = (outcome: string, latency: number, { age = '1 hour', customer = 0, first = 0 } = {}) =>
      query(
        test.orm.em.fork(),
        sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
          model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms,
          ttft_ms)
        select ${newId('use')}, ${newId('use')}, now() - ${age}::interval, 'nod', 'key', wallet.id, 'default',
          'API_KEY', 'some-model', 'chat_completions', 0, '1', 0, 'SUCCEEDED', ${outcome}, 200, ${first > 0},
          ${latency}, ${first || null}
        from wallet order by id offset ${customer} limit 1`,
      );
    for (let at = 1; at <= 19; at += 1) await entry('DELIVERED', at * 100, { customer: at % 2, first: at });
    await entry('UPSTREAM_FAILED', 5000);
    await entry('UPSTREAM_FAILED', 5000);
    for (const outcome of ['REFUSED', 'CLIENT_LEFT', 'THROTTLED']) await entry(outcome, 1);
    await entry('UPSTREAM_FAILED', 1, { age: '2 days', customer: 2 });
    expect((await readHealth(test.orm.em.fork())).get('some-model')).toBeUndefined();
    await entry('DELIVERED', 2000, { customer: 2, first: 20 });
    expect((await readHealth(test.orm.em.fork())).get('some-model')).toEqual({
      status: 'DEGRADED',
      successRate24h: '0.9091',
      p50LatencyMs: 1000,
      p95LatencyMs: 1900,
      p50FirstTokenMs: 10,
      p95FirstTokenMs: 19,
    });
    const nobody = await test
      .browser()
      .send('{ catalog(first: 1) { nodes { health { status successRate24h } } } }');
    expect(pick<object[]>(nobody, 'catalog', 'nodes')).toEqual([
      { health: { status: 'UNKNOWN', successRate24h: null } },
    ]);
  });
});
