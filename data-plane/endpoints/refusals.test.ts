/** Refusals of bad requests and keys: status, format, no charge; also health, redirects and model lists. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { PLAYGROUND_PASS_HEADER, writePlaygroundPass } from '@gateway/shared/playground-pass';
import type { KeyRecord } from '@gateway/shared/records';
import { issueKey } from '@gateway/shared/secrets';
import { SETTINGS, makeKey, makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { CallOptions, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

let upstream: FakeUpstream;
let node: TestNode;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode();
  node.store.routes.push(makeRoute(upstream.origin));
});

beforeEach(() => {
  node.store.keys.splice(1);
  node.store.settings = SETTINGS;
  node.store.pools = [];
  node.store.accounts = [];
  node.ledger.charges = [];
  node.ledger.refuse = undefined;
});

afterAll(async () => {
  await node.close();
  await upstream.close();
});

async function refused(options: CallOptions): Promise<{ status: number; code: string; message: string }> {
  const asked = upstream.seen.length;
  const { status, text } = await node.call(options);
  expect(upstream.seen.length).toBe(asked);
  expect(node.ledger.charges).toEqual([]);
  expect(node.ledger.open).toBe(0);
  const { error } = JSON.parse(text);
  return { status, code: error.code, message: error.message };
}

/** A further key and the headers that carry it. */
function withKey(changes: Partial<KeyRecord>): Record<string, string> {
  const { secret, record } = makeKey({ id: 'key-2', ...changes });
  node.store.keys.push(record);
  return { authorization: `Bearer ${secret}` };
}

describe('a body', () => {
  const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
  const bodies: [string, unknown][] = [
    ['that is not JSON', '{"model":'],
    ['that is not an object', '[1]'],
    ['that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['with two models', '{"model":"swift","messages":[],"model":"flagship"}'],
    [
      'with two models, one of them written with escapes',
      '{"model":"swift","messages":[],"mod\\u0065l":"flagship"}',
    ],
    [
      'with a model member in another case',
      '{"model":"swift","messages":[{"role":"user","content":"x"}],"Model":"x"}',
    ],
    ['that is nested too deeply', `{"model":"swift","messages":[],"x":${deep}}`],
    ['with a member __proto__', '{"model":"swift","messages":[],"x":{"__proto__":{}}}'],
    [
      'with a member __proto__ written with escapes',
      '{"model":"swift","messages":[],"x":{"\\u005f_proto__":{}}}',
    ],
    ['without a model', { messages: QUESTION.messages }],
    ['with a number as model', { ...QUESTION, model: 7 }],
    ['with text as messages', { ...QUESTION, messages: 'Hello' }],
    ['with more answers than one price includes', { ...QUESTION, n: 3 }],
    ['with a service tier that is not sold', { ...QUESTION, service_tier: 'priority' }],
  ];
  for (const [name, body] of bodies) {
    it(`${name} is refused with 400`, async () => {
      expect((await refused({ body })).status).toBe(400);
    });
  }

  it('is refused with 413 before it is read if it has 33 MiB', async () => {
    const body = Buffer.alloc(33 * 1024 * 1024, 0x20);
    expect(await refused({ body })).toMatchObject({ status: 413 });
  });

  it('is refused with 415 if it is not declared as JSON, or compressed in an unknown way', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await refused({ body: 'a=b', headers: form })).status).toBe(415);
    expect((await refused({ body: '{}', headers: { 'content-type': 'nonsense' } })).status).toBe(415);
    expect((await refused({ body: QUESTION, headers: { 'content-encoding': 'zstd' } })).status).toBe(415);
  });

  it('is refused with 404 if its model does not exist or the key may not use it', async () => {
    expect((await refused({ body: { ...QUESTION, model: 'nope' } })).status).toBe(404);
    expect((await refused({ body: QUESTION, headers: withKey({ group: 'vip' }) })).status).toBe(404);
    const headers = withKey({ id: 'key-3', allowedModels: ['flagship'] });
    expect((await refused({ body: QUESTION, headers })).status).toBe(404);
  });
});

