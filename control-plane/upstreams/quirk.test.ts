/** Quirks and lists of models over the API, and the records that nodes get of them. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { probeDue } from './probing.ts';

const PROVIDER = `mutation ($input: AdminProviderInput!) { adminProviderUpsert(input: $input) {
  provider { id version quirks { kind } } userErrors { code } } }`;
const QUIRKS = `mutation ($input: AdminQuirksInput!) { adminQuirksSet(input: $input) {
  quirks { kind member other value min max } userErrors { code field message } } }`;
const MODELS = `mutation ($input: AdminProviderModelsInput!) { adminProviderModels(input: $input) {
  models { name routed } userErrors { code message } } }`;
const ROUTES = `mutation ($input: AdminRoutesInput!) { adminRoutesCreate(input: $input) {
  routes { id version upstreamModel quirks { kind } } userErrors { code field } } }`;

describe('quirks', () => {
  let test: TestApp;
  let admin: Browser;
  let upstream: Server;
  let providerId: string;
  let list: string;
  const seen: string[] = [];
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
    upstream = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(list === '' ? 404 : 200).end(list);
    });
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve);
    });
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
    const input = { name: 'quirky', protocols: ['CHAT_COMPLETIONS'], baseUrl, enabled: true, reason: 'test' };
    const made = await admin.send(PROVIDER, { input });
    expect(pick(made, 'adminProviderUpsert', 'provider', 'quirks')).toEqual([]);
    providerId = pick<string>(made, 'adminProviderUpsert', 'provider', 'id');
  });
  afterAll(async () => {
    upstream.close();
    await test.close();
  });

  const set = (id: string, version: number, ...quirks: object[]): Promise<Answer> =>
    admin.send(QUIRKS, { input: { id, version, quirks, reason: 'test' } });
  const payloadOf = async (id: string) => {
    const rows = await query<{ payload: { quirks?: object[] } }>(
      test.orm.em.fork(),
      sql`select payload from config_log where key = ${id} and not removed`,
    );
    return rows[0]?.payload.quirks;
  };

  it('are saved for a provider and published to nodes', async () => {
    const clamp = { kind: 'CLAMP', member: 'temperature', max: 1 };
    const saved = await set(providerId, 1, clamp);
    const row = { ...clamp, other: null, value: null, min: null };
    expect(pick(saved, 'adminQuirksSet', 'quirks')).toEqual([row]);
    expect(await payloadOf(providerId)).toEqual([row]);
  });

  it('are refused with the number of the row if one is invalid, or if there are too many', async () => {
    const good = { kind: 'DROP', member: 'seed' };
    const bad = await set(providerId, 2, good, { kind: 'SET', member: 'store', value: 'true' });
    expect(pick(bad, 'adminQuirksSet', 'userErrors')).toMatchObject([
      { code: 'INVALID', message: expect.stringContaining('Row 2') },
    ]);
    const many = Array.from({ length: 41 }, () => good);
    expect(codesOf(await set(providerId, 2, ...many), 'adminQuirksSet')).toEqual(['INVALID']);
    expect(codesOf(await set(providerId, 1, good), 'adminQuirksSet')).toEqual(['STALE_VERSION']);
  });

  it('are saved for a route beside those of its provider', async () => {
    list = '{"data":[{"id":"m-2"},{"id":"m-1"},{"id":"m-1"},{"id":"bad name"},{}]}';
    const modelId = pick<string>(
      await admin.send('{ catalogModel(name: "swift") { id } }'),
      'catalogModel',
      'id',
    );
    const read = () => admin.send(MODELS, { input: { providerId } });
    expect(pick(await read(), 'adminProviderModels', 'models')).toEqual([
      { name: 'm-1', routed: false },
      { name: 'm-2', routed: false },
    ]);
    expect(seen.at(-1)).toBe('/v1/models');
    const common = { providerId, families: ['CHAT_COMPLETIONS'], priority: 1, weight: 1, reason: 'test' };
    const routes = [{ modelId, upstreamModel: 'm-1' }];
    const unknown = [...routes, { modelId: 'mdl_unknown', upstreamModel: 'm-2' }];
    const failed = await admin.send(ROUTES, { input: { ...common, routes: unknown } });
    expect(codesOf(failed, 'adminRoutesCreate')).toEqual(['NOT_FOUND']);
    const created = await admin.send(ROUTES, { input: { ...common, routes } });
    const [route] = pick<{ id: string; version: number }[]>(created, 'adminRoutesCreate', 'routes');
    expect(route).toMatchObject({ upstreamModel: 'm-1', quirks: [] });
    expect(pick(await read(), 'adminProviderModels', 'models')).toEqual([
      { name: 'm-1', routed: true },
      { name: 'm-2', routed: false },
    ]);
    const { id = '', version = 0 } = route ?? {};
    expect(codesOf(await set(id, version, { kind: 'NO_SYSTEM', other: 'user' }), 'adminQuirksSet')).toEqual(
      [],
    );
    expect(await payloadOf(id)).toMatchObject([{ kind: 'NO_SYSTEM', other: 'user' }]);
  });

  it('do not include the routing of the model, a separate setting that nodes receive', async () => {
    const read = '{ catalogModel(name: "swift") { id version routing } }';
    const { id, version, routing } = pick<{ id: string; version: number; routing: string }>(
      await admin.send(read),
      'catalogModel',
    );
    expect(routing).toBe('FIXED');
    const input = { id, version, routing: 'FASTEST', hedged: true, reason: 'test' };
    const set = await admin.send(
      `mutation ($input: AdminModelRoutingInput!) { adminModelRoutingSet(input: $input) {
        model { routing } userErrors { code } } }`,
      { input },
    );
    expect(pick(set, 'adminModelRoutingSet', 'model', 'routing')).toBe('FASTEST');
    const [record] = await query<{ payload: object }>(
      test.orm.em.fork(),
      sql`select payload from config_log where key = ${id} and not removed`,
    );
    expect(record?.payload).toMatchObject({ routing: 'FASTEST', hedged: true });
  });

  it('do not hinder scheduled probes, which are due when their interval has passed', async () => {
    const fork = () => test.orm.em.fork();
    const count = async () => {
      seen.length = 0;
      await probeDue(fork(), test.settings);
      return seen.length;
    };
    expect(await count()).toBe(0);
    const version = await query<{ version: number }>(
      fork(),
      sql`select version from provider where id = ${providerId}`,
    );
    const input = { id: providerId, version: version[0]?.version, probeMinutes: 5, reason: 'test' };
    const set = await admin.send(
      `mutation ($input: AdminProviderProbingInput!) { adminProviderProbingSet(input: $input) {
        provider { probeMinutes } userErrors { code } } }`,
      { input },
    );
    expect(pick(set, 'adminProviderProbingSet', 'provider', 'probeMinutes')).toBe(5);
    expect(await count()).toBe(1);
    expect(await count()).toBe(0);
    await query(fork(), sql`update upstream_probe set at = at - interval '6 minutes'`);
    list = '';
    expect(await count()).toBe(1);
    const [last] = await query<object>(fork(), sql`select http_status, error from upstream_probe`);
    expect(last).toEqual({ http_status: 404, error: 'FAILED' });
  });

  it('do not hide why a provider gives no list of models', async () => {
    list = '';
    const refused = await admin.send(MODELS, { input: { providerId } });
    expect(pick(refused, 'adminProviderModels', 'userErrors')).toMatchObject([
      { code: 'INVALID', message: expect.stringContaining('status 404') },
    ]);
    list = 'no json';
    expect(codesOf(await admin.send(MODELS, { input: { providerId } }), 'adminProviderModels')).toEqual([
      'INVALID',
    ]);
  });
});
