/** Identifies the sender of a request by a browser's session cookie, an access token or a node token. */
import type { IncomingHttpHeaders } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { viewerOfToken } from '../accounts/session.service.ts';
import { viewerOfAccessToken } from '../accounts/token.service.ts';
import type { NodeIdentity, Viewer } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';

/** Finds the node that a `gnt_…` token belongs to; null for an unknown token. */
export type NodeFinder = (token: string) => Promise<NodeIdentity | null>;

/** Credentials in the headers of a request. */
export interface Credentials {
  bearer: string | null;
  sessionToken: string | null;
}

/** The sender of a request; both null for an anonymous one. */
export interface Identity {
  viewer: Viewer | null;
  node: NodeIdentity | null;
}

const DEVICE_SHAPE = /^gwd_[0-9A-Za-z]{42}$/;
const DEVICE_KEPT_MS = 365 * 24 * 60 * 60 * 1000;
const BEARER = /^Bearer ([\w-]{1,200})$/i;

/** Name of the session cookie. Browsers accept the `__Host-` prefix over https only. */
function cookieName(settings: Pick<Settings, 'consoleUrl'>): string {
  return isHttps(settings) ? '__Host-session' : 'session';
}

/** Name of the cookie that ties a sign-in flow to one browser. It grants no access. */
function browserCookieName(settings: Pick<Settings, 'consoleUrl'>): string {
  return isHttps(settings) ? '__Host-browser' : 'browser';
}

/** Name of the cookie that marks a device where somebody signed in. It grants no access. */
function deviceCookieName(settings: Pick<Settings, 'consoleUrl'>): string {
  return isHttps(settings) ? '__Host-device' : 'device';
}

/** The Set-Cookie value of the device cookie. */
export function deviceCookieOf(settings: Pick<Settings, 'consoleUrl'>, token: string): string {
  const pair = `${deviceCookieName(settings)}=${token}`;
  return setCookie(settings, pair, new Date(Date.now() + DEVICE_KEPT_MS));
}

/** The token of the device cookie; null without a valid one. */
export function deviceTokenOf(
  headers: IncomingHttpHeaders,
  settings: Pick<Settings, 'consoleUrl'>,
): string | null {
  const token = cookieIn(headers, deviceCookieName(settings));
  return token !== null && DEVICE_SHAPE.test(token) ? token : null;
}

/** The Set-Cookie value of the session cookie; an empty token clears the cookie. */
export function cookieOf(settings: Pick<Settings, 'consoleUrl'>, token: string, expiresAt: Date): string {
  return setCookie(settings, `${cookieName(settings)}=${token}`, expiresAt);
}

/** The Set-Cookie value of the browser cookie. */
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
 * Reads bearer token and session cookie. The cookie is ignored if Origin names a page that is not the
 * console.
 */
export function credentialsOf(headers: IncomingHttpHeaders, settings: Settings): Credentials {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
  const ownPage = headers.origin === undefined || isOwnOrigin(headers.origin, settings);
  return { bearer, sessionToken: ownPage ? cookieIn(headers, cookieName(settings)) : null };
}

/** The token of the browser cookie; null without one. */
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
 * Whether the origin is the console's: its configured address, or for a local http console either local name.
 */
export function isOwnOrigin(origin: string, settings: Settings): boolean {
  const console = new URL(settings.consoleUrl);
  if (origin === console.origin) return true;
  const isLocal = console.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(console.hostname);
  return isLocal && [`http://localhost:${console.port}`, `http://127.0.0.1:${console.port}`].includes(origin);
}

/** The sender. Throws UNAUTHENTICATED for an unknown bearer token; an unknown session cookie is ignored. */
export async function identify(
  em: EntityManager,
  credentials: Credentials,
  findNode: NodeFinder,
): Promise<Identity> {
  const { bearer, sessionToken } = credentials;
  if (bearer !== null) {
    const node = bearer.startsWith('gnt_') ? await findNode(bearer) : null;
    const viewer = bearer.startsWith('gqt_') ? await viewerOfAccessToken(em, bearer) : null;
    if (!node && !viewer) throw requestError('UNAUTHENTICATED', remedyFor(bearer), { http: { status: 401 } });
    return { viewer, node };
  }
  return { viewer: sessionToken ? await viewerOfToken(em, sessionToken) : null, node: null };
}

/** The message for an unknown bearer token. It does not reveal whether the token was ever valid. */
function remedyFor(bearer: string): string {
  if (bearer.startsWith('gnt_'))
    return 'This node token is not valid. Create a new one in the console (Admin, Nodes) and set NODE_TOKEN.';
  const create = 'Create an access token (gqt_…) in the console: Profile, Access tokens.';
  if (bearer.startsWith('gqt_')) return `This access token is unknown, expired or revoked. ${create}`;
  if (bearer.startsWith('sk-'))
    return `This is an API key for models; the API needs an access token. ${create}`;
  return `This bearer token is not valid. ${create}`;
}

function isHttps(settings: Pick<Settings, 'consoleUrl'>): boolean {
  return settings.consoleUrl.startsWith('https:');
}
