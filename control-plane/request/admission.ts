/**
 * Admits HTTP requests before their bodies are read: it identifies the caller, and bounds the size of the
 * body and what the caller holds of this process.
 */
import type { IncomingMessage } from 'node:http';
import { CHUNKED_REFUSAL_MS, droppingMs } from '@gateway/shared/refused-work';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  ANSWER_MEGABYTE_MS,
  BODY_BYTES,
  BODY_MEMORY,
  LARGE_BODY_BYTES,
  PENALTY_BODY_BYTES,
  REQUEST_MS,
  REQUESTS,
} from '../limits.ts';
import type { TimeLimits } from '../limits.ts';
import { BodyReader, BodyRefusal, TOO_MANY, tooLarge, tooMuchRefused } from './body.ts';
import type { BodyTerms } from './body.ts';
import type { Callers } from './callers.ts';
import type { Penalties } from './connections.ts';
import { spendCpu, TOO_MUCH_READING } from './rates.ts';
import type { Rates } from './rates.ts';
import { Shares } from './shares.ts';
import type { Claimant } from './shares.ts';

interface AdmissionParts {
  times: TimeLimits;
  callers: Callers;
  /** CPU time of reading bodies and documents. */
  reading: Rates;
  penalties: Penalties;
}

/**
 * The paths that take bodies. Those of webhooks are not parsed, because their signature is over the bytes.
 */
const GRAPHQL = '/graphql';
const WEBHOOKS = '/webhooks/';
const TYPES = ['application/json', 'text/plain'];
const SECOND_MS = 1_000;
const MEGABYTE = 1_024 * 1_024;

/** How the body of a request may be read, and whose time its parsing takes. */
interface Admitted extends BodyTerms {
  claimant: Claimant;
}

/** A request without a body. */
const UNREAD: Admitted = { limit: 0, grow: () => false, claimant: { rank: 'anonymous', name: '' } };

/** Registers the admission of requests and the parsers of bodies. */
export function admitRequests(server: FastifyInstance, parts: AdmissionParts): void {
  const bodies = new BodyReader(parts.times);
  const admitted = new WeakMap<IncomingMessage, Admitted>();
  const gate = new Gate(parts);
  server.addHook('onRequest', async (request, reply) => {
    try {
      admitted.set(request.raw, await gate.admit(request, reply));
      return undefined;
    } catch (error) {
      if (!(error instanceof BodyRefusal)) throw error;
      parts.penalties.onRefused(request.raw, costOf(request.raw));
      return refuse(request, reply, error);
    }
  });
  server.addHook('onResponse', (request, reply, done) => {
    const known = admitted.get(request.raw) ?? UNREAD;
    if (known !== UNREAD && !isWebhook(request)) parts.reading.spend(known.claimant, answeringMs(reply));
    done();
  });
  server.removeAllContentTypeParsers();
  const parser = server.getDefaultJsonParser('error', 'error');
  const parseJson = (request: FastifyRequest, text: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const plain = mayPoison(text) ? undefined : parsedJson(text);
      if (plain) return resolve(plain.value);
      void parser(request, text, (error, value) => (error ? reject(error) : resolve(value)));
    });
  server.addContentTypeParser(TYPES, async (request: FastifyRequest, stream: IncomingMessage) => {
    const { claimant, ...terms } = admitted.get(stream) ?? UNREAD;
    const body = await bodies.read(stream, terms).catch((error: unknown) => {
      if (error instanceof BodyRefusal) parts.penalties.onRefused(stream, costOf(stream));
      throw error;
    });
    if (isWebhook(request)) return body;
    const text = body.toString('utf8');
    if (request.headers['content-type']?.startsWith('text/plain')) return text;
    // The parser calls back at once, so its time is known when it returns.
    return spendCpu(parts.reading, claimant, () => parseJson(request, text));
  });
}

/**
 * Whether the text may have a member that changes the prototype of its object. Fastify's parser searches for
 * such members with expressions that also match escaped letters, which takes longer than the parsing.
 */
function mayPoison(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes(String.raw`\u`);
}

