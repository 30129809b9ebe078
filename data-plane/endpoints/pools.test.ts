/** Pools on the request path: which host accepts which key, and which models are sold there. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KeyRecord, PoolRecord } from '@gateway/shared/records';
import { issueKey } from '@gateway/shared/secrets';
import { ENDPOINTS } from './table.ts';
import { SETTINGS, makeKey, makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { CallOptions, CallResult, TestNode } from '../../test/request-path.ts';
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
const HOST = 'acme.gateway.test:8080';

let upstream: FakeUpstream;
let node: TestNode;
let pool: PoolRecord;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode();
});

beforeEach(() => {
  pool = {
    kind: 'POOL',
    id: 'pool-1',
    name: 'Acme',
    subdomain: 'acme',
    models: [makeModel()],
    rpmCap: 60,
    paidUntil: Date.now() + 60_000,
  };
  node.store.routes = [makeRoute(upstream.origin)];
  node.store.keys.splice(1);
  node.store.modelList = [makeModel()];
  node.store.settings = SETTINGS;
  node.store.pools = [pool];
  node.ledger.charges = [];
  node.ledger.free = [];
});

afterAll(async () => {
  await node.close();
  await upstream.close();
});

/** A key of the pool and the headers that carry it to the pool's host. */
function poolKey(changes: Partial<KeyRecord> = {}): Record<string, string> {
  const { secret, record } = makeKey({ id: 'key-2', poolId: 'pool-1', ...changes });
  node.store.keys.push(record);
  return { authorization: `Bearer ${secret}`, host: HOST };
}

async function refused(options: CallOptions): Promise<{ status: number; code: string; message: string }> {
  const asked = upstream.seen.length;
  const { status, text } = await node.call({ body: QUESTION, ...options });
  expect(upstream.seen.length).toBe(asked);
  expect(node.ledger.charges).toEqual([]);
  const { error } = JSON.parse(text);
  return { status, code: error.code, message: error.message };
}

function ask(headers: Record<string, string>): Promise<CallResult> {
  return node.call({ body: QUESTION, headers });
}

describe('the host of a pool', () => {
  it('accepts only keys of the pool, which work on no other host', async () => {
    const headers = poolKey();
    const away = await refused({ headers: { ...headers, host: 'gateway.test:8080' } });
    expect(away).toMatchObject({ status: 403, code: 'wrong_host' });
    expect(away.message).toContain('http://acme.gateway.test:8080');
    const elsewhere = await refused({ headers: { host: HOST } });
    expect(elsewhere).toMatchObject({ status: 403, code: 'wrong_host' });
    expect(elsewhere.message).toContain('http://gateway.test:8080');
    expect((await ask({ ...headers, host: 'ACME.gateway.test.:8080' })).status).toBe(200);
  });

  it('refuses a key of another pool and names that pool’s address', async () => {
    node.store.pools = [pool, { ...pool, id: 'pool-2', subdomain: 'other' }];
    const answer = await refused({ headers: { ...poolKey(), host: 'other.gateway.test' } });
    expect(answer).toMatchObject({ status: 403, code: 'wrong_host' });
    expect(answer.message).toContain('http://acme.gateway.test:8080');
  });

  it('answers 401 to an unknown key, like every other host', async () => {
    const authorization = `Bearer ${issueKey()}`;
    for (const host of [HOST, 'gateway.test']) {
      expect((await refused({ headers: { authorization, host } })).status).toBe(401);
    }
  });

  it('answers 421 if the pool does not exist; hosts elsewhere are the main domain', async () => {
    expect((await refused({ headers: { host: 'nobody.gateway.test' } })).status).toBe(421);
    for (const host of ['a.b.gateway.test', '127.0.0.1', 'example.com', 'gateway.test']) {
      expect((await ask({ host })).status).toBe(200);
    }
  });

  it('is required by every row of the endpoint table that takes a key', async () => {
    const headers = { ...poolKey(), host: 'gateway.test' };
    // These two rows answer 426 to every request that does not open a WebSocket.
    const keyless = new Set(['GET /v1/responses', 'GET /v1/realtime']);
    const rows = ENDPOINTS.filter(({ method, path }) => !keyless.has(`${method} ${path}`));
    expect(rows.length).toBeGreaterThan(30);
    for (const { method, path, body } of rows) {
      const isGenerative = path.endsWith('models/*') && method === 'POST';
      const answer = await node.call({
        method,
        path: path.replace('*', isGenerative ? 'swift:generateContent' : 'swift'),
        headers: {
          ...headers,
          ...(body === 'form' ? { 'content-type': 'multipart/form-data; boundary=x' } : {}),
        },
        ...(method === 'POST' || method === 'PATCH'
          ? { body: body === 'form' ? '--x--\r\n' : QUESTION }
          : {}),
      });
      expect(`${method} ${path}: ${answer.status}`).toBe(`${method} ${path}: 403`);
      expect(answer.text).toContain('http://acme.gateway.test:8080');
    }
  });
});

