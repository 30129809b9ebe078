/**
 * Downloads over HTTP: `GET /export/usage.csv` and its like, for the browser's session or an access token.
 * Streamed with backpressure, and ended when the client leaves.
 */
import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { admitToType } from '../access.ts';
import { isAdminFor, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { requestError } from '../errors.ts';
import type { Contexts } from '../request-context.ts';
import { walletOfUser } from '../wallet/wallet.service.ts';
import { readDownload } from './address.ts';
import type { Download } from './address.ts';
import { downloadText } from './download.service.ts';
import { Places } from './places.ts';

export interface DownloadParts {
  contexts: Contexts;
  em: () => EntityManager;
  /** Takes the cost of a download from the caller's budget. Rejects with RATE_LIMITED beyond it. */
  charge: (context: Context) => Promise<void>;
}

const STATUS: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
};
const TYPES = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl; charset=utf-8' };
/** What a client has not read yet, in bytes; then no further page is made. */
const BUFFER_BYTES = 64 * 1024;

/** Serves the downloads. */
export function serveDownloads(server: FastifyInstance, parts: DownloadParts): void {
  const places = new Places();
  server.get('/export/:name', { exposeHeadRoute: false }, async (request, reply) => {
    try {
      return await answer({ request, reply }, parts, places);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return refuse(reply, error);
    }
  });
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

async function answer(
  { request, reply }: Exchange,
  parts: DownloadParts,
  places: Places,
): Promise<FastifyReply> {
  const { name } = request.params as { name: string };
  const context = await parts.contexts.ofRequest(request.raw, request.id, (cookie) => {
    reply.header('set-cookie', cookie);
  });
  const viewer = viewerOf(context);
  const query = new URL(request.url, 'http://localhost').searchParams;
  const download = readDownload(name, query);
  if (!download) return reply.code(404).send({ error: 'There is nothing at this address.' });
  const userId = ownerOf(context, download);
  const walletId = userId === null ? null : ((await walletOfUser(context.em, userId))?.id ?? 'none');
  const leave = places.take(viewer.id);
  try {
    await parts.charge(context);
  } catch (error) {
    leave();
    throw error;
  }
  const text = downloadText({ em: parts.em, download, userId, walletId });
  const stream = Readable.from(text, { objectMode: false, highWaterMark: BUFFER_BYTES });
  stream.once('close', leave);
  return reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(TYPES[download.format])
    .send(stream);
}

/** Whose lines the caller may have: the own ones, or with an administrator's power those asked for. */
function ownerOf(context: Context, { table, userId }: Download): string | null {
  const viewer = viewerOf(context);
  if (userId === undefined || userId === viewer.id) {
    admitToType(context, table === 'usage' ? 'UsageEntry' : 'LedgerEntry');
    return viewer.id;
  }
  if (!isAdminFor(context, table === 'usage' ? 'ADMIN_USERS' : 'ADMIN_WALLET'))
    throw requestError('FORBIDDEN', 'Leave out `user`: only administrators may ask for others.');
  return userId;
}

function refuse(reply: FastifyReply, error: GraphQLError): FastifyReply {
  const { code, http: _, ...extensions } = error.extensions;
  const retryAfterMs = extensions['retryAfterMs'];
  if (typeof retryAfterMs === 'number') reply.header('retry-after', Math.ceil(retryAfterMs / 1000));
  return reply
    .code(STATUS[String(code)] ?? 500)
    .send({ errors: [{ message: error.message, extensions: { ...extensions, code } }] });
}
