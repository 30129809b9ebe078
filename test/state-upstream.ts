/**
 * An upstream that stores responses, conversations and cached contents, each in the account of the credential
 * that stored it. It answers with what it remembers, so that a test sees which context reached the model.
 */
import { randomBytes } from 'node:crypto';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream, Play, SeenRequest } from './upstream.ts';

interface Item {
  id: string;
  type: string;
  role: string;
  content: unknown;
}
interface StoredResponse {
  body: Record<string, unknown>;
  inputs: Item[];
  output: Item;
}
interface Cache {
  name: string;
  model: string;
  text: string;
  expireTime: string;
}

/** Objects that one credential has stored. */
export interface Account {
  responses: Map<string, StoredResponse>;
  conversations: Map<string, { metadata: object; items: Item[] }>;
  caches: Map<string, Cache>;
}

/** The upstream, and its accounts by credential. */
export interface StateUpstream extends FakeUpstream {
  accounts: Map<string, Account>;
  /** The credential of a request. */
  credentialOf(request: SeenRequest): string;
}

/** Starts the upstream. */
export async function startStateUpstream(): Promise<StateUpstream> {
  const accounts = new Map<string, Account>();
  const upstream = await startUpstream((request) => {
    const credential = credentialOf(request);
    const empty: Account = { responses: new Map(), conversations: new Map(), caches: new Map() };
    const account = accounts.get(credential) ?? empty;
    accounts.set(credential, account);
    return answer(account, request);
  });
  return Object.assign(upstream, { accounts, credentialOf });
}

function credentialOf({ headers }: SeenRequest): string {
  return String(headers['x-goog-api-key'] ?? String(headers.authorization).replace('Bearer ', ''));
}

type Body = Record<string, unknown>;

function answer(account: Account, { method, path, body }: SeenRequest): Play {
  const [, version = '', collection = '', id = '', below = '', item = ''] = (path.split('?')[0] ?? '').split(
    '/',
  );
  const value: Body = body === '' ? {} : JSON.parse(body);
  if (version === 'v1beta') return google(account, { method, collection, id, value });
  if (collection === 'responses') {
    if (method === 'POST') return respond(account, value);
    return storedResponse(account, { method, id, below });
  }
  return conversation(account, { method, id, below, item, value });
}

const newId = (prefix: string): string => prefix + randomBytes(24).toString('hex');
const json = (value: unknown, status = 200): Play => ({ status, chunks: [JSON.stringify(value)] });
const notFound = (what: string): Play =>
  json(
    { error: { message: `${what} not found.`, type: 'invalid_request_error', param: null, code: null } },
    404,
  );

function itemsOf(input: unknown): Item[] {
  const list: unknown[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input as unknown[]);
  return list.map((each) => ({
    id: newId('msg_'),
    type: 'message',
    role: 'user',
    content: '',
    ...(each as object),
  }));
}

const textOf = ({ content }: Item): string =>
  typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('');

