/** Rows of the endpoint table for objects that an upstream stores. */
import { conversationBody, createConversation } from '../answers/conversations.ts';
import { answerStoredObject, findObject, isItemId, withFreeCaller } from '../answers/stored-objects.ts';
import type { StoredTarget } from '../answers/stored-objects.ts';
import { answerUnimplemented } from '../answers/unimplemented.ts';
import { invalidRequest } from '../call/refusals.ts';
import type { Call } from '../call/call.ts';
import { openCachedContent } from '../exchange/cached-contents.ts';
import { serve } from '../pipeline.ts';
import { missingObject } from '../state/missing.ts';
import type { Services } from '../services.ts';
import { notFound } from './endpoint.ts';
import type { Endpoint, Method } from './endpoint.ts';

/** Maximum size of a request for a cached content, in bytes: the same as that of a chat request. */
const CACHE_BODY_BYTES = 32 * 1024 * 1024;

const RESPONSES = { kind: 'response', dialect: 'openai-responses', credentials: 'bearer' } as const;
const CONVERSATIONS = { kind: 'conversation', dialect: 'openai-responses', credentials: 'bearer' } as const;
const CACHES = { kind: 'cache', dialect: 'google-generate', credentials: 'generative' } as const;

/** Google's current SDK uses /v1 for its paths. */
const CACHE_PATHS = ['/v1beta/cachedContents', '/v1/cachedContents'] as const;

/** All rows of stored objects. They are free, except for the creation and change of cached contents. */
export const STORED_ENDPOINTS: readonly Endpoint[] = [
  free('GET', '/v1/responses/*', readResponse),
  free('DELETE', '/v1/responses/*', (call, services, rest) =>
    answerStoredObject(call, services, { ...RESPONSES, ...objectIn('/responses', rest), method: 'DELETE' }),
  ),
  // A cancellation has no body.
  { ...free('POST', '/v1/responses/*', cancelResponse), body: 'any' },
  free('POST', '/v1/conversations', createConversation),
  ...(['GET', 'POST', 'DELETE'] as const).map((method) =>
    free(method, '/v1/conversations/*', (call, services, rest) =>
      answerStoredObject(call, services, conversationTarget(method, rest)),
    ),
  ),
  ...CACHE_PATHS.flatMap(cacheRows),
];

type Answer = Endpoint['answer'];

function free(method: Method, path: string, answer: Answer): Endpoint {
  const credentials = isCachePath(path) ? 'generative' : 'bearer';
  return { method, path, family: 'free', credentials, body: method === 'POST' ? 'json' : 'any', answer };
}

/** The object that the rest of a path names. Throws `not_found` if there is more below it. */
function objectIn(collection: string, rest: string): Pick<StoredTarget, 'id' | 'collection'> {
  if (rest === '' || rest.includes('/')) throw notFound(`/v1${collection}/${rest}`);
  return { id: rest, collection };
}

function readResponse(call: Call, services: Services, rest: string): Promise<void> {
  const [, id = '', below = ''] = /^([^/]+)(\/input_items)?$/.exec(rest) ?? [];
  const target = { ...RESPONSES, ...objectIn('/responses', id), below, method: 'GET' } as const;
  return answerStoredObject(call, services, target);
}

/** Refuses to cancel: only background responses can be cancelled, and they are not offered. */
function cancelResponse(call: Call, services: Services, rest: string): Promise<void> {
  const [, id] = /^([^/]+)\/cancel$/.exec(rest) ?? [];
  return withFreeCaller(call, services, {
    credentials: 'bearer',
    serve: async (known) => {
      if (id === undefined) throw notFound(call.path);
      if (!known) throw missingObject('response', id);
      findObject(call, known, { ...RESPONSES, id });
      throw invalidRequest('Cannot cancel a synchronous response. Close the connection instead.');
    },
  });
}

/** Paths of a conversation: itself, its items, and one item. */
function conversationTarget(method: 'GET' | 'POST' | 'DELETE', rest: string): StoredTarget {
  const [, id = '', items = '', item = ''] = /^([^/]+)(\/items)?(?:\/([^/]+))?$/.exec(rest) ?? [];
  const isKnown = item === '' || (items !== '' && method !== 'POST' && isItemId(item));
  const isDeletedList = items !== '' && item === '' && method === 'DELETE';
  if (!isKnown || isDeletedList) throw notFound(`/v1/conversations/${rest}`);
  const below = items + (item === '' ? '' : `/${item}`);
  const target = { ...CONVERSATIONS, ...objectIn('/conversations', id), below, method };
  return method === 'POST' ? { ...target, body: (call) => conversationBody(call) } : target;
}

function cacheRows(path: string): Endpoint[] {
  const one = `${path}/*`;
  const stored = (method: 'GET' | 'DELETE') =>
    free(method, one, (call, services, rest) => {
      const { collection, id } = objectIn('/cachedContents', rest);
      const target = { ...CACHES, collection, id: `cachedContents/${id}`, method };
      return answerStoredObject(call, services, target);
    });
  return [
    cacheRow('POST', path),
    // The provider's list has the objects of all customers.
    { ...free('GET', path, answerUnimplemented), credentials: 'models' },
    stored('GET'),
    cacheRow('PATCH', one),
    stored('DELETE'),
  ];
}

function cacheRow(method: 'POST' | 'PATCH', path: string): Endpoint {
  return {
    method,
    path,
    family: 'generative_language',
    credentials: 'generative',
    body: 'json',
    answer: (call, services, rest) => {
      if (method === 'PATCH') objectIn('/cachedContents', rest);
      const id = method === 'PATCH' ? { id: `cachedContents/${rest}` } : {};
      const open = (read: Call) => openCachedContent(read, { ...id, limitBytes: CACHE_BODY_BYTES });
      return serve(call, { family: 'generative_language', credentials: 'generative', open }, services);
    },
  };
}

/** Whether the path is one of cached contents, whose errors have Google's format. */
export function isCachePath(path: string): boolean {
  return CACHE_PATHS.some((root) => path === root || path.startsWith(`${root}/`));
}