/** The value of a JSON text; undefined if it is malformed, for which Fastify's parser has the error. */
function parsedJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Answers with a refusal in the form of a GraphQL error. A connection with an unread body is closed. */
export function refuse(request: FastifyRequest, reply: FastifyReply, refusal: BodyRefusal): FastifyReply {
  const { statusCode, message, retryAfterMs } = refusal;
  const isBusy = statusCode === 429;
  const code = isBusy ? 'RATE_LIMITED' : 'BAD_USER_INPUT';
  if (isBusy) reply.header('retry-after', Math.ceil(retryAfterMs / SECOND_MS));
  if (!isShort(request.raw)) reply.header('connection', 'close');
  const extensions = {
    code,
    requestId: request.id,
    ...(isBusy && { retryAfterMs: Math.ceil(retryAfterMs) }),
  };
  return reply
    .code(statusCode)
    .type('application/json')
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

/** Estimated CPU time of an answer, in ms. */
function answeringMs(reply: FastifyReply): number {
  return REQUEST_MS + (Number(reply.getHeader('content-length') ?? 0) / MEGABYTE) * ANSWER_MEGABYTE_MS;
}

/** Estimated CPU time of a refused body, in ms. Longer ones than LARGE_BODY_BYTES are not read to the end. */
function costOf({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return CHUNKED_REFUSAL_MS;
  return droppingMs(Math.min(lengthOf(headers['content-length']), LARGE_BODY_BYTES));
}

/** Whether Node may read the rest of a refused body and drop it, so that the client reads its answer. */
function isShort({ headers, complete }: IncomingMessage): boolean {
  if (complete) return true;
  return (
    headers['transfer-encoding'] === undefined && lengthOf(headers['content-length']) <= LARGE_BODY_BYTES
  );
}

/** Decides about requests. */
class Gate {
  readonly #callers: Callers;
  readonly #reading: Rates;
  readonly #penalties: Penalties;
  readonly #memory = new Shares(BODY_MEMORY);
  readonly #requests = new Shares(REQUESTS);

  constructor({ callers, reading, penalties }: AdmissionParts) {
    this.#callers = callers;
    this.#reading = reading;
    this.#penalties = penalties;
  }

  /** Counts the request until its answer has ended, and returns how its body may be read. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<Admitted> {
    const { raw } = request;
    const length = announcedLength(request);
    if (length === 0 && !takesBody(request)) return UNREAD;
    const held: ((() => void) | null)[] = [];
    let isClosed = false;
    reply.raw.once('close', () => {
      isClosed = true;
      for (const giveBack of held.splice(0)) giveBack?.();
    });
    const presumed = isWebhook(request) ? undefined : this.#callers.presumed(raw);
    if (presumed) this.#checkTime(presumed);
    const claimant = await this.#callers.of(raw);
    const limit = claimant.rank === 'anonymous' ? BODY_BYTES : LARGE_BODY_BYTES;
    if (length === null && claimant.rank !== 'node') throw missingLength();
    if (length !== null && length > limit) throw tooLarge(limit);
    // Events of the payment processor do not wait for strangers of the same network.
    if (!isWebhook(request)) this.#checkCost(claimant, length ?? limit);
    const take = (resource: Shares, amount: number): boolean => {
      const giveBack = isClosed ? null : resource.take(claimant, amount);
      held.push(giveBack);
      return giveBack !== null;
    };
    const grow = (bytes: number): boolean => take(this.#memory, bytes);
    // The whole length is counted at once, so that a body is refused before it is read.
    if (!take(this.#requests, 1) || !grow(length ?? 0)) throw new BodyRefusal(429, TOO_MANY);
    return { limit: length ?? limit, grow: length === null ? grow : () => true, claimant };
  }

  /** Throws BodyRefusal if the caller's earlier bodies took too much CPU time for one of this length. */
  #checkCost(claimant: Claimant, length: number): void {
    const waitMs = length > PENALTY_BODY_BYTES ? this.#penalties.waitMs(claimant) : 0;
    if (waitMs > 0) throw tooMuchRefused(waitMs);
    this.#checkTime(claimant);
  }

  /** Throws BodyRefusal if the caller's requests took too much CPU time. */
  #checkTime(claimant: Claimant): void {
    if (!this.#reading.has(claimant)) throw new BodyRefusal(429, TOO_MUCH_READING);
  }
}

/**
 * The length of the body in bytes; null for a chunked body of a sender that may be a node. Throws BodyRefusal
 * without waiting for anything: chunks that arrive meanwhile would fill the memory.
 */
function announcedLength(request: FastifyRequest): number | null {
  const { headers, method } = request;
  const isChunked = headers['transfer-encoding'] !== undefined;
  if (isChunked && isGraphql(request) && headers.authorization?.startsWith('Bearer gnt_')) return null;
  if (isChunked) throw missingLength();
  if (takesBody(request) && method === 'POST' && headers['content-length'] === undefined)
    throw missingLength();
  const length = lengthOf(headers['content-length']);
  if (length > (takesBody(request) && method === 'POST' ? LARGE_BODY_BYTES : 0))
    throw tooLarge(takesBody(request) ? LARGE_BODY_BYTES : 0);
  return length;
}

function missingLength(): BodyRefusal {
  return new BodyRefusal(411, 'The body length is missing. Send a content-length header.');
}

/** The length in bytes; 0 without a header. Node refuses requests whose header is not a number. */
function lengthOf(header: string | undefined): number {
  return Number(header ?? 0);
}

function takesBody(request: FastifyRequest): boolean {
  return isGraphql(request) || isWebhook(request);
}

function isWebhook(request: FastifyRequest): boolean {
  return request.url.startsWith(WEBHOOKS);
}

function isGraphql(request: FastifyRequest): boolean {
  return request.url.split('?', 1)[0] === GRAPHQL;
}
