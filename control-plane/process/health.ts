/** Serves the health checks to everybody, and the metrics to the operator. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { digestOf } from '@gateway/shared/secrets';
import { query, sql } from '../database/sql.ts';
import { registry } from './metrics.ts';

interface HealthParts {
  orm: MikroORM;
  /** Bearer token of METRICS_TOKEN; null serves metrics to local peers alone. */
  token: string | null;
}

/** Ranges of addresses inside the operator's network, by the names of ipaddr.js. */
const LOCAL_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/** Registers `/livez`, `/readyz` and `/metrics`. */
export function serveHealth(server: FastifyInstance, { orm, token }: HealthParts): void {
  server.get('/livez', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    try {
      await query(orm.em.fork(), sql`select 1`);
      return { status: 'ok' };
    } catch {
      return reply.code(503).send({ status: 'down', reason: 'The database does not answer.' });
    }
  });
  server.get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(request.raw, token)) return reply.code(403).send({ error: METRICS_REFUSAL });
    reply.type(registry.contentType);
    return registry.metrics();
  });
}

const METRICS_REFUSAL =
  'Metrics are served to local addresses, and to others with METRICS_TOKEN as bearer token.';

/**
 * Whether the sender may read metrics: with the token, or without one from a local peer. A request with
 * x-forwarded-for came through a proxy, so that the peer's address says nothing about the sender.
 */
export function mayReadMetrics({ headers, socket }: IncomingMessage, token: string | null): boolean {
  const given = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token !== null && given !== undefined)
    return timingSafeEqual(Buffer.from(digestOf(given)), Buffer.from(digestOf(token)));
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false;
  const peer = socket.remoteAddress ?? '';
  return ipaddr.isValid(peer) && LOCAL_RANGES.has(ipaddr.process(peer).range());
}
