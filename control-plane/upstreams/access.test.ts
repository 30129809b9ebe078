/** Tests over the API how upstreams are reached: rules, secrets of each kind, and what nodes receive. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UPSTREAM_PRESETS } from '@gateway/shared/clouds/presets';
import { quirkProblem } from '@gateway/shared/quirks';
import { AWS_KEYS, KEY_FILE, isSigned } from '../../test/clouds.ts';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { selfSigned } from '../../test/tls.ts';
import { query, sql } from '../database/sql.ts';
import { checkedAccess } from './access.rules.ts';
import { credentialReader } from './upstream.service.ts';

const PROVIDER = `mutation ($input: AdminProviderInput!) { adminProviderUpsert(input: $input) {
  provider { id version access { auth region query { name value } } credentials { enabled } }
  userErrors { code field message } } }`;
const CREDENTIAL = `mutation ($input: AdminCredentialInput!) { adminCredentialAdd(input: $input) {
  provider { credentials { id suffix enabled } } userErrors { code field message } } }`;
const PROBE = `mutation ($input: AdminProbeInput!) { adminProviderProbe(input: $input) {
  result { ok status error } userErrors { code } } }`;

const MODELS = `mutation ($input: AdminProviderModelsInput!) { adminProviderModels(input: $input) {
  models { name } userErrors { code } } }`;
const PROBING = `mutation ($input: AdminProviderProbingInput!) { adminProviderProbingSet(input: $input) {
  userErrors { code } } }`;

/** The answers of the upstream to requests for lists, by path. */
const lists: Record<string, object> = {
  '/foundation-models': {
    modelSummaries: [
      { modelId: 'anthropic.claude-a', inferenceTypesSupported: ['ON_DEMAND'] },
      { modelId: 'anthropic.claude-b', inferenceTypesSupported: ['INFERENCE_PROFILE'] },
      { modelId: 'amazon.nova-pro-v1:0', inferenceTypesSupported: ['ON_DEMAND', 'PROVISIONED'] },
    ],
  },
  '/inference-profiles': {
    inferenceProfileSummaries: [
      { inferenceProfileId: 'us.anthropic.claude-b' },
      { inferenceProfileId: 'us.amazon.nova-2' },
    ],
  },
  '/v1beta1/publishers/google/models': { publisherModels: [{ name: 'publishers/google/models/gemini-x' }] },
  '/v1beta1/publishers/anthropic/models': {
    publisherModels: [{ name: 'publishers/anthropic/models/claude-x' }],
  },
};

