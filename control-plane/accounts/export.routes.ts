/** HTTP route with which a signed-in browser downloads its user's personal data. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endIfUnread } from '../process/unread.ts';
import type { Contexts } from '../request/request-context.ts';
import { beginExport, writeExport } from './export.service.ts';

const PATH = '/exports/personal';

/** Path of a download. The id is no secret: the download works once, and only in its owner's session. */
export function exportPath(id: string): string {
  return `${PATH}/${id}`;
}

/** Registers the route. It answers 404 to other users, and when the download was used or has expired. */
export function serveExports(server: FastifyInstance, contexts: Contexts): void {
  server.get(
    `${PATH}/:id`,
    // A HEAD request would use up the download without delivering it.
    { exposeHeadRoute: false },
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { em, playground, viewer } = await contexts.ofRequest(request.raw, request.id, () => {});
      const isOwners = viewer?.session && (await beginExport(em, viewer.id, request.params.id));
      if (!isOwners)
        return reply
          .code(404)
          .send({ error: 'This download is unknown, used or expired. Request a new one in your profile.' });
      endIfUnread(reply.raw);
      const day = new Date().toISOString().slice(0, 10);
      return reply
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="personal-data-${day}.json"`)
        .type('application/json')
        .send(Readable.from(writeExport({ em: () => em.fork(), keys: playground.keys }, viewer.id)));
    },
  );
}
