/** Sends one request to an upstream and delivers its answer chunk by chunk, with pause, resume and abort. */
import type { Readable } from 'node:stream';
import { GatewayError } from '@gateway/shared/failures';
import type { TimeoutsRecord } from '@gateway/shared/records';
import type { Dispatcher } from 'undici';
import type { Cut, CutListener } from '../call/cut.ts';
import { Slab, isChunkingFair } from '../call/slab.ts';
import { Pieces } from '../call/pieces.ts';
import { CHUNKS_PER_BODY, INTERIM_RESPONSES } from '../limits.ts';
import { decoded } from './decoded-body.ts';
import type { BodyDecoder, Consumer } from './decoded-body.ts';

/** Limit of the bytes that are buffered before a consumer is attached. Above it, reading pauses. */
const EARLY_BYTES = 64 * 1024;

/** The HTTP request to an upstream. */
export interface OutgoingRequest {
  method: 'POST' | 'GET' | 'PATCH' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  /** A stream can be sent only once. For a stream, the caller sets `content-length`. */
  body: Buffer | Pieces | string | Readable | null;
}

/** The types of undici lack iterable bodies, which its documentation names. */
type SentBody = Exclude<OutgoingRequest['body'], Pieces>;

/**
 * Resolves when status and headers have arrived, whatever the status. Rejects with `upstream_failed`,
 * `upstream_timeout`, or the reason of the cut.
 */
export function send(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  outgoing: OutgoingRequest,
  options: { timeouts: TimeoutsRecord; cut: Cut },
): Promise<UpstreamAnswer> {
  const { body, headers } = outgoing;
  const length = body instanceof Pieces ? { 'content-length': String(body.length) } : undefined;
  return new Promise((resolve, reject) => {
    const answer = new UpstreamAnswer({ resolve, reject }, options);
    dispatcher.dispatch(
      {
        ...outgoing,
        body: body as SentBody,
        headers: length ? { ...headers, ...length } : headers,
        headersTimeout: options.timeouts.headersMs,
        bodyTimeout: options.timeouts.idleMs,
      },
      answer,
    );
  });
}

/** Settles the promise of `send`. */
interface PendingAnswer {
  resolve(answer: UpstreamAnswer): void;
  reject(error: GatewayError): void;
}

/** An upstream's answer. Until `consume` is called, up to EARLY_BYTES are buffered; then reading pauses. */
export class UpstreamAnswer implements Dispatcher.DispatchHandler, CutListener {
  status = 0;
  /** Empty before the headers have arrived, and after `forgetHeaders`. */
  headers: Record<string, string | string[] | undefined> = {};
  /** Undefined once status and headers have arrived, or never will. */
  #pending: PendingAnswer | undefined;
  readonly #cut: Cut;
  readonly #totalMs: number;
  readonly #startedAt = performance.now();
  #totalTimer: NodeJS.Timeout;
  /** Sum of the ended pauses for a slow client, in ms. */
  #pausedMs = 0;
  /** Start of the present pause; undefined if reading is not paused. */
  #pausedSince: number | undefined;
  #onClosed: (() => void)[] | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #consumer: Consumer | undefined;
  #decoder: BodyDecoder | undefined;
  #chunks = 0;
  #bytes = 0;
  /** Number of 1xx responses so far. */
  #interim = 0;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #ended: { error: GatewayError | undefined } | undefined;

  constructor(pending: PendingAnswer, { timeouts, cut }: { timeouts: TimeoutsRecord; cut: Cut }) {
    this.#pending = pending;
    this.#totalMs = timeouts.totalMs;
    this.#totalTimer = setTimeout(() => this.#checkTotalTime(), timeouts.totalMs);
    this.#cut = cut;
    cut.onCut(this);
  }

  /** Forgets the headers, which a stream would keep as long as it is open. Called once nobody needs them. */
  forgetHeaders(): void {
    this.headers = {};
  }

  /** Delivers the body decoded. Called before `consume`. */
  decodeWith(decoder: BodyDecoder): void {
    this.#decoder = decoder;
  }

