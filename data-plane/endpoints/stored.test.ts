/** Stored objects over three nodes: with official SDKs, over accounts that several customers share. */
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { RouteChanges, TestNode } from '../../test/request-path.ts';
import { startStateUpstream } from '../../test/state-upstream.ts';
import type { StateUpstream } from '../../test/state-upstream.ts';

const NODES = 3;
const CREDENTIALS = ['crd_a', 'crd_b', 'crd_c'];
const ann = makeKey({ id: 'key-ann', walletId: 'wallet-ann' });
const ben = makeKey({ id: 'key-ben', walletId: 'wallet-ben' });

let nodes: TestNode[];
let upstream: StateUpstream;

beforeAll(async () => {
  upstream = await startStateUpstream();
  nodes = await Promise.all(Array.from({ length: NODES }, () => startNode()));
  for (const { store } of nodes) store.keys.push(ann.record, ben.record);
});
beforeEach(() => {
  upstream.seen = [];
  upstream.accounts.clear();
  useModel({ storesState: true });
  useRoute({ provider: { protocols: ['openai-responses'] } });
  for (const { ledger } of nodes) {
    ledger.charges = [];
    ledger.broke.clear();
  }
});
afterAll(async () => {
  await Promise.all([...nodes.map((node) => node.close()), upstream.close()]);
});

function useModel(changes: Parameters<typeof makeModel>[0]): void {
  for (const { store } of nodes) store.modelList = [makeModel({ families: ['responses'], ...changes })];
}

/** One route with three credentials on every node. */
function useRoute(changes: RouteChanges, secrets: readonly string[] = CREDENTIALS): void {
  const { origin } = upstream;
  const credentials = secrets.map((secret) => ({ id: secret, origin, secret }));
  for (const { store } of nodes) store.routes = [makeRoute(origin, { credentials, ...changes })];
}

function useGoogle(): void {
  const { origin } = upstream;
  useRoute({ provider: { protocols: ['google-generate'], baseUrl: `${origin}/v1beta` } });
}

/** A node, by a number that may be larger than their number. */
function nodeAt(index: number): TestNode {
  const node = nodes[index % NODES];
  if (!node) throw new Error('no node');
  return node;
}
const openai = (index: number, key = ann): OpenAI =>
  new OpenAI({ apiKey: key.secret, baseURL: `http://127.0.0.1:${nodeAt(index).port}/v1`, maxRetries: 0 });
const google = (index: number, key = ann): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key.secret, httpOptions: { baseUrl: `http://127.0.0.1:${nodeAt(index).port}` } });

const charges = (): number => nodes.reduce((sum, { ledger }) => sum + ledger.charges.length, 0);
/** The failure of a call, as the SDK reports it. */
const failureOf = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
  const failure: unknown = await call.then(
    () => ({}),
    (error: unknown) => error,
  );
  const { status, code, param, message } = failure as Record<string, unknown>;
  return { status, code, param, message };
};
/** Every id that the upstream has given. */
const upstreamIds = (): string[] =>
  [...upstream.accounts.values()].flatMap(({ responses, conversations, caches }) => [
    ...responses.keys(),
    ...conversations.keys(),
    ...[...caches.keys()].map((name) => name.slice('cachedContents/'.length)),
  ]);

/** The member `store` of the last request to the upstream. */
const storedLast = (): unknown => JSON.parse(upstream.seen.at(-1)?.body ?? '{}').store;

const ASK = { model: 'swift', store: true } as const;

