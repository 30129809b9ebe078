/**
 * Serves the built console and the API explorer: hashed files for ever, the page for every path of a browser,
 * and a strict policy.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ConsolePage, withNeeded } from '@gateway/shared/console-pages';
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

/** The editor of the explorer makes its own `<style>` elements; nothing else is laxer than in the console. */
const EXPLORER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** Registers the console's files where they were built; without them only the API is served. */
export async function serveConsole(server: FastifyInstance, folder: string): Promise<void> {
  const page = path.join(folder, 'index.html');
  if (!existsSync(page)) return;
  const html = readFileSync(page, 'utf8');
  const pages = readPages(folder);
  await server.register(staticFiles, {
    ...FILES,
    root: folder,
    globIgnore: [...FILES.globIgnore, 'pages.json'],
  });
  server.setNotFoundHandler((request, reply) => answerPage(request, reply, { html, pages }));
}

/** Files lie packed beside themselves where that is worth it; browsers get the best form that they read. */
const FILES = {
  wildcard: false,
  index: false,
  cacheControl: false,
  preCompressed: true,
  globIgnore: ['**/*.br', '**/*.gz'],
  setHeaders: keepHashed,
} as const;

/** What the build says that each page needs at once; nothing where it does not say. */
function readPages(folder: string): ConsolePage[] {
  const file = path.join(folder, 'pages.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Answers with the page of the API explorer. */
export type ExplorerPage = (reply: FastifyReply) => FastifyReply;

/**
 * Registers the explorer's files below /graphql and returns its page for that address itself; null where it
 * was not built, and /graphql then serves the API alone.
 */
export async function serveExplorer(server: FastifyInstance, folder: string): Promise<ExplorerPage | null> {
  const file = path.join(folder, 'index.html');
  if (!existsSync(file)) return null;
  const page = readFileSync(file);
  await server.register(staticFiles, {
    ...FILES,
    root: folder,
    prefix: '/graphql/',
    // Under its own name the page would have the console's policy.
    globIgnore: [...FILES.globIgnore, 'index.html'],
    decorateReply: false,
  });
  return (reply) =>
    reply
      .headers({ 'content-security-policy': EXPLORER_POLICY, 'cache-control': 'no-cache', vary: 'accept' })
      .type('text/html; charset=utf-8')
      .send(page);
}

/** Whether it is a browser that asks, to show the answer to a person. */
export function wantsPage({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

function keepHashed(reply: { header(name: string, value: string): unknown }, file: string): void {
  const hashed = file.includes(`${path.sep}assets${path.sep}`);
  reply.header('cache-control', hashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
}

interface Console {
  html: string;
  pages: readonly ConsolePage[];
}

/** Any path that a browser asks for is the console's own business; everything else is not there. */
async function answerPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { html, pages }: Console,
): Promise<FastifyReply> {
  if (!wantsPage(request)) return reply.code(404).send({ error: 'There is nothing at this address.' });
  const [pathname = '/'] = request.url.split('?', 1);
  const acceptLanguage = request.headers['accept-language'] ?? '';
  return reply
    .headers({ 'cache-control': 'no-cache', vary: 'accept-language' })
    .type('text/html; charset=utf-8')
    .send(withNeeded(html, pages, { pathname, acceptLanguage }));
}

/** Headers of every answer that a browser may show. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};
