/**
 * Serves the built console and the API explorer: cacheable assets, the console's page for every path that a
 * browser opens, and a strict content security policy.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ConsolePage, htmlOf } from '@gateway/shared/console-pages';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CompressedHtml } from './compressed-html.ts';

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

/** The policy of the explorer, whose editor creates `<style>` elements; otherwise that of the console. */
const EXPLORER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** Serves the console's files from the folder; does nothing if the console was not built. */
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
  const built = { html, pages, compressed: new CompressedHtml() };
  server.setNotFoundHandler((request, reply) => answerPage(request, reply, built));
}

/**
 * Options of static files. Compressed copies beside a file (.br, .gz) are served to browsers that accept
 * them.
 */
const FILES = {
  wildcard: false,
  index: false,
  cacheControl: false,
  preCompressed: true,
  globIgnore: ['**/*.br', '**/*.gz'],
  setHeaders: keepHashed,
} as const;

/** The files that each page needs at once, as listed by the build; empty without that list. */
function readPages(folder: string): ConsolePage[] {
  const file = path.join(folder, 'pages.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Answers a request with the page of the API explorer. */
export type ExplorerPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Serves the explorer's files below /graphql, and returns the answer with its page; null if it was not built.
 */
export async function serveExplorer(server: FastifyInstance, folder: string): Promise<ExplorerPage | null> {
  const file = path.join(folder, 'index.html');
  if (!existsSync(file)) return null;
  const page = { text: readFileSync(file, 'utf8'), vary: 'accept', compressed: new CompressedHtml() };
  await server.register(staticFiles, {
    ...FILES,
    root: folder,
    prefix: '/graphql/',
    // Served under its file name, the page would get the console's policy.
    globIgnore: [...FILES.globIgnore, 'index.html'],
    decorateReply: false,
  });
  return (request, reply) =>
    sendPage(request, reply.header('content-security-policy', EXPLORER_POLICY), page);
}

/** Whether a browser requests a page, by its `accept` header. */
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
  compressed: CompressedHtml;
}

/** Answers a browser with the console's page for every path, and other clients with 404. */
async function answerPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { html, pages, compressed }: Console,
): Promise<FastifyReply> {
  if (!wantsPage(request))
    return reply.code(404).send({ error: 'There is nothing at this address. The API is at /graphql.' });
  const { headers, url } = request;
  const { cookie = '', 'accept-language': acceptLanguage = '' } = headers;
  const text = htmlOf(html, pages, { url, acceptLanguage, cookie });
  return sendPage(request, reply, { text, vary: 'accept-language, cookie', compressed });
}

interface Page {
  text: string;
  /** Names of the other request headers on which the page depends. */
  vary: string;
  compressed: CompressedHtml;
}

/** Sends a page, compressed if the browser accepts it. Browsers revalidate the page each time. */
async function sendPage(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { text, vary, compressed }: Page,
): Promise<FastifyReply> {
  const encoded = await compressed.encoded(text, String(headers['accept-encoding'] ?? ''));
  if (encoded) reply.header('content-encoding', encoded.encoding);
  return reply
    .headers({ 'cache-control': 'no-cache', vary: `accept-encoding, ${vary}` })
    .type('text/html; charset=utf-8')
    .send(encoded?.bytes ?? text);
}

/** Security headers of every answer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};
