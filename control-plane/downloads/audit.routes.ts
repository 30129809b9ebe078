/**
 * Serves the audit log to administrators and their scripts: `GET /export/audit.jsonl`. With `follow=true` the
 * answer goes on with new events until the client disconnects or may no longer read the log.
 */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { auditLines } from '../audit/audit.export.ts';
import type { Pause } from '../audit/audit.export.ts';
import { isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import { endIfUnread } from '../process/unread.ts';
import type { DownloadParts } from './download.routes.ts';
import { DownloadSlots } from './download-slots.ts';
import { refuseDownload } from './refusal.ts';

const NAME = 'audit.jsonl';
/** While more bytes than this are unread, no further page is queried. */
const BUFFER_BYTES = 64 * 1024;
/** Time between two looks for new events, in ms. */
const LOOK_EVERY_MS = 1000;
/** Looks between two empty lines. Proxies close connections that are silent for a minute. */
const LOOKS_PER_LINE = 15;
/** Positions fit into PostgreSQL's bigint. */
const POSITION = /^\d{1,18}$/;

/** Registers the route of the audit log. */
export function serveAuditLog(server: FastifyInstance, parts: DownloadParts): void {
  const slots = new DownloadSlots();
  const stopping = new AbortController();
  server.addHook('preClose', async () => stopping.abort());
  server.get(`/export/${NAME}`, { exposeHeadRoute: false }, async (request, reply) => {
    try {
      return await answer({ request, reply, stopping: stopping.signal }, parts, slots);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return refuseDownload(reply, error);
    }
  });
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Aborted when this process stops. */
  stopping: AbortSignal;
}

async function answer(exchange: Exchange, parts: DownloadParts, slots: DownloadSlots): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const context = await readerOf(exchange, parts);
  const { after, follow } = readQuery(new URL(request.url, 'http://localhost').searchParams);
  const freeSlot = slots.take(viewerOf(context));
  try {
    await parts.charge(context);
  } catch (error) {
    freeSlot();
    throw error;
  }
  const pause = follow ? pausesOf(exchange, parts) : null;
  const text = auditLines({ em: parts.em, after, pause });
  const stream = Readable.from(text, { objectMode: false, highWaterMark: BUFFER_BYTES });
  stream.once('close', freeSlot);
  endIfUnread(reply.raw);
  return (
    reply
      .header('cache-control', 'no-store')
      // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
      .header('x-accel-buffering', 'no')
      .header('content-disposition', `attachment; filename="${NAME}"`)
      .type('application/jsonl; charset=utf-8')
      .send(stream)
  );
}

/** The caller. Throws UNAUTHENTICATED, and FORBIDDEN if the caller may not read the audit log. */
async function readerOf({ request }: Exchange, { contexts }: DownloadParts): Promise<Context> {
  const context = await contexts.ofRequest(request.raw, request.id, () => {});
  viewerOf(context);
  if (isAdminFor(context, 'ADMIN_AUDIT_READ')) return context;
  const advice = 'Use an administrator, or an access token with the scope ADMIN_AUDIT_READ.';
  throw requestError('FORBIDDEN', `Only administrators may read the audit log. ${advice}`);
}

/** Pauses of a follower. After each pause the caller is identified again. */
function pausesOf(exchange: Exchange, parts: DownloadParts): () => Promise<Pause> {
  const { stopping } = exchange;
  let looks = 0;
  return async () => {
    await delay(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return 'END';
    if (!(await mayStillRead(exchange, parts))) return 'END';
    looks += 1;
    return looks % LOOKS_PER_LINE === 0 ? 'SPEAK' : 'LOOK';
  };
}

async function mayStillRead(exchange: Exchange, parts: DownloadParts): Promise<boolean> {
  try {
    await readerOf(exchange, parts);
    return true;
  } catch (error) {
    if (error instanceof GraphQLError) return false;
    throw error;
  }
}

/** Throws BAD_USER_INPUT for an unknown or invalid parameter. */
function readQuery(query: URLSearchParams): { after: string; follow: boolean } {
  const unknown = [...query.keys()].find((name) => name !== 'after' && name !== 'follow');
  if (unknown !== undefined)
    throw requestError('BAD_USER_INPUT', 'This download has the parameters after and follow. Remove others.');
  const [after, follow] = [query.get('after') ?? '0', query.get('follow') ?? 'false'];
  if (!POSITION.test(after))
    throw requestError('BAD_USER_INPUT', 'The parameter after must be the position of an event.');
  if (follow !== 'true' && follow !== 'false')
    throw requestError('BAD_USER_INPUT', 'The parameter follow must be true or false.');
  return { after, follow: follow === 'true' };
}