  /** Delivers the body to this consumer, beginning with the buffered chunks. Called once. */
  consume(receiver: Consumer): void {
    const consumer = this.#decoder ? decoded(receiver, this.#decoder, this) : receiver;
    this.#consumer = consumer;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) consumer.data(chunk);
    if (this.#ended) this.#finish(this.#ended.error);
    else if (this.#earlyBytes > EARLY_BYTES) this.resume();
  }

  /** The whole body. Rejects if it exceeds `limitBytes` or CHUNKS_PER_BODY, or is not complete. */
  whole(limitBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const announced = Number(this.headers['content-length'] ?? limitBytes);
      const slab = new Slab(Math.min(announced, limitBytes));
      this.consume({
        data: (chunk) => {
          slab.append(chunk);
          if (slab.length > limitBytes) this.abort(failed('The answer of the upstream is too long.'));
          if (this.#chunks > CHUNKS_PER_BODY) this.abort(tooManyChunks());
        },
        end: () => resolve(slab.bytes()),
        fail: reject,
      });
    });
  }

  /** Stops reading because the client is slower than the upstream; TCP then slows the upstream down. */
  pause(): void {
    this.#pausedSince ??= performance.now();
    this.#controller?.pause();
  }

  /** Continues reading after `pause`. */
  resume(): void {
    this.#pausedMs = this.#totalPausedMs();
    this.#pausedSince = undefined;
    this.#controller?.resume();
  }

  #totalPausedMs(): number {
    return this.#pausedMs + (this.#pausedSince === undefined ? 0 : performance.now() - this.#pausedSince);
  }

  /**
   * Checks the total timeout, separately for the upstream's time and for the time paused for the client. The
   * client's slowness is not the upstream's failure, which would be free: otherwise a client that reads very
   * slowly would get nearly the whole answer without a charge.
   */
  #checkTotalTime(): void {
    const clientMs = this.#totalPausedMs();
    const upstreamMs = performance.now() - this.#startedAt - clientMs;
    const leftMs = this.#totalMs - Math.max(upstreamMs, clientMs);
    if (leftMs > 0) this.#totalTimer = setTimeout(() => this.#checkTotalTime(), Math.ceil(leftMs));
    else this.abort(clientMs > upstreamMs ? clientTooSlow() : timedOut());
  }

  /**
   * Closes the connection and passes the error to the consumer. Does nothing after the end of the answer. The
   * cut of the request calls it too.
   */
  abort(error: GatewayError): void {
    if (this.#ended) return;
    this.#finish(error);
    this.#controller?.abort(error);
  }

  /** Calls the listener once, when the answer ends for any reason; immediately if it has already ended. */
  onClose(listener: () => void): void {
    if (this.#ended) return listener();
    if (this.#onClosed) this.#onClosed.push(listener);
    else this.#onClosed = [listener];
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(this.#ended.error ?? failed('The request was stopped.'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamAnswer['headers'],
  ): void {
    if (this.#ended) return;
    if (status < 200) return this.#countInterim();
    this.status = status;
    this.headers = headers;
    // The controller would keep a buffer for each name and value until the end of the answer.
    controller.rawHeaders = null;
    this.#pending?.resolve(this);
    this.#pending = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#chunks += 1;
    this.#bytes += chunk.length;
    if (!isChunkingFair(this.#chunks, this.#bytes)) return this.abort(tooManyChunks());
    if (this.#consumer) {
      this.#consumer.data(chunk);
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES) controller.pause();
  }

  /** Counts a 1xx response. Aborts if there are too many. */
  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > INTERIM_RESPONSES)
      this.abort(failed('The upstream sent too many interim responses.'));
  }

  onResponseEnd(): void {
    if (!this.#ended) this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#ended) this.#finish(asConnectionFailure(error));
  }

  /** Ends the answer once, and informs the consumer: now, or when `consume` is called. */
  #finish(error: GatewayError | undefined): void {
    if (!this.#ended) {
      this.#ended = { error };
      clearTimeout(this.#totalTimer);
      this.#cut.offCut(this);
      for (const listener of this.#onClosed ?? []) listener();
      this.#pending?.reject(error ?? failed('The upstream closed the connection.'));
      this.#pending = undefined;
    }
    const consumer = this.#consumer;
    if (!consumer) return;
    this.#consumer = undefined;
    if (error) consumer.fail(error);
    else consumer.end();
  }
}

/** A connection error as a failure that the client may see; the real reason stays in the cause. */
export function asConnectionFailure(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = 'code' in cause ? String(cause.code) : '';
  return code.endsWith('_TIMEOUT') ? timedOut(cause) : failed('The connection to the upstream broke.', cause);
}

function failed(message: string, cause?: Error): GatewayError {
  return new GatewayError('upstream_failed', `${message} Try again.`, { cause });
}

function tooManyChunks(): GatewayError {
  return failed('The answer of the upstream came in too many small chunks.');
}

function clientTooSlow(): GatewayError {
  return new GatewayError(
    'client_closed',
    'The client read the answer too slowly. Read it without long pauses.',
  );
}

function timedOut(cause?: Error): GatewayError {
  return new GatewayError('upstream_timeout', 'The upstream took too long to answer. Try again.', { cause });
}
