/**
 * Every endpoint of the product, row by row, on the demo's upstream: each is reached by its headers, answers,
 * streams where it can, refuses in its own format, is charged once and leaves one row of usage.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FAMILY_PATHS } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import { SEED_MODELS, familiesOf } from '../control-plane/catalog/seed-models.ts';
import { startDemoUpstream } from '../control-plane/local/demo-upstream.ts';
import { ENDPOINTS } from '../data-plane/endpoints/table.ts';
import { frameText } from '../data-plane/realtime/side.ts';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];
const INPUT = [{ type: 'message', role: 'user', content: 'Hi' }];
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

type Auth = 'bearer' | 'x-api-key' | 'x-gen-api-key' | 'x-goog-api-key' | '?key=';
type Shape = 'openai' | 'messages' | 'generative';

interface Row {
  path: string;
  family: Family;
  /** Micro-USD that a success costs. */
  cost: string;
  auth: Auth[];
  shape: Shape;
  body: object | (() => FormData);
  /** Text that the body of a success contains. */
  holds: string | RegExp;
  /** The streamed request, and what its end looks like. */
  stream?: { path?: string; body: object | (() => FormData); ends: RegExp };
}

const GENERATIVE: Auth[] = ['x-gen-api-key', 'x-goog-api-key', '?key=', 'bearer'];
const streaming = (body: object, ends: RegExp): Row['stream'] => ({ body: { ...body, stream: true }, ends });

function form(fields: Record<string, string>, file: string): () => FormData {
  return () => {
    const data = new FormData();
    data.append(
      file,
      new Blob([Uint8Array.from(Buffer.from(DOT, 'base64'))], { type: 'image/png' }),
      'a.png',
    );
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  };
}

const CHAT = { model: 'budget', messages: MESSAGES };
const MESSAGE = { ...CHAT, max_tokens: 100 };
const LEGACY = { model: 'budget', prompt: 'Hi' };
const RESPONSE = { model: 'budget', input: 'Hi' };
const SWIFT = { model: 'swift' };

const ROWS: Row[] = [
  {
    path: '/v1/chat/completions',
    family: 'chat_completions',
    cost: '30000',
    auth: ['bearer'],
    shape: 'openai',
    body: CHAT,
    holds: '"choices"',
    stream: streaming(CHAT, /data: \[DONE\]\n\n$/),
  },
  {
    path: '/v1/completions',
    family: 'completions',
    cost: '30000',
    auth: ['bearer'],
    shape: 'openai',
    body: LEGACY,
    holds: '"text_completion"',
    stream: streaming(LEGACY, /data: \[DONE\]\n\n$/),
  },
  {
    path: '/v1/messages',
    family: 'messages',
    cost: '30000',
    auth: ['x-api-key', 'bearer'],
    shape: 'messages',
    body: MESSAGE,
    holds: '"stop_reason"',
    stream: streaming(MESSAGE, /event: message_stop\n.*\n\n$/),
  },
  {
    path: '/v1/responses',
    family: 'responses',
    cost: '30000',
    auth: ['bearer'],
    shape: 'openai',
    body: RESPONSE,
    holds: '"output"',
    stream: streaming(RESPONSE, /"type":"response\.completed"/),
  },
  {
    path: '/v1/responses/compact',
    family: 'compact',
    cost: '280000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'reasoner', input: INPUT },
    holds: '"response.compaction"',
  },
  {
    path: '/v1/embeddings',
    family: 'embeddings',
    cost: '30000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'budget', input: 'Hi' },
    holds: '"embedding"',
  },
  {
    path: '/v1/audio/transcriptions',
    family: 'audio',
    cost: '100000',
    auth: ['bearer'],
    shape: 'openai',
    body: form(SWIFT, 'file'),
    holds: 'simulated transcript',
    stream: { body: form({ ...SWIFT, stream: 'true' }, 'file'), ends: /transcript\.text\.done/ },
  },
  {
    path: '/v1/audio/translations',
    family: 'audio',
    cost: '100000',
    auth: ['bearer'],
    shape: 'openai',
    body: form(SWIFT, 'file'),
    holds: 'simulated transcript',
  },
  {
    path: '/v1/audio/speech',
    family: 'audio',
    cost: '100000',
    auth: ['bearer'],
    shape: 'openai',
    body: { ...SWIFT, input: 'Hi', voice: 'alloy' },
    holds: /^RIFF/,
  },
  {
    path: '/v1/images/generations',
    family: 'images',
    cost: '250000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'balanced-vision', prompt: 'A dot' },
    holds: '"b64_json"',
  },
  {
    path: '/v1/images/edits',
    family: 'images',
    cost: '250000',
    auth: ['bearer'],
    shape: 'openai',
    body: form({ model: 'balanced-vision', prompt: 'Redder' }, 'image'),
    holds: '"b64_json"',
  },
  {
    path: '/v1/rerank',
    family: 'rerank',
    cost: '50000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'budget-plus', query: 'b', documents: ['a', 'b'] },
    holds: '"relevance_score"',
  },
  {
    path: '/v1/moderations',
    family: 'moderations',
    cost: '30000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'budget', input: 'Hi' },
    holds: '"flagged"',
  },
  {
    path: '/v1beta/models/budget:generateContent',
    family: 'generative_language',
    cost: '30000',
    auth: GENERATIVE,
    shape: 'generative',
    body: { contents: CONTENTS },
    holds: '"candidates"',
    stream: {
      path: '/v1beta/models/budget:streamGenerateContent?alt=sse',
      body: { contents: CONTENTS },
      ends: /"finishReason":"STOP"/,
    },
  },
  {
    path: '/v1beta/models/budget:embedContent',
    family: 'embeddings',
    cost: '30000',
    auth: GENERATIVE,
    shape: 'generative',
    body: { content: { parts: [{ text: 'Hi' }] } },
    holds: '"values"',
  },
  {
    path: '/v1beta/models/budget:batchEmbedContents',
    family: 'embeddings',
    cost: '30000',
    auth: GENERATIVE,
    shape: 'generative',
    body: { requests: [{ content: { parts: [{ text: 'Hi' }] } }] },
    holds: '"embeddings"',
  },
  {
    path: '/v1/alpha/search',
    family: 'search',
    cost: '450000',
    auth: ['bearer'],
    shape: 'openai',
    body: { model: 'flagship', commands: { search_query: [{ q: 'Hi' }] } },
    holds: '"output"',
  },
];