describe('a stored response', () => {
  it('is continued, read, listed and deleted on any node under one id', async () => {
    const first = await openai(0).responses.create({ ...ASK, input: 'one' });
    const next = { ...ASK, previous_response_id: first.id, input: 'two' };
    const second = await openai(1).responses.create(next);
    expect(second.output_text).toBe('I remember: one | I remember: one | two');
    expect([first.id, second.id]).toEqual([expect.stringMatching(/^resp_/), expect.stringMatching(/^resp_/)]);
    expect([second.previous_response_id, second.model]).toEqual([first.id, 'swift']);
    const paid = charges();
    const read = await openai(2).responses.retrieve(second.id);
    expect(read).toMatchObject({ id: second.id, previous_response_id: first.id, model: 'swift' });
    const items = await openai(0).responses.inputItems.list(second.id, { limit: 10, order: 'asc' });
    expect(items.data).toHaveLength(3);
    expect(upstream.seen.at(-1)?.path).toMatch(/input_items\?limit=10&order=asc$/);
    await openai(1).responses.delete(second.id);
    expect(await failureOf(openai(0).responses.retrieve(second.id))).toMatchObject({ status: 404 });
    expect([charges(), paid]).toEqual([2, 2]);
  });

  it('has the same id in every event of a stream, which never shows the id of the upstream', async () => {
    const first = await openai(0).responses.create({ ...ASK, input: 'one' });
    const body = { ...ASK, stream: true, input: 'two', previous_response_id: first.id };
    const headers = { authorization: `Bearer ${ann.secret}` };
    const { text } = await nodeAt(1).call({ path: '/v1/responses', body, headers });
    for (const id of upstreamIds()) expect(text).not.toContain(id);
    const ids = new Set([...text.matchAll(/"response":\{"id":"([^"]+)"/g)].map(([, id]) => id));
    expect([ids.size, text.split(`"previous_response_id":"${first.id}"`)]).toEqual([1, expect.any(Array)]);
    expect(text.split(`"previous_response_id":"${first.id}"`)).toHaveLength(4);
    const [id = ''] = ids;
    expect((await openai(2).responses.retrieve(id ?? '')).output_text).toContain('one | two'.slice(6));
    const stream = openai(2).responses.stream({ ...ASK, input: 'three', previous_response_id: id ?? '' });
    const last = await stream.finalResponse();
    expect((await openai(0).responses.retrieve(last.id)).id).toBe(last.id);
  });

  it('goes from every node to the one of three credentials that stored it', async () => {
    const used = new Set<string>();
    for (let talk = 0; talk < 9; talk += 1) {
      let last = await openai(talk).responses.create({ ...ASK, input: `talk ${talk}` });
      for (let turn = 1; turn <= 3; turn += 1) {
        const more = { ...ASK, previous_response_id: last.id, input: `turn ${turn}` };
        last = await openai(talk + turn).responses.create(more);
      }
      const credentials = new Set(upstream.seen.slice(-4).map((request) => upstream.credentialOf(request)));
      expect(credentials.size).toBe(1);
      for (const each of credentials) used.add(each);
    }
    expect(used.size).toBeGreaterThan(1);
  });

  it('is not stored unless the request says so', async () => {
    const { id } = await openai(0).responses.create({ model: 'swift', input: 'one' });
    expect([storedLast(), upstreamIds()]).toEqual([false, []]);
    const next = { model: 'swift', previous_response_id: id, input: 'two' };
    const failure = await failureOf(openai(0).responses.create(next));
    expect(failure).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    expect(failure.message).toContain('store: true');
  });

  it('is not found, under the id of the client, if its upstream has lost it', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    upstream.accounts.clear();
    const next = { ...ASK, previous_response_id: id, input: 'two' };
    const failure = await failureOf(openai(0).responses.create(next));
    expect(failure).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    expect(failure.message).toContain(id);
    expect(await failureOf(openai(0).responses.retrieve(id))).toMatchObject({ status: 404 });
    expect(charges()).toBe(1);
  });

  it('is not found once its credential is gone, and the answer says what to do', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    const [request] = upstream.seen;
    const others = CREDENTIALS.filter((each) => request && each !== upstream.credentialOf(request));
    useRoute({ provider: { protocols: ['openai-responses'] } }, others);
    upstream.seen = [];
    const next = { ...ASK, previous_response_id: id, input: 'two' };
    const failure = await failureOf(openai(0).responses.create(next));
    expect(failure).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    expect(failure.message).toContain('Send the whole conversation instead');
    const gone = await failureOf(openai(0).responses.retrieve(id));
    expect(gone).toMatchObject({ status: 404, message: expect.stringContaining('store it again') });
    expect(upstream.seen).toEqual([]);
  });

  it('takes the results of tool calls that it holds itself', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    const input = [
      { type: 'function_call_output' as const, call_id: 'call_1', output: 'sunny', content: 'x' },
    ];
    const next = await openai(1).responses.create({ ...ASK, previous_response_id: id, input });
    expect(next.status).toBe('completed');
  });

  it('cannot be cancelled, because it is not a background response', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    expect(await failureOf(openai(1).responses.cancel(id))).toMatchObject({
      status: 400,
      message: expect.stringContaining('Cannot cancel a synchronous response'),
    });
  });

  it('is read and deleted without money, within the limit of free requests', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    for (const { ledger } of nodes) ledger.broke.add('wallet-ann');
    expect((await openai(1).responses.retrieve(id)).id).toBe(id);
    await openai(1).responses.delete(id);
    expect(await failureOf(openai(1).responses.create({ ...ASK, input: 'two' }))).toMatchObject({
      status: 402,
    });
  });
});