describe('a pool whose period has ended', () => {
  it('answers 403 with its name and the page for renewal, by the node’s clock', async () => {
    node.store.pools = [{ ...pool, paidUntil: Date.now() - 1 }];
    const expired = await refused({ headers: poolKey() });
    expect(expired).toMatchObject({ status: 403, code: 'pool_expired' });
    expect(expired.message).toContain('Acme');
    expect(expired.message).toContain('http://console.test:4000/pools');
  });

  it('answers 403 with that reason to keys that the control plane has disabled', async () => {
    const answer = await refused({ headers: poolKey({ enabled: false, disabledReason: 'POOL_EXPIRED' }) });
    expect(answer).toMatchObject({ status: 403, code: 'pool_expired' });
  });
});

describe('a model of a pool', () => {
  it('keeps its name and price after the catalog renamed it, raised its price or retired it', async () => {
    node.store.settings = { ...SETTINGS, poolRequestsFree: false };
    const dearer = { default: { base: '900000', ratio: '1', price: '900000' } };
    for (const catalog of [[], [makeModel({ name: 'swift-2' })], [makeModel({ prices: dearer })]]) {
      node.store.modelList = catalog;
      const answer = await ask(poolKey());
      expect(answer.status).toBe(200);
      expect(answer.headers['x-gateway-price-usd']).toBe('0.10');
    }
    expect(node.ledger.charges.map(({ cost, model }) => `${model} ${cost}`)).toEqual(
      Array(3).fill('swift 100000'),
    );
  });

  it('costs nothing while requests to pools are free', async () => {
    const answer = await ask(poolKey());
    expect(answer.headers['x-gateway-price-usd']).toBe('0.00');
    expect(node.ledger.charges).toEqual([]);
    expect(node.ledger.free).toMatchObject([
      { outcome: 'DELIVERED', poolId: 'pool-1', source: 'POOL_KEY', cost: '0' },
    ]);
  });

  it('is the only one sold: other catalog models are refused, and unknown names not found', async () => {
    node.store.modelList = [makeModel(), makeModel({ id: 'model-2', name: 'flagship' })];
    const headers = poolKey();
    const other = await refused({ headers, body: { ...QUESTION, model: 'flagship' } });
    expect(other).toMatchObject({ status: 403, code: 'model_not_in_pool' });
    const unknown = await refused({ headers, body: { ...QUESTION, model: 'nothing' } });
    expect(unknown).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('answers 503 with the reason if no upstream serves it any more', async () => {
    node.store.routes = [];
    const answer = await refused({ headers: poolKey() });
    expect(answer).toMatchObject({ status: 503, code: 'server_overloaded' });
    expect(answer.message).toContain('swift');
  });

  it('is not found on an endpoint for which it was not sold', async () => {
    const answer = await refused({
      headers: poolKey(),
      path: '/v1/embeddings',
      body: { model: 'swift', input: 'a' },
    });
    expect(answer).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('is listed in every style, without the other models of the catalog', async () => {
    node.store.modelList = [makeModel({ id: 'model-2', name: 'flagship' })];
    const { authorization = '', host = '' } = poolKey();
    const key = authorization.slice('Bearer '.length);
    const styles: Record<string, string>[] = [
      { authorization },
      { authorization: '', 'x-api-key': key },
      { authorization: '', 'x-goog-api-key': key },
    ];
    for (const style of styles) {
      const { text } = await node.call({ method: 'GET', path: '/v1/models', headers: { ...style, host } });
      expect(text).toContain('swift');
      expect(text).not.toContain('flagship');
    }
    const one = await node.call({
      method: 'GET',
      path: '/v1beta/models/swift',
      headers: { 'x-goog-api-key': key, host },
    });
    expect(one.status).toBe(200);
    const count = { path: '/v1/messages/count_tokens', headers: { 'x-api-key': key, host }, body: QUESTION };
    expect((await node.call(count)).status).toBe(200);
  });
});
