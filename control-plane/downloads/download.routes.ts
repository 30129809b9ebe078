/**
 * Serves downloads over HTTP, e.g. `GET /export/usage.csv`, for a browser session or an access token. They
 * are streamed with backpressure, and end when the client disconnects.
 */
import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { requireTypeAccess } from '../graphql/access.ts';
import { isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import { endIfUnread } from '../process/unread.ts';
import type { Contexts } from '../request/request-context.ts';
import type { UsageReader } from '../usage/usage.reader.ts';
import { walletOfUser } from '../wallet/wallet.service.ts';
import { readDownload } from './address.ts';
import type { Download } from './address.ts';
import { downloadText } from './download.service.ts';
import { DownloadSlots } from './download-slots.ts';
import { refuseDownload } from './refusal.ts';

/** Services of the routes of downloads. */
export interface DownloadParts {
  contexts: Contexts;
  em: () => EntityManager;
  /** Answers questions to the usage log. */
  usage: UsageReader;
  /** Charges a download to the caller's budget. Rejects with RATE_LIMITED. */
  charge: (context: Context) => Promise<void>;
}

const TYPES = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl; charset=utf-8' };
/** While more bytes than this are unread, no further page is queried. */
const BUFFER_BYTES = 64 * 1024;

/** Registers the route of downloads. */
export function serveDownloads(server: FastifyInstance, parts: DownloadParts): void {
  const slots = new DownloadSlots();
  server.get('/export/:name', { exposeHeadRoute: false }, async (request, reply) => {
    try {
      return await answer({ request, reply }, parts, slots);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return refuseDownload(reply, error);
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
  slots: DownloadSlots,
): Promise<FastifyReply> {
  const { name } = request.params as { name: string };
  const context = await parts.contexts.ofRequest(request.raw, request.id, (cookie) => {
    reply.header('set-cookie', cookie);
  });
  const viewer = viewerOf(context);
  const query = new URL(request.url, 'http://localhost').searchParams;
  const download = readDownload(name, query);
  if (!download)
    return reply
      .code(404)
      .send({ error: 'Unknown download. Use usage or ledger with .csv or .jsonl, or audit.jsonl.' });
  const userId = ownerOf(context, download);
  const walletId = userId === null ? null : ((await walletOfUser(context.em, userId))?.id ?? 'none');
  const freeSlot = slots.take(viewer);
  try {
    await parts.charge(context);
  } catch (error) {
    freeSlot();
    throw error;
  }
  const text = downloadText({ em: parts.em, usage: parts.usage, download, userId, walletId });
  const stream = Readable.from(text, { objectMode: false, highWaterMark: BUFFER_BYTES });
  stream.once('close', freeSlot);
  endIfUnread(reply.raw);
  return reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(TYPES[download.format])
    .send(stream);
}

/** The owner of the rows, null for all users. Throws FORBIDDEN if the caller may not read them. */
function ownerOf(context: Context, { table, userId }: Download): string | null {
  const viewer = viewerOf(context);
  if (userId === undefined || userId === viewer.id) {
    requireTypeAccess(context, table === 'usage' ? 'UsageEntry' : 'LedgerEntry');
    return viewer.id;
  }
  if (!isAdminFor(context, table === 'usage' ? 'ADMIN_USERS' : 'ADMIN_WALLET'))
    throw requestError(
      'FORBIDDEN',
      'Only administrators may download rows of other users. Leave out `user`.',
    );
  return userId;
}