/** Answers a request for a response with the texts of everything that came before. */
function respond(account: Account, value: Body): Play {
  const previous = value.previous_response_id as string | undefined;
  const earlier = previous === undefined ? undefined : account.responses.get(previous);
  if (previous !== undefined && !earlier) {
    const message = `Previous response with id '${previous}' not found.`;
    const error = { message, type: 'invalid_request_error', code: 'previous_response_not_found' };
    return json({ error: { ...error, param: 'previous_response_id' } }, 400);
  }
  const conversationId = value.conversation as string | undefined;
  const talk = conversationId === undefined ? undefined : account.conversations.get(conversationId);
  if (conversationId !== undefined && !talk) return notFound(`Conversation with id '${conversationId}'`);
  const context = earlier ? [...earlier.inputs, earlier.output] : (talk?.items ?? []);
  const own = itemsOf(value.input);
  const inputs = [...context, ...own];
  const text = `I remember: ${inputs.map(textOf).join(' | ')}`;
  const content = [{ type: 'output_text', text, annotations: [] }];
  const output = { id: newId('msg_'), type: 'message', status: 'completed', role: 'assistant', content };
  const id = newId('resp_');
  const body = {
    ...{ id, object: 'response', created_at: 1_760_000_000, status: 'completed', model: 'vendor-model-2026' },
    ...{ output: [output], previous_response_id: previous ?? null, store: value.store === true },
    ...(talk ? { conversation: { id: conversationId } } : {}),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  if (value.store === true) account.responses.set(id, { body, inputs, output });
  talk?.items.push(...own, output);
  return value.stream === true ? streamOf(body, text) : json(body);
}

function streamOf(body: Body & { output: Item[] }, text: string): Play {
  const [item] = body.output;
  const started = { ...body, status: 'in_progress', output: [], usage: null };
  const place = { item_id: item?.id, output_index: 0, content_index: 0 };
  const events: Body[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      ...place,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', ...place, delta: text },
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.content_part.done', ...place, part: { type: 'output_text', text, annotations: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: body },
  ];
  const frames = events.map((event, number) => {
    const data = JSON.stringify({ ...event, sequence_number: number });
    return `event: ${String(event.type)}\ndata: ${data}\n\n`;
  });
  return { headers: { 'content-type': 'text/event-stream' }, chunks: frames };
}

interface Path {
  method: string;
  id: string;
  below: string;
}

function storedResponse(account: Account, { method, id, below }: Path): Play {
  const stored = account.responses.get(id);
  if (!stored) return notFound(`Response with id '${id}'`);
  if (method === 'DELETE') {
    account.responses.delete(id);
    return json({ id, object: 'response', deleted: true });
  }
  if (below === '') return json(stored.body);
  const data = stored.inputs.map((item) => ({
    ...item,
    content: [{ type: 'input_text', text: textOf(item) }],
  }));
  return json({ object: 'list', data, first_id: data[0]?.id, last_id: data.at(-1)?.id, has_more: false });
}

function conversation(
  account: Account,
  { method, id, below, item, value }: Path & { item: string; value: Body },
): Play {
  const created_at = 1_760_000_000;
  if (id === '') {
    const made = newId('conv_');
    const metadata = (value.metadata ?? {}) as object;
    account.conversations.set(made, { metadata, items: itemsOf(value.items ?? []) });
    return json({ id: made, object: 'conversation', created_at, metadata });
  }
  const found = account.conversations.get(id);
  if (!found) return notFound(`Conversation with id '${id}'`);
  if (below === 'items') {
    if (method === 'POST') found.items.push(...itemsOf(value.items));
    if (method === 'DELETE') found.items = found.items.filter((each) => each.id !== item);
    else if (item !== '') return json(found.items.find((each) => each.id === item));
    else return json({ object: 'list', data: found.items, has_more: false });
  } else if (method === 'DELETE') {
    account.conversations.delete(id);
    return json({ id, object: 'conversation.deleted', deleted: true });
  } else if (method === 'POST') found.metadata = value.metadata as object;
  return json({ id, object: 'conversation', created_at, metadata: found.metadata });
}

interface GooglePath {
  method: string;
  collection: string;
  id: string;
  value: Body;
}

/** Google's answer for a cached content that does not exist. */
const NO_CACHE = json(
  {
    error: {
      code: 403,
      message: 'CachedContent not found (or permission denied)',
      status: 'PERMISSION_DENIED',
    },
  },
  403,
);

function google(account: Account, { method, collection, id, value }: GooglePath): Play {
  if (collection === 'models') return generate(account, value);
  if (method === 'POST') {
    const name = `cachedContents/${randomBytes(12).toString('hex')}`;
    const expireTime = '2026-12-01T00:00:00Z';
    const cache = { name, model: String(value.model), text: textIn(value.contents), expireTime };
    account.caches.set(name, cache);
    return json({ ...shown(cache), usageMetadata: { totalTokenCount: 4_096 } });
  }
  const name = `cachedContents/${id}`;
  const cache = account.caches.get(name);
  if (!cache) return NO_CACHE;
  if (method === 'DELETE') account.caches.delete(name);
  if (method === 'PATCH') cache.expireTime = `now + ${String(value.ttl)}`;
  return json(method === 'DELETE' ? {} : shown(cache));
}

const shown = ({ name, model, expireTime }: Cache) => ({ name, model, expireTime });

function textIn(contents: unknown): string {
  const list = (Array.isArray(contents) ? contents : [contents]) as { parts: { text: string }[] }[];
  return list.flatMap(({ parts }) => parts.map(({ text }) => text)).join(' ');
}

function generate(account: Account, value: Body): Play {
  const name = value.cachedContent as string | undefined;
  const cache = name === undefined ? undefined : account.caches.get(name);
  if (name !== undefined && !cache) return NO_CACHE;
  const text = `I remember: ${[cache?.text, textIn(value.contents)].filter(Boolean).join(' | ')}`;
  const candidates = [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }];
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return json({ candidates, usageMetadata, modelVersion: 'vendor-model-2026' });
}
