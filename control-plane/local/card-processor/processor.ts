/**
 * The card processor of the demo and of tests: a server with the API and the events of Stripe, and a page on
 * which nothing is charged. The control plane does not import it, and knows it only by its address.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCall } from './api.ts';
import type { Answer, Replay } from './api.ts';
import { answerControl } from './control.ts';
import { Deliveries } from './deliveries.ts';
import { answerPage, expireLate } from './page.routes.ts';
import type { OffSession } from './payments.ts';
import { loadState, saveState } from './state.ts';
import { allOf } from './things.ts';
import type { Books, Thing } from './things.ts';

/** Where the processor listens, whom it trusts and whom it informs. */
export interface ProcessorOptions {
  /** The API key of the one account. */
  key: string;
  /** Secret with which events are signed. */
  secret: string;
  host?: string;
  /** 0 picks a free port. */
  port?: number;
  /** Origin of the pages in the customer's browser; the address of the server by default. */
  pageOrigin?: string | undefined;
  /** Address to which events are sent; without it they are only stored. */
  webhookUrl?: string | undefined;
  /** File that keeps the state; without it the state ends with the process. */
  stateFile?: string | undefined;
}

/** A running processor. */
export interface CardProcessor {
  url: string;
  books: Books;
  deliveries: Deliveries;
  /** DOWN: calls are answered with 500. LOST: calls are executed, and their answers are lost. */
  network: 'ok' | 'down' | 'lost';
  /** Forced answer to off-session payments. */
  offSession: OffSession;
  /** First answers by idempotency key. The real processor forgets them after a day. */
  replays: Map<string, Replay>;
  /** Method and path of the calls so far, such as `POST checkout/sessions`, oldest first. */
  calls: string[];
  close(): Promise<void>;
}

/** How long a browser waits for the webhook to accept the events of its payment, in ms. */
const DELIVERY_MS = 3_000;
const EXPIRY_CHECK_MS = 30_000;
const CALLS_MAX = 10_000;
const BODY_MAX_BYTES = 64 * 1024;

/** Starts the processor. Resolves when it listens. */
export async function startCardProcessor(options: ProcessorOptions): Promise<CardProcessor> {
  const { host = '127.0.0.1', port = 0, secret, stateFile, webhookUrl } = options;
  const { things, replays, pending } = loadState(stateFile);
  const save = (): void => {
    if (stateFile) saveState(stateFile, { things, replays, pending: deliveries.pending });
  };
  const deliveries = new Deliveries({ url: webhookUrl, secret, things, onChange: save });
  const books: Books = { things, origin: '', emit: (type, thing) => deliveries.emit(type, thing) };
  const server = createServer((request, response) => {
    serve({ processor, key: options.key, save }, request, response).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? String(error.stack) : String(error)}\n`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  books.origin = options.pageOrigin ?? url;
  const expiry = setInterval(() => expireAll(books, save), EXPIRY_CHECK_MS);
  expiry.unref();
  deliveries.resume(pending);
  const close = async (): Promise<void> => {
    clearInterval(expiry);
    await deliveries.stop();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const processor: CardProcessor = {
    ...{ url, books, deliveries, network: 'ok' as const, offSession: null, replays, calls: [], close },
  };
  return processor;
}

interface ServeParts {
  processor: CardProcessor;
  key: string;
  save: () => void;
}

async function serve(parts: ServeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { processor, save } = parts;
  const body = await read(request);
  if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', processor.url);
  const method = request.method ?? 'GET';
  const page = answerPage(processor.books, { method, path, body });
  if (page) {
    save();
    if (method === 'POST') await processor.deliveries.settled(DELIVERY_MS);
    response.writeHead(page.status, page.headers).end(page.html);
    return;
  }
  const key = request.headers['idempotency-key'];
  const idempotencyKey = typeof key === 'string' ? key : undefined;
  const call = { method, path, query, body, idempotencyKey };
  const answer = isAuthorized(request, parts.key) ? answerAny(parts, call) : unauthorized();
  if (method !== 'GET') save();
  if (processor.network === 'lost') return void response.destroy();
  const replayed = answer.replayed && { 'idempotent-replayed': 'true' };
  response
    .writeHead(answer.status, { 'content-type': 'application/json', ...replayed })
    .end(JSON.stringify(answer.body));
}

/** The body; undefined if it is too long. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface AnyCall {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
  idempotencyKey: string | undefined;
}

function answerAny({ processor }: ServeParts, call: AnyCall): Answer {
  const { books, deliveries, offSession, replays, calls } = processor;
  if (call.path.startsWith('/control/')) return answerControl({ books, deliveries }, call);
  const path = call.path.replace(/^\/v1\//, '');
  calls.push(`${call.method} ${path.replace(/\/[a-z]+_[^/]+/, '/:id')}`);
  if (calls.length > CALLS_MAX) calls.shift();
  if (processor.network === 'down')
    return { status: 500, body: { error: { type: 'api_error', message: 'The processor is down.' } } };
  expireAll(books, () => undefined);
  return answerCall({ books, replays, offSession }, { ...call, path });
}

function expireAll(books: Books, save: () => void): void {
  const open = (session: Thing): boolean => session['status'] === 'open';
  const before = allOf(books, 'checkout.session').filter(open);
  for (const session of before) expireLate(books, session);
  if (!before.every(open)) save();
}

function isAuthorized({ headers }: IncomingMessage, key: string): boolean {
  const basic = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  return headers.authorization === `Bearer ${key}` || headers.authorization === basic;
}

function unauthorized(): Answer {
  return { status: 401, body: { error: { type: 'invalid_request_error', message: 'Invalid API Key.' } } };
}
