/** Answers of refused downloads, in the shape of GraphQL errors. */
import type { FastifyReply } from 'fastify';
import type { GraphQLError } from 'graphql';

const STATUS: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
};

/** Answers with the error and the HTTP status of its code. */
export function refuseDownload(reply: FastifyReply, error: GraphQLError): FastifyReply {
  const { code, http: _, ...extensions } = error.extensions;
  const retryAfterMs = extensions['retryAfterMs'];
  if (typeof retryAfterMs === 'number') reply.header('retry-after', Math.ceil(retryAfterMs / 1000));
  return reply
    .code(STATUS[String(code)] ?? 500)
    .send({ errors: [{ message: error.message, extensions: { ...extensions, code } }] });
}
