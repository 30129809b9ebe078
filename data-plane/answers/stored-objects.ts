/**
 * Reads, changes and deletes objects that an upstream stores, for free: the upstream is asked with the one
 * credential that knows the object.
 */
import { admitFree } from '../admission/admit.ts';
import type { Caller, Credentials } from '../admission/authenticate.ts';
import { usableModels } from '../admission/find-model.ts';
import { Slot } from '../admission/slot.ts';
import { invalidRequest } from '../call/refusals.ts';
import type { Call } from '../call/call.ts';
import type { CompiledRoute } from '../config/config.ts';
import { objectOf } from '../dialects/fields.ts';
import { outgoingHeaders } from '../exchange/outgoing-headers.ts';
import type { Services } from '../services.ts';
import { editObject, readObject } from '../state/edit-object.ts';
import { missingObject } from '../state/missing.ts';
import { placeOf, routeOf } from '../state/place.ts';
import type { StateDialect } from '../state/place.ts';
import { refusalOf } from '../state/refusal.ts';
import { isPlainId } from '../state/replace-ids.ts';
import type { SealedIds, StateKind, StoredObject } from '../state/sealed-ids.ts';
import type { Candidate, ForwardedRequest } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';

/** Maximum size of an upstream's answer, in bytes: an answer with pictures. */
const ANSWER_BYTES = 64 * 1024 * 1024;
/** Maximum length of one value of a query that passes. */
const QUERY_CHARACTERS = 256;
/** Maximum number of values of a query that pass. */
const QUERY_VALUES = 20;
/** Parameters of queries that pass. https://platform.openai.com/docs/api-reference/responses/get */
const QUERY_NAMES: ReadonlySet<string> = new Set(['include', 'include[]', 'after', 'limit', 'order']);
/** An id of an item within an object. The upstream looks for it in that object alone. */
const ITEM_ID = /^[A-Za-z0-9_-]{1,256}$/;

/** A caller with the key of the ids. */
export interface StateCaller {
  caller: Caller;
  walletId: string;
  ids: SealedIds;
}

/** An action on a kind of stored object. */
export interface StoredTarget {
  kind: StateKind;
  dialect: StateDialect;
  method: 'GET' | 'POST' | 'DELETE';
  /** The customer's id, as the path has it. */
  id: string;
  /** Path of the object's collection below the upstream's base URL. */
  collection: string;
  /** Path below the object; empty or beginning with a slash. */
  below?: string;
  /** The body for the upstream. */
  body?: (call: Call) => Promise<Buffer>;
}

/**
 * Runs a free request as one of the wallet's concurrent ones. `serve` gets no caller if this node cannot read
 * ids of stored objects.
 */
export async function withFreeCaller(
  call: Call,
  services: Services,
  {
    credentials,
    serve,
  }: { credentials: Credentials; serve: (caller: StateCaller | undefined) => Promise<void> },
): Promise<void> {
  const caller = admitFree(call, credentials, services);
  const slot = new Slot(caller, call.config, services);
  call.incoming.payer = slot;
  services.streams.add({ id: caller.key.id, digest: caller.digest }, call.cut);
  try {
    const { sealedIds: ids } = call.config;
    await serve(ids && { caller, ids, walletId: caller.key.walletId });
  } finally {
    services.streams.remove(caller.key.id, call.cut);
    slot.leave();
  }
}

/** Where a request takes its key, and what it does, read once the caller is known. */
interface StoredRequest {
  credentials: Credentials;
  read(): StoredTarget;
}

/** Answers with what the upstream says about the object. Throws the format's "not found". */
export function answerStoredObject(
  call: Call,
  services: Services,
  { credentials, read }: StoredRequest,
): Promise<void> {
  const serve = async (known: StateCaller | undefined): Promise<void> => {
    const target = read();
    if (!known) throw missingObject(target.kind, target.id);
    const { object, route } = findObject(call, known, target);
    const body = (await target.body?.(call)) ?? null;
    const bytes = await services.upstreams.ask(call, requestFor(call, { target, object, body, known }), {
      walletId: known.walletId,
      model: object.model,
      routes: [route],
    });
    call.reply.whole(200, 'application/json', bytes);
  };
  return withFreeCaller(call, services, { credentials, serve });
}

