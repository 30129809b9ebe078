/** The API's schema as text: committed as schema.graphql, and fetched by tools from a running gateway. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { lexicographicSortSchema, printSchema } from 'graphql';
import type { GraphQLSchema } from 'graphql';

const HEADER =
  '# The API of the control plane. Written by `npm run schema`: change the resolvers, not this file.\n\n';

/** The schema, sorted, as it stands in schema.graphql. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${HEADER}${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Answers with it, or with 304 to who has it already. Like introspection it is open to everybody. */
export function serveSchemaFile(server: FastifyInstance, schema: GraphQLSchema): void {
  // Printed when it is first asked for: a start need not wait for it.
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
