/** Serves the feeds of incidents to everybody, from memory. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atomFeed, ATOM_PATH, JSON_PATH, jsonFeed, lastChange } from './feed.ts';
import { statusOf } from './status.service.ts';
import type { StatusView } from './status.service.ts';

/** How long readers and proxies keep a feed, in seconds. */
const FEED_MAX_AGE_SECONDS = 60;

interface FeedParts {
  /** A new database session. */
  em(): EntityManager;
  /** The address of the console is known once the server listens. */
  settings: { consoleUrl: string };
}

interface FeedFile {
  text: string;
  etag: string;
  modified: Date;
}

interface FeedKind {
  path: string;
  type: string;
  write(view: StatusView, consoleUrl: string): string;
}

const KINDS: readonly FeedKind[] = [
  { path: ATOM_PATH, type: 'application/atom+xml; charset=utf-8', write: atomFeed },
  { path: JSON_PATH, type: 'application/feed+json; charset=utf-8', write: jsonFeed },
];

/** Adds the routes. Like the status page, they need no authentication. */
export function serveFeeds(server: FastifyInstance, { em, settings }: FeedParts): void {
  for (const { path, type, write } of KINDS) {
    // A feed is written once for each status that was read.
    const files = new WeakMap<StatusView, FeedFile>();
    server.get(path, async (request, reply) => {
      const view = await statusOf(em());
      const file = files.get(view) ?? fileOf(write(view, settings.consoleUrl), lastChange(view));
      files.set(view, file);
      return answer(request, reply.type(type), file);
    });
  }
}

function fileOf(text: string, modified: Date): FeedFile {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"`, modified };
}

/** The feed, or 304 for the present ETag or, without one, a time after its last change (RFC 9110, 13.2.2). */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, etag, modified }: FeedFile,
): FastifyReply {
  reply.headers({
    etag,
    'last-modified': modified.toUTCString(),
    'cache-control': `public, max-age=${FEED_MAX_AGE_SECONDS}, stale-if-error=86400`,
    'access-control-allow-origin': '*',
  });
  const { 'if-none-match': known, 'if-modified-since': since } = request.headers;
  const isKnown =
    known === undefined
      ? since !== undefined && Date.parse(since) >= Math.floor(modified.getTime() / 1000) * 1000
      : known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  return isKnown ? reply.code(304).send() : reply.send(text);
}
