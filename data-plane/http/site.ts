/**
 * The paths of a node that need no key: health, metrics, the description of the API, and redirects to the
 * console.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { digestOf } from '@gateway/shared/secrets';
import type { OpenCall } from '../call/call.ts';
import type { ConfigStore } from '../config/config.ts';
import { notFound } from '../endpoints/endpoint.ts';
import type { Reply } from '../call/reply.ts';
import { openApiDocument } from '../openapi/document.ts';

/** Time for which caches keep the description of the API, in seconds. */
const DESCRIPTION_SECONDS = 3_600;

/** Path of the metrics. */
export const METRICS_PATH = '/metrics';

/** One path of the site. */
export interface SiteRoute {
  method: 'GET' | 'HEAD';
  path: string;
  answer(call: OpenCall): Promise<void> | void;
}

/** Pages of the console that people look for at the API's base address; they are redirected. */
const CONSOLE_PATHS = [
  '/',
  '/sign-in',
  '/register',
  '/pricing',
  '/compare',
  '/status',
  '/privacy-policy',
  '/docs/conformance',
  '/keys',
  '/wallet',
  '/usage',
  '/pools',
  '/playground',
  '/profile',
  '/settings',
  '/admin',
];

/** The parts that the site needs. */
interface SiteParts {
  store: ConfigStore;
  /** The metrics of the node: their content type, and how to read them. */
  metrics: { contentType: string; scrape(): Promise<string> };
  /** Bearer token of `/metrics`; undefined serves metrics to local peers alone. */
  metricsToken: string | undefined;
  /** Throws if the node should get no requests. */
  ready(): unknown;
  /** The version of the program. */
  version: string;
}

/** Every path of the site. */
export function siteRoutes({ store, metrics, metricsToken, ready, version }: SiteParts): SiteRoute[] {
  return [
    { method: 'GET', path: '/livez', answer: ({ reply }) => sendStatus(reply, 200) },
    { method: 'GET', path: '/readyz', answer: ({ reply }) => sendStatus(reply, succeeds(ready) ? 200 : 503) },
    {
      method: 'GET',
      path: METRICS_PATH,
      answer: async ({ reply, ...call }) => {
        if (!mayReadMetrics(call, metricsToken)) throw notFound(call.path);
        reply.whole(200, metrics.contentType, await metrics.scrape());
      },
    },
    { method: 'GET', path: '/openapi.json', answer: description(version) },
    // Claude Code sends this request without a key before it starts.
    { method: 'HEAD', path: '/', answer: ({ reply }) => reply.whole(200, 'text/plain', '') },
    ...CONSOLE_PATHS.map((path): SiteRoute => ({
      method: 'GET',
      path,
      answer: ({ reply }) => {
        const { consoleUrl } = store.current?.settings ?? {};
        if (!consoleUrl) return sendStatus(reply, 503);
        reply.header('location', consoleUrl + path);
        reply.whole(302, 'text/plain', '');
      },
    })),
  ];
}

/** Ranges of addresses inside the operator's network, by the names of ipaddr.js. */
const LOCAL_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/**
 * Whether the sender may read metrics: with the token, or without one from a local peer. A forwarded request
 * came through a proxy, so that the peer's address says nothing about the sender.
 */
function mayReadMetrics(
  { headers, address }: Pick<OpenCall, 'headers' | 'address'>,
  token: string | undefined,
): boolean {
  const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given !== undefined && token !== undefined)
    return timingSafeEqual(Buffer.from(digestOf(given)), Buffer.from(digestOf(token)));
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false;
  return ipaddr.isValid(address) && LOCAL_RANGES.has(ipaddr.process(address).range());
}

/** Sends the description of the API, which caches keep and ask for again by its hash. */
function description(version: string): SiteRoute['answer'] {
  let made: { body: string; etag: string } | undefined;
  return ({ headers, reply }) => {
    // Most nodes are never asked for it, and it takes 1.7 MB.
    made ??= madeDescription(version);
    const { body, etag } = made;
    reply.header('etag', etag);
    reply.header('cache-control', `public, max-age=${DESCRIPTION_SECONDS}`);
    const known = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known.includes(etag)) reply.empty(304);
    else reply.whole(200, 'application/json', body);
  };
}

function madeDescription(version: string): { body: string; etag: string } {
  const body = JSON.stringify(openApiDocument(version));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

function sendStatus(reply: Reply, status: 200 | 503): void {
  reply.whole(status, 'application/json', JSON.stringify({ status: status === 200 ? 'ok' : 'unavailable' }));
}

function succeeds(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
