/**
 * What a node answers besides its table: health, metrics, and the way to the console. No key is asked for.
 */
import type { OpenCall } from './call.ts';
import type { ConfigStore } from './config/config.ts';
import type { Metrics } from './metrics.ts';
import type { Reply } from './reply.ts';

/** One page of the site. */
export interface SiteRoute {
  method: 'GET' | 'HEAD';
  path: string;
  answer(call: OpenCall): Promise<void> | void;
}

/** Pages of the console that people look for on the base address. */
const CONSOLE_PATHS = [
  '/',
  '/sign-in',
  '/register',
  '/pricing',
  '/privacy-policy',
  '/keys',
  '/wallet',
  '/usage',
  '/pools',
  '/playground',
  '/profile',
  '/settings',
  '/admin',
];

/** What the pages depend on. */
export interface SiteParts {
  store: ConfigStore;
  metrics: Metrics;
  /** Throws when the node should get no requests. */
  ready(): unknown;
}

/** Every page of the site. */
export function siteRoutes({ store, metrics, ready }: SiteParts): SiteRoute[] {
  return [
    { method: 'GET', path: '/livez', answer: ({ reply }) => sendStatus(reply, 200) },
    { method: 'GET', path: '/readyz', answer: ({ reply }) => sendStatus(reply, succeeds(ready) ? 200 : 503) },
    {
      method: 'GET',
      path: '/metrics',
      answer: async ({ reply }) => {
        reply.whole(200, metrics.registry.contentType, await metrics.registry.metrics());
      },
    },
    // Claude Code asks this without a key before it starts.
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