/** The object of a path and the route to its account. Throws "not found". */
export function findObject(
  { config }: Pick<Call, 'config'>,
  { caller, ids, walletId }: StateCaller,
  { kind, id, dialect }: Pick<StoredTarget, 'kind' | 'id' | 'dialect'>,
): { object: StoredObject; route: CompiledRoute } {
  const object = ids.open(id, kind, walletId);
  // A pool may have models that the catalog no longer has.
  const models = object ? [...usableModels(config, caller), ...config.models()] : [];
  const route = object && routeOf(config, object, { models, dialect });
  if (!route) throw missingObject(kind, id);
  return { object, route };
}

interface ForwardedObject {
  target: StoredTarget;
  object: StoredObject;
  body: Buffer | null;
  known: StateCaller;
}

function requestFor(call: Call, { target, object, body, known }: ForwardedObject): ForwardedRequest<Buffer> {
  const { method, collection, below = '', kind, id, dialect } = target;
  const query = queryOf(call.query);
  return {
    preferred: dialect,
    outgoing: (candidate) => ({
      method,
      path: `${addressOf(candidate.provider).prefix}${collection}/${object.upstreamId}${below}${query}`,
      body,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...outgoingHeaders(candidate, call.headers, 'application/json'),
      },
    }),
    receive: async ({ answer, candidate, settle }) => {
      const bytes = await answer.whole(ANSWER_BYTES);
      const own = withOwnNames(bytes, { object, id, candidate, known });
      settle();
      return own;
    },
    refusal: (refused, candidate) =>
      refusalOf(refused, {
        dialect: candidate.dialect,
        names: new Map([[object.upstreamId, id]]),
        missing: missingObject(kind, id),
        isOnlyAboutIt: true,
      }),
  };
}

/** The object of the answer with the customer's ids and the catalog's model; lists pass unchanged. */
function withOwnNames(
  bytes: Buffer,
  {
    object,
    id,
    candidate,
    known,
  }: { object: StoredObject; id: string; candidate: Candidate; known: StateCaller },
): Buffer {
  const value = readObject(bytes);
  if (value.id !== object.upstreamId && value.name !== `cachedContents/${object.upstreamId}`) return bytes;
  const place = placeOf(candidate);
  const sealed = (kind: StateKind, upstreamId: unknown): string | undefined =>
    isPlainId(upstreamId)
      ? known.ids.seal({ kind, ...place, model: object.model, upstreamId }, known.walletId)
      : undefined;
  return editObject(bytes, value, {
    id,
    name: id,
    model: object.kind === 'cache' ? `models/${object.model}` : object.model,
    previous_response_id: sealed('response', value.previous_response_id),
    conversation: { id: sealed('conversation', objectOf(value.conversation).id) },
  });
}

/** The query for the upstream. Throws `invalid_request` for parameters that are not offered. */
function queryOf(query: URLSearchParams): string {
  const passed = new URLSearchParams();
  for (const [name, value] of query) {
    if (name === 'key' || (name === 'stream' && value === 'false')) continue;
    if (!QUERY_NAMES.has(name) || value.length > QUERY_CHARACTERS || passed.size >= QUERY_VALUES)
      throw invalidRequest(`The parameter "${name.slice(0, 100)}" is not offered here. Leave it out.`, name);
    passed.append(name, value);
  }
  return passed.size === 0 ? '' : `?${passed.toString()}`;
}

/** Whether a path may name an item by this id. */
export function isItemId(id: string): boolean {
  return ITEM_ID.test(id);
}
