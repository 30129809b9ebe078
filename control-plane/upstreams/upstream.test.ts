/** Tests providers, credentials, routes and probes over the API, and the encryption of secrets. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { creditGift } from '../wallet/movements.ts';
import { walletIdOf, walletOfUser } from '../wallet/wallet.service.ts';
import { isPublic } from './address-guard.ts';
import { ProviderSchema } from './upstream.entity.ts';
import { credentialReader } from './upstream.service.ts';
import { DEFAULT_TIMEOUTS } from './provider.rules.ts';
import { decryptSecret, encryptSecret } from './stored-secrets.ts';

const SECRET = 'upstream-secret-0123456789abcdef';
const PROVIDER = `mutation ($input: AdminProviderInput!) { adminProviderUpsert(input: $input) {
  provider { id version baseUrl credentials { id suffix enabled } } userErrors { code field message } } }`;
const CREDENTIAL = `mutation ($input: AdminCredentialInput!) { adminCredentialAdd(input: $input) {
  provider { credentials { id label suffix enabled } } userErrors { code } } }`;
const ROUTE = `mutation ($input: AdminRouteInput!) { adminRouteUpsert(input: $input) {
    route { id version } userErrors { code field } } }`;
const PROBE = `mutation ($input: AdminProbeInput!) { adminProviderProbe(input: $input) {
    result { ok status error sample } userErrors { code } } }`;

describe('upstreams', () => {
  let test: TestApp;
  let admin: Browser;
  let upstream: Server;
  let baseUrl: string;
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
    upstream = createServer((request, response) => {
      const good = request.headers.authorization === `Bearer ${SECRET}`;
      response
        .writeHead(good ? 200 : 401)
        .end(good ? '{"choices":[]}' : `bad key ${request.headers.authorization}`);
    });
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve);
    });
    baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  });
  afterAll(async () => {
    upstream.close();
    await test.close();
  });

  const save = (more: object = {}): Promise<Answer> =>
    admin.send(PROVIDER, {
      input: {
        name: 'one',
        protocols: ['CHAT_COMPLETIONS'],
        baseUrl: `${baseUrl}/`,
        enabled: true,
        reason: 'test',
        ...more,
      },
    });
  const records = async (kind: string) =>
    await query<{ key: string; payload: Record<string, unknown> }>(
      test.orm.em.fork(),
      sql`select key, payload from config_log where kind = ${kind} and not removed`,
    );
  const modelId = async () =>
    pick<string>(await admin.send('{ catalogModel(name: "swift") { id } }'), 'catalogModel', 'id');

  it('are created, probed and published to nodes, and their secrets are not shown again', async () => {
    const made = await save();
    const providerId = pick<string>(made, 'adminProviderUpsert', 'provider', 'id');
    expect(pick(made, 'adminProviderUpsert', 'provider', 'baseUrl')).toBe(baseUrl);
    const probe = () => admin.send(PROBE, { input: { providerId, upstreamModel: 'm' } });
    expect(pick(await probe(), 'adminProviderProbe', 'result')).toMatchObject({ ok: false, status: 401 });
    const added = await admin.send(CREDENTIAL, {
      input: { providerId, label: 'main', secret: SECRET, reason: 'test' },
    });
    const [credential] = pick<{ id: string }[]>(added, 'adminCredentialAdd', 'provider', 'credentials');
    expect(credential).toMatchObject({ label: 'main', suffix: 'cdef', enabled: true });
    expect(pick(await probe(), 'adminProviderProbe', 'result')).toMatchObject({
      ok: true,
      status: 200,
      sample: '{"choices":[]}',
    });
    const route = {
      modelId: await modelId(),
      providerId,
      upstreamModel: 'm-1',
      families: ['CHAT_COMPLETIONS'],
      priority: 1,
      weight: 1,
      enabled: true,
      reason: 'test',
    };
    expect(codesOf(await admin.send(ROUTE, { input: route }), 'adminRouteUpsert')).toEqual([]);
    expect((await records('PROVIDER'))[0]?.payload).toMatchObject({
      baseUrl,
      protocols: ['openai-chat'],
      allowPrivate: true,
    });
    expect((await records('CREDENTIAL'))[0]?.payload).toMatchObject({
      providerId,
      origin: new URL(baseUrl).origin,
      sealed: '',
    });
    expect((await records('ROUTE'))[0]?.payload).toMatchObject({
      upstreamModel: 'm-1',
      families: ['chat_completions'],
    });
  });

  it('store their secrets only encrypted', async () => {
    const readSecret = credentialReader(test.settings.secretKey);
    const [credential] = await records('CREDENTIAL');
    expect(await readSecret(test.orm.em.fork(), credential?.key ?? '')).toBe(SECRET);
    const stored = await query<{ row: string }>(
      test.orm.em.fork(),
      sql`
      select c::text as row from credential c union all select a::text from audit_event a
      union all select l::text from config_log l`,
    );
    for (const { row } of stored) expect(row).not.toContain(SECRET);
  });

  it('lose their credentials when their host changes, and all records when they are disabled', async () => {
    const { data } = await admin.send('{ admin { providers { id version } } }');
    const { id, version } = { ...data?.['admin']?.['providers']?.['0'] };
    const moved = await save({ id, version: Number(version), baseUrl: 'http://127.0.0.1:9/v1' });
    expect(pick(moved, 'adminProviderUpsert', 'provider', 'credentials')).toMatchObject([{ enabled: false }]);
    expect(await records('CREDENTIAL')).toEqual([]);
    expect(await records('ROUTE')).toHaveLength(1);
    expect(codesOf(await save({ id, version: Number(version) }), 'adminProviderUpsert')).toEqual([
      'STALE_VERSION',
    ]);
    await save({ id, version: Number(version) + 1, enabled: false });
    expect([
      ...(await records('PROVIDER')),
      ...(await records('ROUTE')),
      ...(await records('CREDENTIAL')),
    ]).toEqual([]);
  });

  it('are refused with an invalid name, protocol, timeout or address', async () => {
    const refusal = async (more: object) =>
      codesOf(await save({ name: 'two', ...more }), 'adminProviderUpsert');
    expect(await refusal({ baseUrl: `${baseUrl}?key=1` })).toEqual(['INVALID']);
    expect(await refusal({ protocols: [] })).toEqual(['INVALID']);
    expect(await refusal({ timeouts: { idleMs: 0 } })).toEqual(['INVALID']);
    expect(await refusal({ name: 'one' })).toEqual(['TAKEN']);
    expect(await refusal({ reason: '' })).toEqual(['REQUIRED']);
    expect((await save({ baseUrl: 'file:///etc/passwd' })).errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('end the demo and void the rest of its credit with the first real route', async () => {
    const em = test.orm.em.fork();
    const user = await test.user('demo@example.com');
    const userId = pick<string>(await user.send('{ viewer { id } }'), 'viewer', 'id');
    await creditGift(em, {
      walletId: await walletIdOf(em, userId),
      amount: 5_000_000n,
      kind: 'GIFT_ADMIN',
      reference: 'demo:credit',
      actor: SYSTEM_ACTOR,
      description: 'demo',
    });
    em.create(ProviderSchema, {
      id: newId('prv'),
      name: 'demo',
      protocols: ['openai-chat'],
      baseUrl,
      enabled: true,
      timeouts: DEFAULT_TIMEOUTS,
      demo: true,
    });
    await em.flush();
    const providerId = pick<string>(await save({ name: 'real' }), 'adminProviderUpsert', 'provider', 'id');
    expect((await walletOfUser(test.orm.em.fork(), userId))?.gift).toBe(5_000_000n);
    const route = {
      modelId: await modelId(),
      providerId,
      upstreamModel: 'm',
      families: ['CHAT_COMPLETIONS'],
      priority: 1,
      weight: 1,
      enabled: true,
    };
    expect(
      codesOf(await admin.send(ROUTE, { input: { ...route, reason: 'real' } }), 'adminRouteUpsert'),
    ).toEqual([]);
    expect((await walletOfUser(test.orm.em.fork(), userId))?.gift).toBe(0n);
    const { data } = await admin.send('{ admin { providers { demo } } }');
    expect(data?.['admin']?.['providers']).not.toContainEqual({ demo: true });
  });

  it('end the play money of the demo when the last provider of the demo is deleted', async () => {
    const em = test.orm.em.fork();
    const [first, last] = ['first', 'last'].map((name) => ({
      ...{ id: newId('prv'), name, protocols: ['openai-chat' as const], baseUrl, enabled: true, demo: true },
      timeouts: DEFAULT_TIMEOUTS,
    }));
    for (const provider of [first, last]) if (provider) em.create(ProviderSchema, provider);
    await em.flush();
    await query(em, sql`update payment_settings set play_money = true`);
    const remove = `mutation ($input: AdminReasonInput!) { adminProviderDelete(input: $input) {
      userErrors { code } } }`;
    const isOffered = async () => query(em, sql`select from payment_settings where play_money`);
    for (const [provider, left] of [
      [first, 1],
      [last, 0],
    ] as const) {
      const input = { id: provider?.id, reason: 'test' };
      expect(codesOf(await admin.send(remove, { input }), 'adminProviderDelete')).toEqual([]);
      expect(await isOffered()).toHaveLength(left);
    }
  });

  it('cannot have a route for a family that their protocols cannot serve', async () => {
    const made = await save({ name: 'talks', protocols: ['MESSAGES'] });
    const input = {
      modelId: await modelId(),
      providerId: pick<string>(made, 'adminProviderUpsert', 'provider', 'id'),
      upstreamModel: 'm',
      families: ['MESSAGES', 'EMBEDDINGS', 'REALTIME'],
      priority: 1,
      weight: 1,
      enabled: true,
      reason: 'test',
    };
    expect(codesOf(await admin.send(ROUTE, { input }), 'adminRouteUpsert')).toEqual(['INVALID']);
  });

  it('may have short secrets, of which nothing is shown', async () => {
    const made = await save({ name: 'short' });
    const providerId = pick<string>(made, 'adminProviderUpsert', 'provider', 'id');
    const add = async (label: string, secret: string) =>
      admin.send(CREDENTIAL, { input: { providerId, label, secret, reason: 'test' } });
    const added = await add('in-house', 'sk-1234');
    const credentials = pick<object[]>(added, 'adminCredentialAdd', 'provider', 'credentials');
    expect(credentials).toMatchObject([{ label: 'in-house', suffix: '' }]);
    expect(codesOf(await add('empty', ' '), 'adminCredentialAdd')).toEqual(['INVALID']);
  });

  it('are visible to administrators only', async () => {
    const user = await test.user('curious@example.com');
    expect(
      (await user.send(PROBE, { input: { providerId: 'x', upstreamModel: 'y' } })).errors[0]?.extensions.code,
    ).toBe('FORBIDDEN');
    const { data, errors } = await user.send(
      '{ catalogModel(name: "swift") { name routes { upstreamModel } } }',
    );
    expect(data?.['catalogModel']).toEqual({ name: 'swift', routes: null });
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('the address guard', () => {
  it('accepts only https on public addresses unless private upstreams are allowed', async () => {
    const test = await startTestApp({ env: { ALLOW_PRIVATE_UPSTREAMS: 'off' } });
    const admin = await test.admin();
    for (const baseUrl of [
      'http://93.184.216.34/v1',
      'https://127.0.0.1/v1',
      'https://localhost/v1',
      'https://10.1.2.3',
      'https://[::1]/v1',
      'https://[::ffff:127.0.0.1]/v1',
      'https://169.254.169.254/latest',
      'https://0x7f.1/',
      'https://no-such-host.invalid/v1',
    ]) {
      const input = { name: 'p', protocols: ['MESSAGES'], baseUrl, enabled: true, reason: 'test' };
      expect(codesOf(await admin.send(PROVIDER, { input }), 'adminProviderUpsert'), baseUrl).toEqual([
        'INVALID',
      ]);
    }
    const input = {
      name: 'p',
      protocols: ['MESSAGES'],
      baseUrl: 'https://93.184.216.34/v1',
      enabled: true,
      reason: 'test',
    };
    expect(codesOf(await admin.send(PROVIDER, { input }), 'adminProviderUpsert')).toEqual([]);
    await test.close();
  });

  it('recognises public addresses', () => {
    for (const address of ['8.8.8.8', '2606:4700::1111']) expect(isPublic(address), address).toBe(true);
    for (const address of [
      '10.0.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '::1',
      'fd00::1',
      '::ffff:10.0.0.1',
      '::127.0.0.1',
      '::10.0.0.1',
      // Not assigned: a later use may embed an IPv4 address.
      '4000::1',
      '200::7f00:1',
      '168.63.129.16',
      '::ffff:168.63.129.16',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '100.100.100.200',
      '192.0.0.192',
      '0.0.0.0',
      'x',
    ]) {
      expect(isPublic(address), address).toBe(false);
    }
  });
});

describe('an encrypted secret', () => {
  it('can be decrypted only with its key and for its location', () => {
    const location = { table: 'credential', id: 'crd_1', field: 'secret' };
    const sealed = encryptSecret('k'.repeat(32), SECRET, location);
    expect(decryptSecret('k'.repeat(32), sealed, location)).toBe(SECRET);
    expect(encryptSecret('k'.repeat(32), SECRET, location)).not.toBe(sealed);
    expect(() => decryptSecret('j'.repeat(32), sealed, location)).toThrow();
    expect(() => decryptSecret('k'.repeat(32), sealed, { ...location, id: 'crd_2' })).toThrow();
    expect(() => decryptSecret('k'.repeat(32), `${sealed.slice(0, -2)}AA`, location)).toThrow();
  });
});
