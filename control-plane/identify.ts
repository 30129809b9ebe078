/** Finds out who sent a request: by the cookie of a browser, the token of a script, or that of a node. */
import type { IncomingHttpHeaders } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { viewerOfToken } from './accounts/session.service.ts';
import { viewerOfAccessToken } from './accounts/token.service.ts';
import type { NodeIdentity, Viewer } from './context.ts';
import { requestError } from './errors.ts';
import type { Settings } from './settings.ts';

/** Finds the node that a `gnt_…` token belongs to. */
export type NodeFinder = (em: EntityManager, token: string) => Promise<NodeIdentity | null>;

/** What a request shows to identify its sender. */
export interface Credentials {
  bearer: string | null;
  sessionToken: string | null;
}

export interface Identity {
  viewer: Viewer | null;
  node: NodeIdentity | null;
}

const BEARER = /^Bearer ([\w-]{1,200})$/i;

/** The cookie's name: browsers accept the `__Host-` prefix over https alone. */
export function cookieName(settings: Pick<Settings, 'consoleUrl'>): string {
  return isHttps(settings) ? '__Host-session' : 'session';
}

/** The name of the cookie that only says: it is still the same browser. It opens nothing. */
function browserCookieName(settings: Pick<Settings, 'consoleUrl'>): string {
  return isHttps(settings) ? '__Host-browser' : 'browser';
}

/** The whole Set-Cookie value of a session; an empty token clears the cookie. */
export function cookieOf(settings: Pick<Settings, 'consoleUrl'>, token: string, expiresAt: Date): string {
  return setCookie(settings, `${cookieName(settings)}=${token}`, expiresAt);
}

/** The whole Set-Cookie value that marks a browser, for what begins and ends in one. */
export function browserCookieOf(
  settings: Pick<Settings, 'consoleUrl'>,
  token: string,
  expiresAt: Date,
): string {
  return setCookie(settings, `${browserCookieName(settings)}=${token}`, expiresAt);
}

function setCookie(settings: Pick<Settings, 'consoleUrl'>, pair: string, expiresAt: Date): string {
  const parts = [pair, 'Path=/', 'HttpOnly', 'SameSite=Lax', `Expires=${expiresAt.toUTCString()}`];
  return [...parts, ...(isHttps(settings) ? ['Secure'] : [])].join('; ');
}

/**
 * Reads bearer token and session cookie. A foreign page's request (by its Origin) is not given the cookie's
 * power.
 */
export function credentialsOf(headers: IncomingHttpHeaders, settings: Settings): Credentials {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
  const ownPage = headers.origin === undefined || isOwnOrigin(headers.origin, settings);
  return { bearer, sessionToken: ownPage ? cookieIn(headers, cookieName(settings)) : null };
}

/** What marks the browser, where it was marked. */
export function browserTokenOf(
  headers: IncomingHttpHeaders,
  settings: Pick<Settings, 'consoleUrl'>,
): string | null {
  return cookieIn(headers, browserCookieName(settings));
}

function cookieIn(headers: IncomingHttpHeaders, name: string): string | null {
  const pair = (headers.cookie ?? '')
    .split(';')
    .map((item) => item.trim())
    .find((item) => item.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) || null;
}

/**
 * Whether a page of this origin is our console: by its configured address, or the local one that it listens
 * on.
 */
export function isOwnOrigin(origin: string, settings: Settings): boolean {
  const console = new URL(settings.consoleUrl);
  if (origin === console.origin) return true;
  const isLocal = console.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(console.hostname);
  return isLocal && [`http://localhost:${console.port}`, `http://127.0.0.1:${console.port}`].includes(origin);
}

/** Throws UNAUTHENTICATED for a bearer token that nobody has; an unknown cookie is just no session. */
export async function identify(
  em: EntityManager,
  credentials: Credentials,
  findNode: NodeFinder,
): Promise<Identity> {
  const { bearer, sessionToken } = credentials;
  if (bearer !== null) {
    const node = bearer.startsWith('gnt_') ? await findNode(em, bearer) : null;
    const viewer = bearer.startsWith('gqt_') ? await viewerOfAccessToken(em, bearer) : null;
    if (!node && !viewer) throw requestError('UNAUTHENTICATED', remedyFor(bearer), { http: { status: 401 } });
    return { viewer, node };
  }
  return { viewer: sessionToken ? await viewerOfToken(em, sessionToken) : null, node: null };
}

/** What to do about a bearer token that opens nothing. Whether it ever did is told to nobody. */
function remedyFor(bearer: string): string {
  if (bearer.startsWith('gnt_'))
    return 'This token of a node was replaced, or never was one. Give the node a new one: Admin, Nodes.';
  const make = 'Make a new one in the console: Profile, Access tokens.';
  if (bearer.startsWith('gqt_')) return `This access token expired, was revoked, or never was one. ${make}`;
  if (bearer.startsWith('sk-'))
    return `This is a key for models. Here access tokens are good (gqt_…). ${make}`;
  return `This bearer token is not valid here; access tokens are (gqt_…). ${make}`;
}

function isHttps(settings: Pick<Settings, 'consoleUrl'>): boolean {
  return settings.consoleUrl.startsWith('https:');
}