describe('two customers on one upstream account', () => {
  it('cannot reach each other’s objects by the ids of the gateway or of the upstream', async () => {
    useRoute({ provider: { protocols: ['openai-responses'] } }, ['crd_a']);
    const talk = await openai(0).conversations.create({ metadata: { of: 'ann' } });
    const own = await openai(0).responses.create({ ...ASK, input: 'secret' });
    const tokens = [own.id, talk.id, ...upstreamIds(), '../responses', `${own.id}/input_items`, '%2e%2e'];
    upstream.seen = [];
    for (const id of tokens) {
      const path = encodeURIComponent(id);
      const headers = { authorization: `Bearer ${ben.secret}` };
      for (const collection of ['responses', 'conversations'])
        for (const method of ['GET', 'DELETE']) {
          const { status } = await nodeAt(1).call({ method, path: `/v1/${collection}/${path}`, headers });
          expect([id, status]).toEqual([id, 404]);
        }
      for (const member of ['previous_response_id', 'conversation']) {
        const body = { ...ASK, [member]: id, input: 'tell me' };
        const { status } = await nodeAt(2).call({ path: '/v1/responses', body, headers });
        expect([400, 404]).toContain(status);
      }
    }
    expect(upstream.seen).toEqual([]);
    // Both are in the same account, and each still reaches its own.
    const other = await openai(0, ben).responses.create({ ...ASK, input: 'mine' });
    expect(other.output_text).toBe('I remember: mine');
    expect((await openai(1).responses.retrieve(own.id)).output_text).toBe('I remember: secret');
    expect(upstream.accounts.size).toBe(1);
  });

  it('cannot use an id of one kind for another', async () => {
    const talk = await openai(0).conversations.create();
    const asResponse = talk.id.replace('conv_', 'resp_');
    expect(await failureOf(openai(0).responses.retrieve(asResponse))).toMatchObject({ status: 404 });
    const next = { ...ASK, previous_response_id: asResponse, input: 'two' };
    expect(await failureOf(openai(0).responses.create(next))).toMatchObject({ status: 400 });
  });
});