let house: House;
let upstream: Awaited<ReturnType<typeof startDemoUpstream>>;
let customer: Customer;

beforeAll(async () => {
  upstream = await startDemoUpstream(0);
  house = await openSharedHouse();
  for (const model of SEED_MODELS) {
    const { name } = model;
    const served = familiesOf(model)
      .filter((family) => family !== 'compact' && family !== 'generative_language')
      .map((family) => family.toUpperCase());
    await addUpstream(house, { name, baseUrl: `${upstream.url}/v1`, models: [name], families: served });
  }
  customer = await addCustomer(house, '50');
});

afterAll(async () => {
  await upstream?.stop();
});

function headersFor(auth: Auth, key: string): Record<string, string> {
  if (auth === '?key=') return {};
  return auth === 'bearer' ? { authorization: `Bearer ${key}` } : { [auth]: key };
}

interface Asking {
  auth: Auth;
  path?: string;
  body?: Row['body'];
  key?: string;
}

async function ask(row: Row, { auth, path = row.path, body = row.body, key = customer.key }: Asking) {
  const query = auth === '?key=' ? `${path.includes('?') ? '&' : '?'}key=${key}` : '';
  const headers = headersFor(auth, key);
  const isForm = typeof body === 'function';
  const response = await fetch(`${house.url}${path}${query}`, {
    method: 'POST',
    headers: isForm ? headers : { ...headers, 'content-type': 'application/json' },
    body: isForm ? body() : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

interface UsageRow {
  request_id: string;
  family: string;
  cost: string;
  status: string;
  streamed: boolean;
}

/** The charges of these requests, as soon as all have been reported. */
async function usage(ids: (string | null)[]): Promise<UsageRow[]> {
  for (;;) {
    const { rows } = await house.database.query<UsageRow>(
      'select request_id, family, cost::text, status, streamed from usage_entry where request_id = any($1)',
      [ids],
    );
    if (rows.length >= ids.length) return ids.flatMap((id) => rows.filter((row) => row.request_id === id));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Number of the customer's charges up to now. */
async function charges(family?: Family): Promise<number> {
  const { rows } = await house.database.query<{ count: string }>(
    `select count(*) from usage_charge join usage_entry using (request_id)
     where wallet_id = $1 and family = coalesce($2, family)`,
    [customer.walletId, family ?? null],
  );
  return Number(rows[0]?.count);
}

function expectShape(shape: Shape, text: string, status: number): void {
  const body = JSON.parse(text) as unknown;
  const words = expect.any(String) as unknown;
  if (shape === 'messages')
    expect(body).toMatchObject({ type: 'error', error: { type: words, message: words } });
  else if (shape === 'generative')
    expect(body).toMatchObject({ error: { code: status, message: words, status: words } });
  else expect(body).toMatchObject({ error: { message: words, type: words, code: words } });
}

describe.each(ROWS)('POST $path', (row) => {
  it('answers a key in each accepted header, with one charge and one usage row each', async () => {
    const ids: (string | null)[] = [];
    for (const auth of row.auth) {
      const { status, text, headers } = await ask(row, { auth });
      expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
      if (typeof row.holds === 'string') expect(text).toContain(row.holds);
      else expect(text).toMatch(row.holds);
      expect(Number(headers.get('x-gateway-price-usd')) * 1_000_000).toBe(Number(row.cost));
      ids.push(headers.get('x-request-id'));
    }
    const rows = await usage(ids);
    expect(rows.map(({ request_id: id }) => id)).toEqual(ids);
    const expected = { family: row.family, cost: row.cost, status: 'SUCCEEDED', streamed: false };
    expect(rows).toMatchObject(ids.map(() => expected));
  });

  it.runIf(row.stream)('streams with one charge and one usage row', async () => {
    const [auth = 'bearer'] = row.auth;
    const { path = row.path, body, ends } = row.stream ?? { body: {}, ends: /$/ };
    const { status, headers, text } = await ask(row, { auth, path, body });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
    });
    expect(text).toMatch(ends);
    const rows = await usage([headers.get('x-request-id')]);
    expect(rows).toMatchObject([{ family: row.family, cost: row.cost, streamed: true }]);
  });

  it('refuses in its own format without a charge', async () => {
    const [auth = 'bearer'] = row.auth;
    const before = await charges();
    const wrongKey = await ask(row, { auth, key: `sk-${'0'.repeat(48)}` });
    expect(wrongKey.status).toBe(401);
    expectShape(row.shape, wrongKey.text, 401);
    const isForm = typeof row.body === 'function';
    const wrong = await ask(row, { auth, body: isForm ? () => new FormData() : {} });
    expect(wrong.status).toBe(400);
    expectShape(row.shape, wrong.text, 400);
    const type = await ask(row, { auth, body: isForm ? {} : form({}, 'file') });
    expect([400, 415]).toContain(type.status);
    expectShape(row.shape, type.text, type.status);
    expect(await charges()).toBe(before);
  });
});

describe('GET /v1/models', () => {
  it.each<[Auth, string, RegExp]>([
    ['bearer', '/v1/models', /^\{"object":"list"/],
    ['x-api-key', '/v1/models', /"display_name".*"has_more"/s],
    ['x-gen-api-key', '/v1/models', /"models":\[\{"name":"models\//],
    ['?key=', '/v1beta/models', /"models":\[\{"name":"models\//],
    ['bearer', '/v1/models/swift', /^\{"id":"swift"/],
    ['x-api-key', '/v1/models/swift', /"type":"model"/],
    ['x-goog-api-key', '/v1beta/models/swift', /"name":"models\/swift"/],
  ])('follows the header %s on %s', async (auth, path, expected) => {
    const url = `${house.url}${path}${auth === '?key=' ? `?key=${customer.key}` : ''}`;
    const response = await fetch(url, { headers: headersFor(auth, customer.key) });
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(expected);
  });
});

describe('GET /v1/realtime', () => {
  it('opens a WebSocket and charges each response', async () => {
    const headers = { authorization: `Bearer ${customer.key}` };
    const url = `${house.url.replace('http', 'ws')}/v1/realtime?model=swift`;
    const socket = new WebSocket(url, { headers });
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('message', (data) => {
        const { type } = JSON.parse(frameText(data)) as { type: string };
        seen.push(type);
        if (type === 'session.created') {
          const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
          socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
          socket.send('{"type":"response.create"}');
        }
        if (type === 'response.done') resolve();
      });
    });
    socket.close();
    expect(seen).toContain('response.created');
    while ((await charges('realtime')) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await charges('realtime')).toBe(1);
  });
});

describe('families that are not offered', () => {
  const calls: [string, string, Auth, Shape][] = [
    ...['/v1/files', '/v1/files/f1/content', '/v1/fine_tuning/jobs', '/v1/fine_tuning/jobs/j/cancel'].map(
      (path): [string, string, Auth, Shape] => ['GET', path, 'bearer', 'openai'],
    ),
    ['POST', '/v1/fine-tunes', 'bearer', 'openai'],
    ['DELETE', '/v1/files/f1', 'bearer', 'openai'],
    ['POST', '/v1/batches', 'bearer', 'openai'],
    ['POST', '/v1/uploads', 'bearer', 'openai'],
    ['POST', '/v1/messages/batches', 'x-api-key', 'messages'],
    ['POST', '/v1beta/files', 'x-goog-api-key', 'generative'],
    ['POST', '/upload/v1beta/files', '?key=', 'generative'],
    ['GET', '/v1beta/cachedContents', 'x-gen-api-key', 'generative'],
  ];
  it.each(calls)('answer 501 after authentication: %s %s', async (method, path, auth, shape) => {
    const call = async (key: string) => {
      const url = `${house.url}${path}${auth === '?key=' ? `?key=${key}` : ''}`;
      const response = await fetch(url, { method, headers: headersFor(auth, key) });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const { status, text, headers } = await call(customer.key);
    expect({ status, retry: headers.get('x-should-retry') }).toEqual({ status: 501, retry: 'false' });
    expectShape(shape, text, 501);
    expect((await call(`sk-${'0'.repeat(48)}`)).status).toBe(401);
  });
});

describe('the table', () => {
  it('has a row for every path on the pages of models, and the tests above call all rows', () => {
    const walked = new Set([...ROWS.flatMap(({ path, stream }) => [path, stream?.path]), '/v1/realtime']);
    for (const { path } of Object.values(FAMILY_PATHS).flat()) {
      const root = path.replace(/\{model\}.*/, '*');
      expect(ENDPOINTS.map((row) => row.path)).toContain(root);
      const own = path.replace('{model}', 'budget');
      expect([...walked].some((each) => each?.split('?')[0] === own)).toBe(true);
    }
  });
});