describe('the access of an upstream', () => {
  let test: TestApp;
  let admin: Browser;
  let upstream: Server;
  let origin: string;
  const seen: (Pick<IncomingMessage, 'headers'> & { method: string; path: string; body: string })[] = [];
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
    upstream = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        seen.push({ method, path, headers, body });
        const token = { access_token: 'token-1', expires_in: 3600 };
        response.end(JSON.stringify(path === '/token' ? token : (lists[path.split('?')[0] ?? ''] ?? {})));
      });
    });
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve);
    });
    origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    upstream.close();
    await test.close();
  });

  const readModels = async (providerId: string): Promise<string[]> => {
    const answer = await admin.send(MODELS, { input: { providerId } });
    return pick<{ name: string }[]>(answer, 'adminProviderModels', 'models').map(({ name }) => name);
  };
  let count = 0;
  const save = (more: object): Promise<Answer> => {
    count += 1;
    const common = {
      protocols: ['CHAT_COMPLETIONS'],
      baseUrl: `${origin}/v1`,
      enabled: true,
      reason: 'test',
    };
    return admin.send(PROVIDER, { input: { name: `cloud ${count}`, ...common, ...more } });
  };
  const saved = async (more: object) => {
    const answer = await save(more);
    expect(codesOf(answer, 'adminProviderUpsert')).toEqual([]);
    return pick<{ id: string; version: number; access: unknown }>(answer, 'adminProviderUpsert', 'provider');
  };
  const add = (providerId: string, secret: string, certificate?: string): Promise<Answer> =>
    admin.send(CREDENTIAL, { input: { providerId, label: 'main', secret, certificate, reason: 'test' } });
  const records = async (kind: string, key: string) =>
    (
      await query<{ payload: Record<string, unknown> }>(
        test.orm.em.fork(),
        sql`select payload from config_log where kind = ${kind} and key = ${key} and not removed`,
      )
    )[0]?.payload;
  const probe = (providerId: string): Promise<Answer> =>
    admin.send(PROBE, { input: { providerId, upstreamModel: 'm' } });

  it('is published to nodes, stays when it is left out, and becomes the default by null', async () => {
    const access = { auth: 'AZURE_API_KEY', query: [{ name: 'api-version', value: '2024-10-21' }] };
    const { id, version } = await saved({ name: 'azure', access });
    expect((await records('PROVIDER', id))?.['access']).toMatchObject({
      ...access,
      style: 'STANDARD',
      headers: [],
    });
    const kept = await saved({ id, version, name: 'azure' });
    expect(kept.access).toMatchObject({ auth: 'AZURE_API_KEY' });
    const reset = await saved({ id, version: kept.version, name: 'azure', access: null });
    expect(reset.access).toBeNull();
    expect((await records('PROVIDER', id))?.['access']).toBeNull();
  });

  it.each([
    ['auth', { auth: 'AZURE_ENTRA', clientId: 'c' }, 'tenantId'],
    ['an unused parameter', { auth: 'BEARER', region: 'us-east-1' }, 'region'],
    ['a region', { auth: 'AWS_KEYS', region: 'evil.example/' }, 'region'],
    [
      'a style that has no such format',
      { auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' },
      'protocols',
    ],
    ['a header with a credential', { headers: [{ name: 'Authorization', value: 'x' }] }, 'headers'],
    ['a header of the connection', { headers: [{ name: 'Transfer-Encoding', value: 'x' }] }, 'headers'],
    ['a header that AWS signs', { headers: [{ name: 'x-amz-date', value: 'x' }] }, 'headers'],
    ['a header with a line break', { headers: [{ name: 'x-a', value: 'x\r\nhost: y' }] }, 'headers'],
    ['a query parameter with a key', { query: [{ name: 'key', value: 'x' }] }, 'query'],
    ['a template without the path', { pathTemplate: '/x/{model}' }, 'pathTemplate'],
    ['a template that leaves the base', { pathTemplate: '/../{path}' }, 'pathTemplate'],
    ['a proxy with a path', { proxyUrl: 'http://proxy.example/x' }, 'proxyUrl'],
  ])('is refused for %s', async (_name, access, field) => {
    const answer = await save({ access });
    expect(pick(answer, 'adminProviderUpsert', 'userErrors')).toMatchObject([
      { code: 'INVALID', field: ['input', field] },
    ]);
  });

  it('reaches no private token endpoint or proxy unless private addresses are allowed', async () => {
    const surroundings = { protocols: [], baseUrl: 'https://api.example.com', allowPrivate: false };
    const entra = { auth: 'AZURE_ENTRA', tenantId: 't', clientId: 'c' } as const;
    for (const tokenUrl of ['http://login.example/t', 'https://127.0.0.1/t', 'https://169.254.169.254/t'])
      await expect(checkedAccess({ ...entra, tokenUrl }, surroundings)).rejects.toThrow(/Use an? /);
    await expect(checkedAccess({ proxyUrl: 'http://10.0.0.1:3128' }, surroundings)).rejects.toThrow('public');
  });

  it('sends the identity of a node, and tokens for it, only to the cloud', async () => {
    const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b';
    const access = { auth: 'GOOGLE_WORKLOAD_IDENTITY', audience, style: 'VERTEX' };
    const fieldsOf = async (more: object) => {
      const answer = await save({ protocols: ['GENERATIVE_LANGUAGE'], access, ...more });
      const errors = pick<{ field: string[] }[]>(answer, 'adminProviderUpsert', 'userErrors');
      return errors.flatMap(({ field }) => field.slice(-1));
    };
    const vertex = 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1';
    expect(await fieldsOf({ baseUrl: vertex })).toEqual([]);
    for (const host of ['evil.example', 'aiplatform.googleapis.com.evil.example', 'evil.googleapis.com'])
      expect(await fieldsOf({ baseUrl: `https://${host}` })).toEqual(['baseUrl']);
    const elsewhere = { ...access, tokenUrl: `${origin}/token` };
    expect(await fieldsOf({ baseUrl: vertex, access: elsewhere })).toEqual(['tokenUrl']);
  });

  it('is checked again when an update changes the formats and omits the access', async () => {
    const access = { auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' };
    const { id, version } = await saved({ name: 'kept', protocols: ['MESSAGES'], access });
    const answer = await save({ id, version, name: 'kept', protocols: ['CHAT_COMPLETIONS'] });
    expect(codesOf(answer, 'adminProviderUpsert')).toEqual(['INVALID']);
  });

  it('takes the keys of AWS, shows the end of the key id, and signs a probe with them', async () => {
    const access = { auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' };
    const { id } = await saved({ protocols: ['MESSAGES'], baseUrl: origin, access });
    expect(codesOf(await add(id, 'an-api-key-0123456789'), 'adminCredentialAdd')).toEqual(['INVALID']);
    const added = await add(id, JSON.stringify(AWS_KEYS));
    expect(pick(added, 'adminCredentialAdd', 'provider', 'credentials')).toMatchObject([
      { suffix: '5678', enabled: true },
    ]);
    expect(pick(await probe(id), 'adminProviderProbe', 'result')).toMatchObject({ ok: true });
    const request = seen.at(-1);
    expect(request?.path).toBe('/model/m/invoke');
    expect(request && (await isSigned(origin, request))).toBe(true);
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ anthropic_version: 'bedrock-2023-05-31' });
  });

  it.each([
    ['MESSAGES', ['anthropic.claude-a', 'us.anthropic.claude-b']],
    [
      'BEDROCK_CONVERSE',
      ['amazon.nova-pro-v1:0', 'anthropic.claude-a', 'us.amazon.nova-2', 'us.anthropic.claude-b'],
    ],
  ])('reads the models of Bedrock that %s can use, with signed requests', async (protocol, names) => {
    const access = { auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' };
    const { id } = await saved({ protocols: [protocol], baseUrl: origin, access });
    await add(id, JSON.stringify(AWS_KEYS));
    seen.length = 0;
    const models = await readModels(id);
    expect(models).toEqual(names);
    expect(seen.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'GET /foundation-models?byOutputModality=TEXT',
      'GET /inference-profiles?maxResults=1000',
    ]);
    for (const request of seen) expect(await isSigned(origin, request)).toBe(true);
  });

  it('reads the models of the publishers of Vertex AI, and probes them regularly', async () => {
    const access = { auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX', tokenUrl: `${origin}/token` };
    const { id, version } = await saved({ protocols: ['GENERATIVE_LANGUAGE', 'MESSAGES'], access });
    await add(id, KEY_FILE);
    expect(await readModels(id)).toEqual(['claude-x', 'gemini-x']);
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer token-1');
    const input = { id, version, probeMinutes: 5, reason: 'test' };
    expect(codesOf(await admin.send(PROBING, { input }), 'adminProviderProbingSet')).toEqual([]);
  });

  it('takes the quirks of a preset with the upstream, in one change', async () => {
    const cohere = UPSTREAM_PRESETS.find((preset) => preset.id === 'cohere');
    const { id } = await saved({ name: 'cohere', quirks: cohere?.quirks });
    expect((await records('PROVIDER', id))?.['quirks']).toEqual(cohere?.quirks);
    expect(cohere?.quirks).toContainEqual(
      expect.objectContaining({ kind: 'DROP', member: 'stream_options' }),
    );
    const bad = await save({ quirks: [{ kind: 'DROP', member: 'model' }] });
    expect(codesOf(bad, 'adminProviderUpsert')).toEqual(['INVALID']);
  });

  it('takes a certificate with its RSA key for Entra, and shows its serial number', async () => {
    const access = { auth: 'AZURE_ENTRA', tenantId: 't', clientId: 'c' };
    const { id } = await saved({ access });
    const [rsa, other, ec] = await Promise.all([
      selfSigned(['a'], 'RSA'),
      selfSigned(['b'], 'RSA'),
      selfSigned(['c']),
    ]);
    for (const wrong of [rsa.key, rsa.key + other.certificate, ec.key + ec.certificate])
      expect(codesOf(await add(id, wrong), 'adminCredentialAdd')).toEqual(['INVALID']);
    const locked = createPrivateKey(rsa.key).export({
      ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    });
    for (const key of [ec.key, String(locked), rsa.key.replaceAll(' PRIVATE', ' EC PRIVATE')])
      expect(JSON.stringify(await add(id, `${key}${rsa.certificate}`))).toContain(
        'an RSA key without a password',
      );
    const added = await add(id, `Bag Attributes\n${rsa.key}${rsa.certificate}\n`);
    const [credential] = pick<{ id: string; suffix: string }[]>(
      added,
      'adminCredentialAdd',
      'provider',
      'credentials',
    );
    const { serialNumber } = new X509Certificate(rsa.certificate);
    expect(credential?.suffix).toBe(serialNumber.slice(-4));
  });

  it('takes the key file of a service account, of which it stores what is needed', async () => {
    const access = { auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX', tokenUrl: `${origin}/token` };
    const { id } = await saved({ protocols: ['GENERATIVE_LANGUAGE'], access });
    expect(codesOf(await add(id, '{"type":"service_account"}'), 'adminCredentialAdd')).toEqual(['INVALID']);
    const added = await add(id, KEY_FILE);
    const [credential] = pick<{ id: string }[]>(added, 'adminCredentialAdd', 'provider', 'credentials');
    const stored = await credentialReader(test.settings.secretKey)(test.orm.em.fork(), credential?.id ?? '');
    expect(Object.keys(JSON.parse(stored ?? ''))).toEqual(['client_email', 'private_key_id', 'private_key']);
    expect(pick(await probe(id), 'adminProviderProbe', 'result')).toMatchObject({ ok: true });
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer token-1');
    expect(seen.at(-1)?.path).toBe('/v1/publishers/google/models/m:generateContent');
  });

  it('disables credentials of another kind or of another token endpoint', async () => {
    const entra = {
      auth: 'AZURE_ENTRA',
      tenantId: 'tenant',
      clientId: 'client',
      tokenUrl: `${origin}/token`,
    };
    const { id, version } = await saved({ name: 'entra', access: entra });
    await add(id, 'client-secret-0123456789');
    const moved = { ...entra, tokenUrl: 'http://127.0.0.1:9/token' };
    const answer = await save({ id, version, name: 'entra', access: moved });
    expect(pick(answer, 'adminProviderUpsert', 'provider', 'credentials')).toEqual([{ enabled: false }]);
    const back = await save({ id, version: version + 1, name: 'entra', access: { auth: 'BEARER' } });
    expect(pick(back, 'adminProviderUpsert', 'provider', 'credentials')).toEqual([{ enabled: false }]);
  });

  it('takes a client certificate whose key fits, apart from the secrets of requests', async () => {
    const { id } = await saved({});
    const { certificate, key } = await selfSigned();
    const other = await selfSigned();
    expect(codesOf(await add(id, other.key, certificate), 'adminCredentialAdd')).toEqual(['INVALID']);
    const added = await add(id, key, certificate);
    const [credential] = pick<{ id: string }[]>(added, 'adminCredentialAdd', 'provider', 'credentials');
    expect(await records('CREDENTIAL', credential?.id ?? '')).toMatchObject({
      binding: 'CLIENT_CERTIFICATE',
    });
    await probe(id);
    expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('has presets that are valid unchanged, with different ids, and a source each', async () => {
    const { data } = await admin.send(
      '{ admin { upstreamPresets { id source access { auth } quirks { kind member } quirksSource } } }',
    );
    expect(data?.['admin']?.['upstreamPresets']).toHaveLength(UPSTREAM_PRESETS.length);
    expect(UPSTREAM_PRESETS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(UPSTREAM_PRESETS.map((preset) => preset.id)).size).toBe(UPSTREAM_PRESETS.length);
    for (const { baseUrl, source, access, protocols, quirks, quirksSource } of UPSTREAM_PRESETS) {
      expect(quirksSource === null).toBe(quirks.length === 0);
      expect(quirks.map(quirkProblem)).toEqual(quirks.map(() => undefined));
      expect(baseUrl).toMatch(/^https:\/\/[^?#]+[^/]$/);
      expect(new URL(source).protocol).toBe('https:');
      expect(await checkedAccess(access, { protocols, baseUrl, allowPrivate: true })).toEqual(access);
    }
  });
});
