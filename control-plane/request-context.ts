/** Makes the context of each operation: who asks, from where, with a database session of its own. */
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { Batches } from './batches.ts';
import type { OidcClient } from './accounts/oidc.client.ts';
import { clientAddress, trustProxies } from './client-address.ts';
import type { ProxyTrust } from './client-address.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { browserCookieOf, browserTokenOf, cookieOf, credentialsOf, identify } from './identify.ts';
import type { Credentials, NodeFinder } from './identify.ts';
import type { Playground } from './playground/live.ts';
import type { Settings } from './settings.ts';

const USER_AGENT_LENGTH_MAX = 300;

export interface ContextParts {
  orm: MikroORM;
  settings: Settings;
  playground: Playground;
  oidc: OidcClient | null;
  findNode: NodeFinder;
}

/** What of a context depends on the kind of connection. */
interface Channel {
  requestId: string;
  credentials: Credentials;
  setCookie: (value: string) => void;
}

/** The context of an operation for another event of it: nothing that an earlier one read is seen again. */
export function freshContext(context: Context, em: EntityManager): Context {
  return { ...context, em, batches: new Batches(em) };
}

/**
 * Contexts of HTTP requests and of sockets. Both reject with UNAUTHENTICATED for a bearer token that nobody
 * has.
 */
export class Contexts {
  readonly #parts: ContextParts;
  readonly #isProxy: ProxyTrust;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.#isProxy = trustProxies(parts.settings.trustProxy);
  }

  ofRequest(
    request: IncomingMessage,
    requestId: string,
    setCookie: (value: string) => void,
  ): Promise<Context> {
    return this.#make(request, {
      requestId,
      setCookie,
      credentials: credentialsOf(request.headers, this.#parts.settings),
    });
  }

  /**
   * On a socket the token may also come as `authorization` of connectionInit, where browsers cannot set
   * headers.
   */
  ofSocket(request: IncomingMessage, parameters: Record<string, unknown>): Promise<Context> {
    const given = parameters['authorization'] ?? parameters['Authorization'];
    const headers =
      typeof given === 'string' ? { ...request.headers, authorization: given } : request.headers;
    return this.#make(request, {
      requestId: randomUUID(),
      credentials: credentialsOf(headers, this.#parts.settings),
      setCookie: () => {
        throw requestError('BAD_USER_INPUT', 'Sign in and out over HTTP: a WebSocket cannot set cookies.');
      },
    });
  }

  async #make(request: IncomingMessage, { requestId, credentials, setCookie }: Channel): Promise<Context> {
    const { orm, settings, findNode, playground, oidc } = this.#parts;
    const em = orm.em.fork();
    const { viewer, node } = await identify(em, credentials, findNode);
    return {
      em,
      viewer,
      node,
      requestId,
      settings,
      playground,
      oidc,
      browserToken: browserTokenOf(request.headers, settings),
      batches: new Batches(em),
      budget: null,
      ip: clientAddress(request, this.#isProxy),
      userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      setBrowser: (token, expiresAt) => setCookie(browserCookieOf(settings, token, expiresAt)),
      setSession: (token, expiresAt = new Date(0)) => setCookie(cookieOf(settings, token ?? '', expiresAt)),
    };
  }
}