describe('where nothing is stored', () => {
  it.each(['openai-chat', 'anthropic-messages', 'google-generate'] as const)(
    'a request over %s is sent without storage, and references are not found',
    async (protocol) => {
      const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
      useRoute({ provider: { protocols: [protocol] } });
      const next = { ...ASK, previous_response_id: id, input: 'two' };
      expect(await failureOf(openai(0).responses.create(next))).toMatchObject({
        status: 400,
        code: 'previous_response_not_found',
      });
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it('a model without the setting refuses references as unsupported, and sends store as false', async () => {
    const { id } = await openai(0).responses.create({ ...ASK, input: 'one' });
    const talk = await openai(0).conversations.create();
    useModel({ storesState: false });
    await openai(0).responses.create({ ...ASK, input: 'one' });
    expect(storedLast()).toBe(false);
    for (const member of [{ previous_response_id: id }, { conversation: talk.id }]) {
      const failure = await failureOf(openai(0).responses.create({ ...ASK, ...member, input: 'two' }));
      expect(failure).toMatchObject({
        status: 400,
        message: expect.stringContaining('stored at a provider'),
      });
    }
    expect(await failureOf(openai(0).conversations.create())).toMatchObject({ status: 501 });
    // Objects of before can still be deleted.
    await openai(0).responses.delete(id);
    expect(upstream.accounts.size).toBeGreaterThan(0);
  });
});

describe('a conversation', () => {
  it('is created, used, extended, read and deleted on any node, for free', async () => {
    const items = [{ type: 'message' as const, role: 'user' as const, content: 'zero' }];
    const talk = await openai(0).conversations.create({ metadata: { topic: 'a' }, items });
    expect(talk.id).toMatch(/^conv_/);
    const answer = await openai(1).responses.create({ ...ASK, conversation: talk.id, input: 'one' });
    expect([answer.output_text, answer.conversation]).toEqual(['I remember: zero | one', { id: talk.id }]);
    const again = await openai(2).responses.create({
      ...{ model: 'swift', conversation: { id: talk.id }, input: 'two' },
    });
    expect(again.output_text).toContain('| two');
    expect((await openai(0).responses.retrieve(again.id)).conversation).toEqual({ id: talk.id });
    const more = await openai(2).conversations.items.create(talk.id, { items });
    expect(more.data).toHaveLength(6);
    const item = more.data[0];
    if (!item?.id) throw new Error('no item');
    await openai(0).conversations.items.retrieve(item.id, { conversation_id: talk.id });
    await openai(0).conversations.items.delete(item.id, { conversation_id: talk.id });
    expect((await openai(1).conversations.items.list(talk.id)).data).toHaveLength(5);
    const changed = await openai(0).conversations.update(talk.id, { metadata: { topic: 'b' } });
    expect(changed).toMatchObject({ id: talk.id, metadata: { topic: 'b' } });
    expect((await openai(0).responses.retrieve(answer.id)).conversation).toEqual({ id: talk.id });
    expect(await openai(1).conversations.delete(talk.id)).toMatchObject({ id: talk.id, deleted: true });
    expect(await failureOf(openai(2).conversations.retrieve(talk.id))).toMatchObject({ status: 404 });
    expect(charges()).toBe(2);
  });

  it('takes no items that name objects stored at the provider', async () => {
    const headers = { authorization: `Bearer ${ann.secret}` };
    const file = { role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] };
    for (const item of [file, { type: 'item_reference', id: 'msg_1' }]) {
      const { status, text } = await nodeAt(0).call({
        path: '/v1/conversations',
        body: { items: [item] },
        headers,
      });
      expect([status, text]).toEqual([400, expect.stringContaining('/items/0')]);
    }
    expect(upstream.seen).toEqual([]);
  });
});

describe('a cached content', () => {
  const contents = [{ role: 'user', parts: [{ text: 'a long book' }] }];

  it('is created, used, prolonged, read and deleted with the official SDK', async () => {
    useGoogle();
    const cache = await google(0).caches.create({ model: 'swift', config: { contents, ttl: '600s' } });
    const { name = '' } = cache;
    expect([name, cache.model]).toEqual([expect.stringMatching(/^cachedContents\//), 'models/swift']);
    for (const id of upstreamIds()) expect(JSON.stringify(cache)).not.toContain(id);
    const config = { cachedContent: name };
    const ask = { model: 'swift', contents: 'who did it?', config };
    expect((await google(1).models.generateContent(ask)).text).toBe('I remember: a long book | who did it?');
    expect((await google(2).caches.get({ name })).name).toBe(name);
    const longer = await google(1).caches.update({ name, config: { ttl: '7200s' } });
    expect(longer).toMatchObject({ name, expireTime: 'now + 7200s' });
    expect(charges()).toBe(3);
    await google(0).caches.delete({ name });
    expect(await failureOf(google(0).caches.get({ name }))).toMatchObject({ status: 404 });
    expect(await failureOf(google(0).models.generateContent(ask))).toMatchObject({ status: 404 });
    expect(charges()).toBe(3);
  });

  it('can be used by a stream without server-sent events', async () => {
    useGoogle();
    const { name } = await google(0).caches.create({ model: 'swift', config: { contents } });
    upstream.play = ((play) => (request, count) => {
      const answer = play(request, count);
      const isStream = request.path.includes('streamGenerateContent');
      return isStream ? { ...answer, chunks: [`data: ${String(answer.chunks?.[0])}\n\n`] } : answer;
    })(upstream.play);
    const { text } = await nodeAt(1).call({
      path: '/v1beta/models/swift:streamGenerateContent',
      headers: { authorization: '', 'x-goog-api-key': ann.secret },
      body: { cachedContent: name, contents },
    });
    expect(text).toContain('I remember: a long book | a long book');
  });

  it('is not found by another customer, and lists are not offered', async () => {
    useGoogle();
    const { name = '' } = await google(0).caches.create({ model: 'swift', config: { contents } });
    upstream.seen = [];
    for (const id of [name, ...upstreamIds().map((each) => `cachedContents/${each}`)]) {
      expect(await failureOf(google(1, ben).caches.get({ name: id }))).toMatchObject({ status: 404 });
      expect(await failureOf(google(1, ben).caches.delete({ name: id }))).toMatchObject({ status: 404 });
      const change = google(1, ben).caches.update({ name: id, config: { ttl: '60s' } });
      expect(await failureOf(change)).toMatchObject({ status: 404 });
      const ask = { model: 'swift', contents: 'x', config: { cachedContent: id } };
      expect(await failureOf(google(2, ben).models.generateContent(ask))).toMatchObject({ status: 404 });
    }
    expect(await failureOf(google(0).caches.list())).toMatchObject({ status: 501 });
    expect(upstream.seen).toEqual([]);
  });

  it('lives no longer than the model allows, and costs nothing if it is refused', async () => {
    useGoogle();
    useModel({ storesState: true, stateRetentionDays: 1 });
    const create = (life: object) =>
      google(0).caches.create({ model: 'swift', config: { contents, ...life } });
    for (const life of [{ ttl: '86401s' }, { ttl: 'forever' }, { expireTime: '2999-01-01T00:00:00Z' }])
      expect(await failureOf(create(life))).toMatchObject({ status: 400 });
    useModel({ storesState: false });
    expect(await failureOf(create({ ttl: '60s' }))).toMatchObject({ status: 501 });
    useModel({ storesState: true });
    useRoute({ provider: { protocols: ['openai-responses'] } });
    expect(await failureOf(create({ ttl: '60s' }))).toMatchObject({ status: 501 });
    expect([upstream.seen, charges()]).toEqual([[], 0]);
  });
});
