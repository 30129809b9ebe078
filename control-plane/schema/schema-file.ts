/** The API's schema as text: the file schema.graphql, and the same text served by a running gateway. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { lexicographicSortSchema, printSchema } from 'graphql';
import type { GraphQLSchema } from 'graphql';

const HEADER =
  '# The API of the control plane. Written by `npm run schema`: change the resolvers, not this file.\n\n';

/** The text of schema.graphql, sorted. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${HEADER}${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Serves the text, with 304 for a matching ETag. Like introspection it needs no authentication. */
export function serveSchemaFile(server: FastifyInstance, schema: GraphQLSchema): void {
  // Printed at the first request, so that starting takes less time.
  let file: { text: string; etag: string } | undefined;
  server.get('/graphql/schema.graphql', async (request, reply) => {
    file ??= fileOf(schema);
    const { text, etag } = file;
    reply.headers({ etag, 'cache-control': 'no-cache' });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('text/plain; charset=utf-8').send(text);
  });
}

function fileOf(schema: GraphQLSchema): { text: string; etag: string } {
  const text = printedSchema(schema);
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}
