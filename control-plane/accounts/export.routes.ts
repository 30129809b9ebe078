/** Where a browser downloads the personal data of the user who is signed in to it. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Contexts } from '../request-context.ts';
import { beginExport, writeExport } from './export.service.ts';

const PATH = '/exports/personal';

/** The path of a download. It holds no secret: only its owner's session opens it, and once. */
export function exportPath(id: string): string {
  return `${PATH}/${id}`;
}

/** Registers the download. To everybody else, and a second time, it is not there. */
export function serveExports(server: FastifyInstance, contexts: Contexts): void {
  server.get(
    `${PATH}/:id`,
    // A HEAD would use up the download and bring nothing.
    { exposeHeadRoute: false },
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { em, viewer } = await contexts.ofRequest(request.raw, request.id, () => {});
      const isOwners = viewer?.session && (await beginExport(em, viewer.id, request.params.id));
      if (!isOwners)
        return reply.code(404).send({ error: 'This download is not there, or was used already.' });
      const day = new Date().toISOString().slice(0, 10);
      return reply
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="personal-data-${day}.json"`)
        .type('application/json')
        .send(Readable.from(writeExport(() => em.fork(), viewer.id)));
    },
  );
}