describe('a key', () => {
  it('is refused with 401 if it is missing, malformed, unknown or in the wrong header', async () => {
    expect((await refused({ body: QUESTION, headers: { authorization: '' } })).status).toBe(401);
    expect((await refused({ body: QUESTION, headers: { authorization: 'Bearer sk-short' } })).status).toBe(
      401,
    );
    expect(
      (await refused({ body: QUESTION, headers: { authorization: `Bearer ${issueKey()}` } })).status,
    ).toBe(401);
    const headers = { authorization: '', 'x-api-key': node.secret };
    const { status, message } = await refused({ body: QUESTION, headers });
    expect({ status, says: message.includes('Authorization: Bearer') }).toEqual({ status: 401, says: true });
  });

  it('is refused with 403 if it is disabled, expired or used from another address', async () => {
    const refusal = (changes: Partial<KeyRecord>) => refused({ body: QUESTION, headers: withKey(changes) });
    expect(await refusal({ enabled: false })).toMatchObject({ status: 403, code: 'key_disabled' });
    expect(await refusal({ expiresAt: 1 })).toMatchObject({ status: 403, code: 'key_expired' });
    expect(await refusal({ allowedIps: ['10.0.0.0/8'] })).toMatchObject({
      status: 403,
      code: 'ip_not_allowed',
    });
    const allowed = withKey({ id: 'key-4', allowedIps: ['127.0.0.0/8'] });
    expect((await node.call({ body: QUESTION, headers: allowed })).status).toBe(200);
  });

  it('is refused with 403 if its wallet is frozen, and with a final 402 if it is empty', async () => {
    node.store.accounts = [
      { kind: 'ACCOUNT', id: 'a', walletId: 'wallet-1', frozen: true, suspended: false, closed: false },
    ];
    expect(await refused({ body: QUESTION })).toMatchObject({ status: 403, code: 'wallet_frozen' });
    node.store.accounts = [];
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Top up.');
    const { status, headers, text } = await node.call({ body: QUESTION });
    expect({ status, retry: headers['x-should-retry'] }).toEqual({ status: 402, retry: 'false' });
    expect(text).toContain(`${node.store.settings.consoleUrl}/wallet`);
  });

  it('is accepted until its grace period ends if a rotation has replaced it', async () => {
    const { secret, record } = makeKey({ id: 'key-5' });
    const replaced = { ...makeKey().record, id: 'key-5', previousDigest: record.digest };
    const headers = { authorization: `Bearer ${secret}` };
    node.store.keys.push({ ...replaced, previousUntil: Date.now() + 60_000 });
    expect((await node.call({ body: QUESTION, headers })).status).toBe(200);
    node.ledger.charges = [];
    node.store.keys.splice(1, 1, { ...replaced, previousUntil: 1 });
    expect((await refused({ body: QUESTION, headers })).status).toBe(401);
  });

  it('is accepted as the Playground’s key only with a current pass of the control plane', async () => {
    const headers = withKey({ hidden: true });
    const pass = (at: number, keyId = 'key-2') => ({
      ...headers,
      [PLAYGROUND_PASS_HEADER]: writePlaygroundPass(SETTINGS.playgroundKey ?? '', {
        source: 'PLAYGROUND',
        ip: '192.0.2.7',
        keyId,
        at,
      }),
    });
    expect((await refused({ body: QUESTION, headers })).status).toBe(401);
    expect((await refused({ body: QUESTION, headers: pass(1) })).status).toBe(401);
    expect((await refused({ body: QUESTION, headers: pass(Date.now(), 'key-1') })).status).toBe(401);
    expect((await node.call({ body: QUESTION, headers: pass(Date.now()) })).status).toBe(200);
    expect(node.ledger.charges).toMatchObject([{ source: 'PLAYGROUND', ip: '192.0.2.7' }]);
  });

  it('reaches only the upstreams in its pass, if it is the Playground’s key', async () => {
    const headers = withKey({ hidden: true });
    const pass = (providerIds: readonly string[]): Record<string, string> => ({
      ...headers,
      [PLAYGROUND_PASS_HEADER]: writePlaygroundPass(SETTINGS.playgroundKey ?? '', {
        source: 'PLAYGROUND',
        ip: null,
        keyId: 'key-2',
        at: Date.now(),
        providerIds,
      }),
    });
    expect(await refused({ body: QUESTION, headers: pass(['another']) })).toMatchObject({ status: 503 });
    const own = node.store.routes[0]?.provider.id ?? '';
    expect((await node.call({ body: QUESTION, headers: pass(['another', own]) })).status).toBe(200);
  });
});

