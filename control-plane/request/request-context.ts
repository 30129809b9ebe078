/** Creates the context of each operation: its caller, address and database session. */
import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { issueSecret } from '@gateway/shared/secrets';
import { Batches } from '../database/batches.ts';
import type { NodeFeed } from '../database/config-log.ts';
import type { OidcClient } from '../accounts/oidc.client.ts';
import { clientAddress, trustProxies } from '../process/client-address.ts';
import type { ProxyTrust } from '../process/client-address.ts';
import type { Context } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import {
  browserCookieOf,
  browserTokenOf,
  cookieOf,
  credentialsOf,
  deviceCookieOf,
  deviceTokenOf,
  identify,
} from './identify.ts';
import type { Credentials, Identity, NodeFinder } from './identify.ts';
import type { Playground } from '../playground/playground.ts';
import type { Settings } from '../process/settings.ts';
import type { SettlementQueue } from '../usage/settlement.queue.ts';
import type { UsageReader } from '../usage/usage.reader.ts';

const USER_AGENT_LENGTH_MAX = 300;
/** A sender is identified again if its request takes longer than this to arrive, in ms. */
const CALLER_KEPT_MS = 1000;

/** Callers of a listener: everybody, everybody but nodes, or nodes alone. */
export type Audience = 'all' | 'people' | 'nodes';

/** Services of the process that contexts carry. */
export interface ContextParts {
  /** Callers for which the listener is meant. */
  audience: Audience;
  orm: MikroORM;
  settings: Settings;
  nodeFeed: NodeFeed;
  playground: Playground;
  usage: UsageReader;
  settlements: SettlementQueue;
  oidc: OidcClient | null;
  findNode: NodeFinder;
}

/** The sender of a request, with the database session that found it. */
interface Caller extends Identity {
  em: EntityManager;
}

/** Parts of a context that differ between HTTP and WebSocket. */
interface Channel {
  requestId: string;
  caller: Caller;
  /** Sends a whole Set-Cookie value; null on a WebSocket. */
  setCookie: ((value: string) => void) | null;
}

/** The context for the next event of a subscription, with a new session that reads rows again. */
export function freshContext(context: Context, em: EntityManager): Context {
  return { ...context, em, batches: new Batches(em) };
}

/** Creates contexts. Both methods reject with UNAUTHENTICATED for an unknown bearer token. */
export class Contexts {
  readonly #parts: ContextParts;
  readonly #isProxy: ProxyTrust;
  readonly #callers = new WeakMap<IncomingMessage, { caller: Promise<Caller>; at: number }>();

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.#isProxy = trustProxies(parts.settings.trustProxy);
  }

  /** The sender of an HTTP request. A sender that was just found is not looked up again. */
  callerOf(request: IncomingMessage): Promise<Caller> {
    const known = this.#callers.get(request);
    if (known && performance.now() - known.at < CALLER_KEPT_MS) return known.caller;
    const caller = this.#identify(credentialsOf(request.headers, this.#parts.settings));
    this.#callers.set(request, { caller, at: performance.now() });
    return caller;
  }

  /** The bearer token or session token of the request, which is not verified; null without one. */
  credentialOf(request: IncomingMessage): string | null {
    const { bearer, sessionToken } = credentialsOf(request.headers, this.#parts.settings);
    return bearer ?? sessionToken;
  }

  /** Whether the peer's address is a trusted proxy. */
  get isProxy(): ProxyTrust {
    return this.#isProxy;
  }

  /** The client's address behind trusted proxies. */
  addressOf(request: IncomingMessage): string | null {
    return clientAddress(request, this.#isProxy);
  }

  /** The context of an HTTP request; `setCookie` receives whole Set-Cookie values. */
  async ofRequest(
    request: IncomingMessage,
    requestId: string,
    setCookie: (value: string) => void,
  ): Promise<Context> {
    return this.#make(request, { requestId, setCookie, caller: await this.callerOf(request) });
  }

  /**
   * The context of an operation on a WebSocket. `parameters` are those of connectionInit: their
   * `authorization` replaces the header, which browsers cannot set.
   */
  async ofSocket(request: IncomingMessage, parameters: Record<string, unknown>): Promise<Context> {
    const given = parameters['authorization'] ?? parameters['Authorization'];
    const headers =
      typeof given === 'string' ? { ...request.headers, authorization: given } : request.headers;
    return this.#make(request, {
      requestId: randomUUID(),
      caller: await this.#identify(credentialsOf(headers, this.#parts.settings)),
      setCookie: null,
    });
  }

  async #identify(credentials: Credentials): Promise<Caller> {
    const { audience, orm, findNode } = this.#parts;
    if (audience === 'people' && credentials.bearer?.startsWith('gnt_')) throw refused(NODES_ELSEWHERE);
    if (audience === 'nodes' && !credentials.bearer?.startsWith('gnt_')) throw refused(NODES_ONLY);
    const em = orm.em.fork();
    return { em, ...(await identify(em, credentials, findNode)) };
  }

  #make(request: IncomingMessage, { requestId, caller, setCookie: given }: Channel): Context {
    const setCookie = given ?? refuseCookie;
    const { settings, nodeFeed, playground, usage, settlements, oidc } = this.#parts;
    const { em, viewer, node } = caller;
    const device = deviceTokenOf(request.headers, settings) ?? issueSecret('gwd');
    return {
      em,
      viewer,
      node,
      requestId,
      settings,
      nodeFeed,
      playground,
      usage,
      settlements,
      oidc,
      device,
      browserToken: browserTokenOf(request.headers, settings),
      batches: new Batches(em),
      budget: null,
      ip: this.addressOf(request),
      userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      setBrowser: (token, expiresAt) => setCookie(browserCookieOf(settings, token, expiresAt)),
      setSession: (token, expiresAt = new Date(0)) => {
        // The ended session is useless: a WebSocket, which cannot clear its cookie, need not do so.
        if (token === null && !given) return;
        setCookie(cookieOf(settings, token ?? '', expiresAt));
        if (token !== null) setCookie(deviceCookieOf(settings, device));
      },
    };
  }
}

const NODES_ELSEWHERE = 'This port does not serve nodes. Set CONTROL_URL to the port of NODE_INTERFACE_PORT.';
const NODES_ONLY = 'This port serves nodes alone. Send the node token, or use the port of the console.';

function refuseCookie(): never {
  throw requestError('BAD_USER_INPUT', 'A WebSocket cannot set cookies. Sign in over HTTP.');
}

function refused(message: string): Error {
  return requestError('UNAUTHENTICATED', message, { http: { status: 401 } });
}
