/** The calls of the processor's API, with the key, idempotency keys and errors of the real one. */
import { invalid, missing, Refusal } from './errors.ts';
import { expandOf } from './form.ts';
import { createPayment, createSession, expireSession } from './payments.ts';
import type { OffSession } from './payments.ts';
import { createRefund } from './taken-back.ts';
import { allOf, viewOf } from './things.ts';
import type { Books, Thing } from './things.ts';

/** A call as it arrived. */
export interface Call {
  method: string;
  /** Path without `/v1/`. */
  path: string;
  query: URLSearchParams;
  body: string;
  /** The Idempotency-Key; undefined without one. */
  idempotencyKey: string | undefined;
}

/** The answer to a call. */
export interface Answer {
  status: number;
  body: unknown;
  /** Whether it repeats an earlier answer. */
  replayed?: boolean;
}

/** The first answer under an idempotency key. */
export interface Replay {
  /** Method, path and body of the first call. */
  input: string;
  status: number;
  body: unknown;
  /** When it was given, in seconds. */
  at: number;
}

/** State and dependencies of the API. */
export interface ApiParts {
  books: Books;
  replays: Map<string, Replay>;
  offSession: OffSession;
}

/** Kinds of objects by their collections. */
const OBJECTS: Readonly<Record<string, string>> = {
  'checkout/sessions': 'checkout.session',
  payment_intents: 'payment_intent',
  payment_methods: 'payment_method',
  charges: 'charge',
  refunds: 'refund',
  disputes: 'dispute',
  balance_transactions: 'balance_transaction',
  events: 'event',
};
const PATH = /^(checkout\/sessions|[a-z_]+)(?:\/([^/]+)(?:\/([a-z]+))?)?$/;
const LIST_DEFAULT = 10;
const LIST_MAX = 100;

/** Answers a call; the second one under an idempotency key with the answer of the first. */
export function answerCall(parts: ApiParts, call: Call): Answer {
  const { idempotencyKey: key } = call;
  const input = `${call.method} ${call.path} ${call.body}`;
  const earlier = key === undefined ? undefined : parts.replays.get(key);
  if (earlier && earlier.input !== input) return mismatch(key ?? '');
  if (earlier) return { status: earlier.status, body: earlier.body, replayed: true };
  const answer = answerOnce(parts, call);
  // Like the real processor, keeps no answer to invalid parameters: nothing was executed.
  if (key !== undefined && call.method === 'POST' && (answer.status === 200 || answer.status === 402))
    parts.replays.set(key, { input, ...answer, at: Math.floor(Date.now() / 1000) });
  return answer;
}

function answerOnce(parts: ApiParts, call: Call): Answer {
  try {
    return { status: 200, body: act(parts, call) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { error: error.body } };
  }
}

function act({ books, offSession }: ApiParts, { method, path, query, body }: Call): unknown {
  const [, collection = '', id, verb] = PATH.exec(path) ?? [];
  const form = method === 'GET' ? query : new URLSearchParams(body);
  const expand = expandOf(form);
  const action = `${method} ${collection}${id ? '/:id' : ''}${verb ? `/${verb}` : ''}`;
  const thing = id ? find(books, collection, id) : undefined;
  if (method === 'GET' && OBJECTS[collection] && !verb)
    return thing ? viewOf(thing, expand) : listOf(books, path, query);
  if (action === 'POST checkout/sessions') return viewOf(createSession(books, form), expand);
  if (action === 'POST refunds') return viewOf(createRefund(books, form), expand);
  if (action === 'POST payment_intents') return viewOf(createPayment(books, form, offSession), expand);
  if (thing && action === 'POST checkout/sessions/:id/expire')
    return viewOf(expireSession(books, thing), expand);
  if (thing && action === 'POST payment_methods/:id/detach') return viewOf(detach(thing), expand);
  const message = `Unrecognized request URL (${method}: /v1/${path}).`;
  throw new Refusal(404, { type: 'invalid_request_error', message });
}

function find({ things }: Books, collection: string, id: string): Thing | undefined {
  const object = OBJECTS[collection];
  if (!object) return undefined;
  const thing = things.get(id);
  if (thing?.['object'] === object) return thing;
  throw missing(object, id);
}

function detach(method: Thing): Thing {
  if (method['customer'] === null)
    throw invalid('payment_method', 'The payment method is not attached to a customer.');
  method['customer'] = null;
  return method;
}

/** A page of a list, newest first. */
function listOf(books: Books, collection: string, query: URLSearchParams): unknown {
  const payment = query.get('payment_intent');
  const customer = query.get('customer');
  const from = Number(query.get('created[gte]') ?? 0);
  const all = allOf(books, OBJECTS[collection] ?? '')
    .filter((thing) => payment === null || thing['payment_intent'] === payment)
    .filter((thing) => customer === null || thing['customer'] === customer)
    .filter(({ created }) => typeof created !== 'number' || created >= from)
    .toReversed();
  const after = query.get('starting_after');
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(Number(query.get('limit') ?? LIST_DEFAULT) || LIST_DEFAULT, LIST_MAX);
  const page = all.slice(start, start + limit);
  return {
    object: 'list',
    data: page.map((thing) => viewOf(thing, expandOf(query))),
    has_more: all.length > start + limit,
    url: `/v1/${collection}`,
  };
}

function mismatch(key: string): Answer {
  const message = `Keys for idempotent requests can only be used with the same parameters. Key: '${key}'.`;
  return { status: 400, body: { error: { type: 'idempotency_error', message } } };
}
