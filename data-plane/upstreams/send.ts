/**
 * Sends one request to an upstream and hands its answer over chunk by chunk, with pause, resume and abort.
 */
import type { Readable } from 'node:stream';
import { GatewayError } from '@gateway/shared/failures';
import type { TimeoutsRecord } from '@gateway/shared/records';
import type { Dispatcher } from 'undici';
import type { Cut } from '../cut.ts';

/** What an upstream may send before somebody listens, in bytes; then it is paused. */
const EARLY_BYTES = 64 * 1024;

/** A request as it leaves. */
export interface Outgoing {
  method: 'POST' | 'GET';
  path: string;
  headers: Record<string, string>;
  /** A stream is read once; its length is in the headers. */
  body: Buffer | string | Readable | null;
}

/** Who takes the body: `data` per network chunk, then exactly one of `end` and `fail`. */
export interface Consumer {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: GatewayError): void;
}

/**
 * Resolves with the answer when its status and headers are there, whatever the status. Rejects with
 * `upstream_failed`,
 * `upstream_timeout`, or the reason of the cut.
 */
export function send(
  dispatcher: Dispatcher,
  outgoing: Outgoing,
  limits: { timeouts: TimeoutsRecord; cut: Cut },
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const answer = new UpstreamAnswer({ resolve, reject }, limits);
    dispatcher.dispatch(
      { ...outgoing, headersTimeout: limits.timeouts.headersMs, bodyTimeout: limits.timeouts.idleMs },
      answer,
    );
  });
}

interface Settle {
  resolve(answer: UpstreamAnswer): void;
  reject(error: GatewayError): void;
}

/** An upstream's answer. Its body waits until somebody consumes it. */
export class UpstreamAnswer implements Dispatcher.DispatchHandler {
  status = 0;
  headers: Record<string, string | string[] | undefined> = {};
  readonly #settle: Settle;
  readonly #stopListening: () => void;
  readonly #totalMs: number;
  readonly #startedAt = performance.now();
  #totalTimer: NodeJS.Timeout;
  /** How long the client held the answer up, in ms, and since when it does so now. */
  #heldUpMs = 0;
  #heldUpSince: number | undefined;
  readonly #closeListeners: (() => void)[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #consumer: Consumer | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #over: { error: GatewayError | undefined } | undefined;

  constructor(settle: Settle, { timeouts, cut }: { timeouts: TimeoutsRecord; cut: Cut }) {
    this.#settle = settle;
    this.#totalMs = timeouts.totalMs;
    this.#totalTimer = setTimeout(() => this.#timeUp(), timeouts.totalMs);
    this.#stopListening = cut.onCut((reason) => this.abort(reason));
  }

  /** Gives the body to one consumer, beginning with what has come already. */
  consume(consumer: Consumer): void {
    this.#consumer = consumer;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) consumer.data(chunk);
    if (this.#over) this.#finish(this.#over.error);
    else if (this.#earlyBytes > EARLY_BYTES) this.resume();
  }

  /** The whole body. Rejects when it is longer than `limitBytes` or breaks off. */
  whole(limitBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      this.consume({
        data: (chunk) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > limitBytes) this.abort(failed('The answer is too long.'));
        },
        end: () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)),
        fail: reject,
      });
    });
  }

  /** Stops reading until `resume`, because the client is slower: the upstream then waits, too. */
  pause(): void {
    this.#heldUpSince ??= performance.now();
    this.#controller?.pause();
  }
  resume(): void {
    this.#heldUpMs = this.#heldUp();
    this.#heldUpSince = undefined;
    this.#controller?.resume();
  }

  #heldUp(): number {
    return this.#heldUpMs + (this.#heldUpSince === undefined ? 0 : performance.now() - this.#heldUpSince);
  }

  /**
   * The upstream has its whole time beside what the client holds it up, and the client as much. Who used up
   * the time decides about the charge: else whoever reads slowly enough would get nearly everything for
   * nothing.
   */
  #timeUp(): void {
    const heldUpMs = this.#heldUp();
    const ownMs = performance.now() - this.#startedAt - heldUpMs;
    const leftMs = this.#totalMs - Math.max(ownMs, heldUpMs);
    if (leftMs > 0) this.#totalTimer = setTimeout(() => this.#timeUp(), Math.ceil(leftMs));
    else this.abort(heldUpMs > ownMs ? tooSlow() : timedOut());
  }

  /** Closes the connection; whoever consumes gets the error. Does nothing once the answer is over. */
  abort(error: GatewayError): void {
    if (this.#over) return;
    this.#finish(error);
    this.#controller?.abort(error);
  }

  /** Calls the listener once when the answer is over, however it ended. */
  onClose(listener: () => void): void {
    if (this.#over) listener();
    else this.#closeListeners.push(listener);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(this.#over.error ?? failed('The request was stopped.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamAnswer['headers'],
  ): void {
    // 1xx answers come before the real one.
    if (status < 200 || this.#over) return;
    this.status = status;
    this.headers = headers;
    this.#settle.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#consumer) {
      this.#consumer.data(chunk);
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    if (!this.#over) this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#over) this.#finish(asFailure(error));
  }

  #finish(error: GatewayError | undefined): void {
    if (!this.#over) {
      this.#over = { error };
      clearTimeout(this.#totalTimer);
      this.#stopListening?.();
      for (const listener of this.#closeListeners) listener();
      if (this.status === 0) this.#settle.reject(error ?? failed('The upstream closed the connection.'));
    }
    const consumer = this.#consumer;
    if (!consumer) return;
    this.#consumer = undefined;
    if (error) consumer.fail(error);
    else consumer.end();
  }
}

/** The connection's failure as the client may hear of it; what really happened stays in the cause. */
export function asFailure(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = 'code' in cause ? String(cause.code) : '';
  return code.endsWith('_TIMEOUT') ? timedOut(cause) : failed('The connection to the model broke.', cause);
}

function failed(message: string, cause?: Error): GatewayError {
  return new GatewayError('upstream_failed', `${message} Try again.`, { cause });
}

function tooSlow(): GatewayError {
  return new GatewayError('client_closed', 'The client took its answer too slowly.');
}

function timedOut(cause?: Error): GatewayError {
  return new GatewayError('upstream_timeout', 'The model took too long to answer. Try again.', { cause });
}
