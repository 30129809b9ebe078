/** The HTTP and WebSocket server of the control plane as a whole: limits, error codes and authentication. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import pg from 'pg';
import WebSocket from 'ws';
import { pick, startTestApp } from '../test/control/app.ts';
import type { TestApp } from '../test/control/app.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;

/** The result of an upgrade: `open`, or the HTTP status of the refusal. */
function upgrade(url: string, options: WebSocket.ClientOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', options);
    socket.on('open', () => {
      socket.close();
      resolve('open');
    });
    socket.on('unexpected-response', (_request, response) => resolve(String(response.statusCode)));
    socket.on('error', () => {});
  });
}

describe('the control plane over HTTP', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ findNode: async (token) => (token === TOKEN ? NODE : null) });
  });
  afterAll(() => test.close());

  const codeOf = async (query: string, variables?: Record<string, unknown>) =>
    (await test.browser().send(query, variables)).errors[0]?.extensions.code;

  it('answers the health checks and serves metrics', async () => {
    expect((await fetch(`${test.url}/livez`)).status).toBe(200);
    expect((await fetch(`${test.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${test.url}/metrics`)).text()).toContain('gateway_control_http_seconds');
  });

  it('answers BAD_USER_INPUT for a body that is not JSON', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"query":', '']) {
      const answer = await fetch(`${test.url}/graphql`, { method: 'POST', headers, body });
      expect(answer.status).toBe(400);
      const extensions = { code: 'BAD_USER_INPUT', requestId: expect.any(String) };
      expect(await answer.json()).toMatchObject({ errors: [{ extensions }] });
    }
  });

  it('answers the standard introspection query', async () => {
    const answer = await test.browser().send(getIntrospectionQuery());
    expect(answer.errors).toEqual([]);
  });

  it('refuses operations that are too deep, too long, too expensive or have too many aliases', async () => {
    const [down, up] = ['owner { apiKeys { nodes { '.repeat(4), '} } } '.repeat(4)];
    const deep = `{ viewer { apiKeys { nodes { ${down} id ${up} } } } }`;
    expect(await codeOf(deep)).toBe('QUERY_TOO_COMPLEX');
    const aliases = Array.from({ length: 31 }, (_, at) => `a${at}: __typename`).join(' ');
    expect(await codeOf(`{ viewer { ${aliases} } }`)).toBe('QUERY_TOO_COMPLEX');
    const expensive =
      '{ viewer { apiKeys(first: 100) { nodes { owner { apiKeys(first: 100) { nodes { id } } } } } } }';
    expect(await codeOf(expensive)).toBe('QUERY_TOO_COMPLEX');
    const byVariable = `query ($n: Int!) { viewer { apiKeys(first: $n) { nodes { owner {
        apiKeys(first: $n) { totalCount nodes { id } } } } } } }`;
    expect(await codeOf(byVariable, { n: 100 })).toBe('QUERY_TOO_COMPLEX');
    expect(await codeOf(byVariable, { n: 5 })).toBeUndefined();
    // A missing variable counts as the maximum page size.
    const optional = byVariable.replace('$n: Int!', '$n: Int');
    expect(await codeOf(optional)).toBe('QUERY_TOO_COMPLEX');
    expect(await codeOf(byVariable.replace('$n: Int!', '$n: Int! = 100'))).toBe('QUERY_TOO_COMPLEX');
    expect(await codeOf(`{ ${'__typename '.repeat(5001)} }`)).toBe('GRAPHQL_PARSE_FAILED');
    const types = `{ __schema { types { ${'ofType { '.repeat(20)} name ${'} '.repeat(20)} } } }`;
    expect(await codeOf(types)).toBe('QUERY_TOO_COMPLEX');
  });

  it('measures nested fragments without expanding them', async () => {
    const fragments = Array.from(
      { length: 40 },
      (_, at) => `fragment f${at} on User { ...f${at + 1} ... { ...f${at + 1} } }`,
    ).join(' ');
    const last = 'fragment f40 on User { sessions(first: 1) { totalCount } }';
    const query = `{ viewer { ...f0 } } ${fragments} ${last}`;
    expect(await codeOf(query)).toBe('QUERY_TOO_COMPLEX');
    expect(await codeOf('{ viewer { ...a } } fragment a on User { ...b } fragment b on User { ...a }')).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
  });

  it('refuses too large bodies except from nodes, and batched operations', async () => {
    const post = async (body: string, headers: Record<string, string> = {}) =>
      (
        await fetch(`${test.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
        })
      ).status;
    const padding = JSON.stringify({ query: '{ viewer { id } }', padding: 'x'.repeat(110 * 1024) });
    expect(await post(padding)).toBe(413);
    expect(await post(padding, { authorization: `Bearer ${TOKEN}` })).toBe(200);
    expect(await post('[{"query":"{ viewer { id } }"}]')).toBe(400);
    expect(await post('{')).toBe(400);
  });

  it('answers unknown fields, wrong arguments and invalid scalars with stable codes', async () => {
    expect(await codeOf('{ nothing }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await codeOf('{ catalog(first: "x") { totalCount } }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(
      await codeOf('query ($p: Money) { catalog(filter: { maxPrice: $p }) { totalCount } }', { p: '1e3' }),
    ).toBe('BAD_USER_INPUT');
    expect(await codeOf('{ catalog(first: 0) { totalCount } }')).toBe('BAD_USER_INPUT');
    expect(await codeOf('mutation { sessionsRevokeOthers { viewer { id } } }')).toBe('UNAUTHENTICATED');
  });

  it('answers an internal failure with a request id and no details', async () => {
    const owner = new pg.Client({ connectionString: test.settings.databaseUrl });
    await owner.connect();
    await owner.query('alter table group_ratio rename to gone');
    const { errors } = await test.browser().send('{ groupRatios { group } }');
    await owner.query('alter table gone rename to group_ratio');
    await owner.end();
    expect(errors[0]).toMatchObject({
      extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
    });
    expect(JSON.stringify(errors)).not.toMatch(/group_ratio|select|relation/i);
  });

  it('serves its schema as a file to everybody, and answers 304 for a matching ETag', async () => {
    const address = `${test.url}/graphql/schema.graphql`;
    const first = await fetch(address);
    expect(await first.text()).toBe(readFileSync('control-plane/schema.graphql', 'utf8'));
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect((await fetch(address, { headers })).status).toBe(304);
    expect((await fetch(address, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('returns objects by id only to callers who may see them', async () => {
    const [ann, bob] = [await test.user('ann@example.com'), await test.user('bob@example.com')];
    const made = await ann.send(
      'mutation { apiKeyCreate(input: { name: "mine", idempotencyKey: "1" }) { apiKey { id } } }',
    );
    const id = pick<string>(made, 'apiKeyCreate', 'apiKey', 'id');
    const model = pick<string>(
      await ann.send('{ catalogModel(name: "swift") { id } }'),
      'catalogModel',
      'id',
    );
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on ApiKey { name } } }';
    const variables = { ids: [id, 'nonsense', model] };
    const own = [{ __typename: 'ApiKey', id, name: 'mine' }, null, { __typename: 'CatalogModel', id: model }];
    expect(pick(await ann.send(query, variables), 'nodes')).toEqual(own);
    expect(pick(await bob.send(query, variables), 'nodes')).toEqual([null, ...own.slice(1)]);
  });

  it('answers 401 for an unknown bearer token instead of ignoring the token', async () => {
    const answer = await test.browser().send('{ viewer { id } }', {}, { authorization: 'Bearer gnt_nobody' });
    expect(answer.status).toBe(401);
    expect(answer.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(
      (await test.browser().send('{ viewer { id } }', {}, { authorization: `Bearer ${TOKEN}` })).data,
    ).toEqual({ viewer: null });
  });
});

describe('the control plane over WebSocket', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const client = (cookie: string | null) =>
    createClient({
      url: `${test.url.replace('http', 'ws')}/graphql`,
      retryAttempts: 0,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string[]) {
          super(url, protocols, {
            origin: test.url.replace('127.0.0.1', 'localhost'),
            headers: cookie ? { cookie } : {},
          });
        }
      },
    });

  it('refuses upgrades from pages of other origins and on other paths', async () => {
    expect(await upgrade(test.url, { origin: 'https://evil.example' })).toBe('403');
    expect(await upgrade(test.url, { origin: 'null' })).toBe('403');
    expect(await upgrade(test.url, { origin: test.url })).toBe('open');
    expect(await upgrade(`${test.url}/other`, {})).toBe('404');
  });

  it('sends changes of keys to their owner only', async () => {
    const ann = await test.user('ann@example.com');
    const bob = await test.user('bob@example.com');
    const [annSocket, bobSocket] = [client(ann.cookie), client(bob.cookie)];
    const received = { ann: [] as unknown[], bob: [] as unknown[] };
    const listen = async (socket: typeof annSocket, list: unknown[]) => {
      for await (const event of socket.iterate({ query: 'subscription { apiKeyUpdated { name state } }' }))
        list.push(event.data);
    };
    const ends = [listen(annSocket, received.ann), listen(bobSocket, received.bob)];
    const create =
      'mutation ($k: String!) { apiKeyCreate(input: { name: "mine", idempotencyKey: $k }) { replayed } }';
    for (let attempt = 0; received.ann.length === 0 && attempt < 100; attempt += 1) {
      await ann.send(create, { k: String(attempt) });
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    expect(received.ann[0]).toEqual({ apiKeyUpdated: { name: 'mine', state: 'DISABLED' } });
    expect(received.bob).toEqual([]);
    await Promise.all([annSocket.dispose(), bobSocket.dispose()]);
    await Promise.all(ends);
  });

  it('has the same limits and rules as HTTP', async () => {
    const socket = client(null);
    const first = async (query: string) => {
      for await (const result of socket.iterate({ query })) return result.errors?.[0]?.extensions?.['code'];
      return undefined;
    };
    const codeOf = (query: string) =>
      first(query).catch((errors: unknown) =>
        Array.isArray(errors)
          ? ((errors[0] as { extensions?: { code?: string } }).extensions?.code ?? 'NO_CODE')
          : String(errors),
      );
    expect(await codeOf('subscription { apiKeyUpdated { id } }')).toBe('UNAUTHENTICATED');
    const aliases = Array.from({ length: 31 }, (_, at) => `a${at}: __typename`).join(' ');
    expect(await codeOf(`{ viewer { ${aliases} } }`)).toBe('QUERY_TOO_COMPLEX');
    await socket.dispose();
  });

  it('signs out, and refuses to sign in', async () => {
    const ann = await test.user('ann.out@example.com');
    const socket = client(ann.cookie);
    const once = async (query: string) => {
      for await (const result of socket.iterate({ query })) return result;
      return undefined;
    };
    expect(await once('mutation { signOut { ok } }')).toMatchObject({ data: { signOut: { ok: true } } });
    expect((await ann.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    const input = '{ email: "ann.out@example.com", password: "a long enough password" }';
    const answer = await once(`mutation { signIn(input: ${input}) { viewer { id } } }`);
    expect(answer?.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    await socket.dispose();
  });

  const FAR = 900;
  const SPAN = '{ range: { from: $at, to: $at } }';
  it.each([
    ['GRAPHQL_PARSE_FAILED', '{ viewer { id ', {}],
    ['GRAPHQL_PARSE_FAILED', `{ ${'baseAddress '.repeat(5001)} }`, {}],
    [
      'GRAPHQL_PARSE_FAILED',
      `{ viewer ${'{ apiKeys { nodes { owner '.repeat(FAR)} { id } ${'} } }'.repeat(FAR)} }`,
      {},
    ],
    ['GRAPHQL_VALIDATION_FAILED', '{ nothing }', {}],
    ['GRAPHQL_VALIDATION_FAILED', '{ catalog(first: "x") { totalCount } }', {}],
    ['OPERATION_RESOLUTION_FAILURE', 'query a { baseAddress } query b { baseAddress }', {}],
    ['BAD_USER_INPUT', 'query ($id: ID!) { node(id: $id) { id } }', {}],
    ['BAD_USER_INPUT', 'query ($id: ID!) { node(id: $id) { id } }', { id: ['key_1'] }],
    [
      'BAD_USER_INPUT',
      `query ($at: DateTime!) { usageExport(format: CSV, filter: ${SPAN}) { downloadUrl } }`,
      { at: 'now' },
    ],
  ])('answers errors of the caller with %s, as HTTP does (case %#)', async (code, query, variables) => {
    const socket = client(null);
    const overSocket = await new Promise<unknown>((resolve) => {
      socket.subscribe({ query, variables }, { next: resolve, error: resolve, complete: () => resolve([]) });
    });
    await socket.dispose();
    const { errors } = await test.browser().send(query, variables);
    expect(overSocket).toMatchObject([{ extensions: { code } }]);
    expect(errors[0]?.extensions.code).toBe(code);
    expect((overSocket as { message: string }[])[0]?.message).not.toMatch(/call stack|Internal error/);
    expect(errors[0]?.message).not.toMatch(/call stack|Internal error/);
  });
});