describe('a path', () => {
  it('answers 404 if it is unknown, 405 to another method, and 501 if it is not implemented', async () => {
    expect((await refused({ path: '/v1/nonsense', body: QUESTION })).status).toBe(404);
    expect((await refused({ path: '/v1/chat/completions', method: 'GET' })).status).toBe(405);
    for (const method of ['TRACE', 'HEAD', 'GET', 'DELETE']) {
      const { status, headers } = await node.call({ path: '/v1/chat/completions', method });
      expect([method, status, headers.allow]).toEqual([method, 405, 'POST']);
    }
    for (const path of ['/v1/files', '/v1/videos', '/v1/realtime/client_secrets', '/v2/chat'])
      expect((await refused({ path, body: QUESTION })).status).toBe(501);
    expect((await refused({ path: '/v1/fine_tuning/jobs/x/cancel', body: QUESTION })).status).toBe(501);
    const headers = { authorization: '' };
    expect((await refused({ path: '/v1/files', body: QUESTION, headers })).status).toBe(401);
    expect((await refused({ path: '/v1/%zz', method: 'GET' })).status).toBe(400);
  });

  it('answers 426 to a WebSocket upgrade for responses', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x' };
    expect((await node.call({ path: '/v1/responses', method: 'GET', headers })).status).toBe(426);
  });

  it('redirects to the console, and serves health and preflights, without a key', async () => {
    const signIn = await node.call({ path: '/sign-in', method: 'GET' });
    expect([signIn.status, signIn.headers.location]).toEqual([302, 'http://console.test:4000/sign-in']);
    expect((await node.call({ path: '/', method: 'HEAD' })).status).toBe(200);
    expect((await node.call({ path: '/livez', method: 'GET' })).status).toBe(200);
    expect((await node.call({ path: '/readyz', method: 'GET' })).status).toBe(200);
    expect((await node.call({ path: '/metrics', method: 'GET' })).text).toContain('gateway_requests_total');
    const preflight = await node.call({ path: '/v1/messages', method: 'OPTIONS' });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
  });

  it('lets every web page read answers and the headers of the gateway', async () => {
    const origin = 'https://page.test';
    for (const path of ['/v1/models', '/v1/nothing']) {
      const { headers } = await node.call({ path, method: 'GET', headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toMatch(/^x-request-id, .*x-gateway-price-usd/);
    }
    const { headers } = await node.call({ path: '/v1/models', method: 'GET' });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toBeUndefined();
  });
});

describe('a node without a current configuration', () => {
  it('answers 503 and is not ready if its configuration is missing or too old', async () => {
    node.store.absent = true;
    expect((await refused({ body: QUESTION })).status).toBe(503);
    expect((await node.call({ path: '/readyz', method: 'GET' })).status).toBe(503);
    node.store.absent = false;
    node.store.confirmedAt = 1;
    expect((await refused({ body: QUESTION })).status).toBe(503);
    node.store.confirmedAt = Date.now();
  });
});

describe('the model list', () => {
  const list = (headers: Record<string, string>, path = '/v1/models') =>
    node.call({ path, method: 'GET', headers });

  it('has the style of the header that carries the key', async () => {
    const none = { authorization: '' };
    const chat = JSON.parse((await list({})).text);
    expect(chat).toMatchObject({ object: 'list', data: [{ id: 'swift', object: 'model' }] });
    expect(chat).not.toHaveProperty('has_more');
    const messages = JSON.parse((await list({ 'x-api-key': node.secret })).text);
    expect(messages).toMatchObject({
      data: [{ type: 'model', id: 'swift', display_name: 'Swift' }],
      has_more: false,
    });
    const generative = { models: [{ name: 'models/swift' }] };
    expect(JSON.parse((await list({ ...none, 'x-gen-api-key': node.secret })).text)).toMatchObject(
      generative,
    );
    expect(JSON.parse((await list({ ...none, 'x-goog-api-key': node.secret })).text)).toMatchObject(
      generative,
    );
    expect(JSON.parse((await list(none, `/v1/models?key=${node.secret}`)).text)).toMatchObject(generative);
    const both = JSON.parse((await list({ 'anthropic-version': '2026-10-21' })).text);
    expect(both).toMatchObject({
      object: 'list',
      has_more: false,
      data: [{ object: 'model', type: 'model' }],
    });
  });

  it('has only models that the key may use, and serves each by its name', async () => {
    node.store.modelList.push(makeModel({ id: 'model-2', name: 'secret-vip', prices: {} }));
    expect((await list({})).text).not.toContain('secret-vip');
    expect(JSON.parse((await list({}, '/v1/models/swift')).text)).toMatchObject({ id: 'swift' });
    expect((await list({}, '/v1/models/secret-vip')).status).toBe(404);
    expect((await list({ 'x-goog-api-key': node.secret }, '/v1beta/models/swift')).text).toContain(
      'models/swift',
    );
  });
});
