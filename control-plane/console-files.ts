/**
 * Serves the built console: hashed files for ever, the page for every path of a browser, and a strict policy.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Registers the console's files where they were built; without them only the API is served. */
export async function serveConsole(server: FastifyInstance, folder: string): Promise<void> {
  const page = path.join(folder, 'index.html');
  if (!existsSync(page)) return;
  await server.register(staticFiles, {
    root: folder,
    wildcard: false,
    index: false,
    cacheControl: false,
    setHeaders: (reply, file) => {
      const hashed = file.includes(`${path.sep}assets${path.sep}`);
      reply.header('cache-control', hashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
    },
  });
  server.setNotFoundHandler((request, reply) => answerPage(request, reply));
}

/** Any path that a browser asks for is the console's own business; everything else is not there. */
async function answerPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const wantsPage = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
  if (!wantsPage) return reply.code(404).send({ error: 'There is nothing at this address.' });
  return reply.header('cache-control', 'no-cache').sendFile('index.html');
}

/** Headers of every answer that a browser may show. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};
