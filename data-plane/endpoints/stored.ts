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

const RESPONSES = { kind: 'response', dialect: 'openai-responses' } as const;
const CONVERSATIONS = { kind: 'conversation', dialect: 'openai-responses' } as const;
const CACHES = { kind: 'cache', dialect: 'google-generate' } as const;

/** Google's current SDK uses /v1 for its paths. */
const CACHE_PATHS = ['/v1beta/cachedContents', '/v1/cachedContents'] as const;

/** All rows of stored objects. They are free, except for the creation and change of cached contents. */
export const STORED_ENDPOINTS: readonly Endpoint[] = [
  stored('GET', '/v1/responses/*', readTarget),
  stored('DELETE', '/v1/responses/*', (rest) => ({
    ...RESPONSES,
    ...objectIn('/responses', rest),
    method: 'DELETE',
  })),
  // A cancellation has no body.
  { ...free('POST', '/v1/responses/*', cancelResponse), body: 'any' },
  free('POST', '/v1/conversations', createConversation),
  ...(['GET', 'POST', 'DELETE'] as const).map((method) =>
    stored(method, '/v1/conversations/*', (rest) => conversationTarget(method, rest)),
  ),
  ...CACHE_PATHS.flatMap(cacheRows),
];

type Answer = Endpoint['answer'];

function free(method: Method, path: string, answer: Answer): Endpoint {
  const credentials = isCachePath(path) ? 'generative' : 'bearer';
  return { method, path, family: 'free', credentials, body: method === 'POST' ? 'json' : 'any', answer };
}

/** A row for stored objects. `targetOf` reads the rest of the path once the caller is known. */
function stored(method: Method, path: string, targetOf: (rest: string) => StoredTarget): Endpoint {
  const row: Endpoint = free(method, path, (call, services, rest) =>
    answerStoredObject(call, services, { credentials: row.credentials, read: () => targetOf(rest) }),
  );
  return row;
}

/** The object that the rest of a path names. Throws `not_found` if there is more below it. */
function objectIn(collection: string, rest: string): Pick<StoredTarget, 'id' | 'collection'> {
  if (rest === '' || rest.includes('/')) throw notFound(`/v1${collection}/${rest}`);
  return { id: rest, collection };
}

/** Paths of a response: itself, and its input items. */
function readTarget(rest: string): StoredTarget {
  const [, id = '', below = ''] = /^([^/]+)(\/input_items)?$/.exec(rest) ?? [];
  return { ...RESPONSES, ...objectIn('/responses', id), below, method: 'GET' };
}

/** Refuses to cancel: only background responses can be cancelled, and they are not offered. */
function cancelResponse(call: Call, services: Services, rest: string): Promise<void> {
  return withFreeCaller(call, services, {
    credentials: 'bearer',
    serve: async (known) => {
      const [, id] = /^([^/]+)\/cancel$/.exec(rest) ?? [];
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
  const target = (method: 'GET' | 'DELETE') => (rest: string) => ({
    ...CACHES,
    ...{ collection: '/cachedContents', id: cacheName(rest), method },
  });
  return [
    cacheRow('POST', path),
    // The provider's list has the objects of all customers.
    { ...free('GET', path, answerUnimplemented), credentials: 'models' },
    stored('GET', one, target('GET')),
    cacheRow('PATCH', one),
    stored('DELETE', one, target('DELETE')),
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
      const open = (read: Call) =>
        openCachedContent(read, {
          ...(method === 'PATCH' ? { id: cacheName(rest) } : {}),
          limitBytes: CACHE_BODY_BYTES,
        });
      return serve(call, { family: 'generative_language', credentials: 'generative', open }, services);
    },
  };
}

/** The name of the cached content that the rest of a path names. Throws `not_found` if it names none. */
function cacheName(rest: string): string {
  return `cachedContents/${objectIn('/cachedContents', rest).id}`;
}

/** Whether the path is one of cached contents, whose errors have Google's format. */
export function isCachePath(path: string): boolean {
  return CACHE_PATHS.some((root) => path === root || path.startsWith(`${root}/`));
}
