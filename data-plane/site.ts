/** What a node answers besides its table: health, metrics, preflights, and the way to the console. */
import type { FastifyInstance } from 'fastify';
import type { ConfigStore } from './config/config.ts';
import type { Metrics } from './metrics.ts';

/** Any page may call the API with a key, none with a session: there are no credentials here. */
export const CORS_HEADERS: readonly (readonly [string, string])[] = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', [
    'x-request-id', 'request-id', 'x-gateway-price-usd', 'x-gateway-dropped', 'x-gateway-estimated', 'x-should-retry',
    'retry-after', 'retry-after-ms', 'ratelimit', 'ratelimit-policy',
  ].join(', ')],
];

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-max-age': '86400',
};

/** Pages of the console that people look for on the base address. */
const CONSOLE_PATHS = [
  '/', '/sign-in', '/register', '/pricing', '/privacy-policy', '/keys', '/wallet', '/usage', '/pools', '/playground',
  '/profile', '/settings', '/admin',
];

export interface SiteParts {
  store: ConfigStore;
  metrics: Metrics;
  /** Throws when the node should get no requests. */
  ready(): unknown;
}

/** Registers everything that needs no key. */
export function registerSite(app: FastifyInstance, { store, metrics, ready }: SiteParts): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    const asked = request.headers['access-control-request-headers'];
    reply.code(204).headers(Object.fromEntries(CORS_HEADERS)).headers(PREFLIGHT_HEADERS)
      .header('access-control-allow-headers', asked ?? '*').send();
  });
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    try {
      ready();
      return { status: 'ok' };
    } catch {
      return reply.code(503).send({ status: 'unavailable' });
    }
  });
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.registry.contentType);
    return metrics.registry.metrics();
  });
  // Claude Code asks this without a key before it starts.
  app.head('/', async (_request, reply) => reply.code(200).send());
  for (const path of CONSOLE_PATHS) {
    app.get(path, async (_request, reply) => {
      const { consoleUrl } = store.current?.settings ?? {};
      return consoleUrl ? reply.redirect(consoleUrl + path) : reply.code(503).send({ status: 'unavailable' });
    });
  }
}
