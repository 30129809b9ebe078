/**
 * Delivers a streamed answer under backpressure: opens it at its first content, and holds its end back until
 * the charge is durable.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { GatewayError as Failure, asGatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { Bill } from '../bill.ts';
import type { Reply } from '../call/reply.ts';
import type { AnsweredAttempt } from '../upstreams/attempt.ts';
import type { Answer } from './exchange.ts';

/** Silence after which the status line, then a keep-alive, is sent, in ms. */
const SILENCE_MS = 15_000;
/** Bytes that may wait for the first content; above it the answer is opened without content. */
const WAITING_BYTES = 64 * 1024;
/** Time that the upstream has to close its body after its last event, in ms; then the gateway closes it. */
const TAIL_MS = 1_000;

/**
 * Turns an upstream's bytes into the client's and holds the end back. Synchronous; chunks may be cut
 * anywhere.
 */
export interface AnswerMachine {
  /** Whether content that is worth its price has arrived. */
  readonly content: boolean;
  /** Whether some content is among the bytes that were returned for the client. */
  readonly relayed: boolean;
  /** Whether the upstream's own end was seen. */
  readonly done: boolean;
  readonly failure: GatewayError | undefined;
  readonly tokens: TokenCounts;
  /** Number of parts of the answer that the client's format could not carry. */
  readonly losses: number;
  /** The end of the answer, to be written once the charge is durable. */
  readonly held: Buffer;
  /** Takes a network chunk; returns the bytes for the client. */
  push(chunk: Buffer): Buffer;
  /** Takes the clean end of the upstream's body; afterwards the machine is done or failed. */
  end(): Buffer;
}

export interface StreamOptions {
  machine: AnswerMachine;
  contentType: string;
  /** Sent after each silence; empty if the format has no room for it. */
  keepAlive: string;
  /** The last bytes of a stream that fails; undefined if the format has none. */
  streamError(error: GatewayError): string | undefined;
  /** Sets headers of the answer. */
  beforeHeaders(reply: Reply): void;
}

/**
 * Resolves when the answer may begin: with its first content, its end, or after 15 s of silence. Rejects with
 * `upstream_…` before that, while another upstream may still be asked.
 */
export function openStream(attempt: AnsweredAttempt, options: StreamOptions): Promise<Answer> {
  const delivery = new StreamDelivery(attempt, options);
  return delivery.opened;
}

class StreamDelivery implements Answer {
  readonly opened: Promise<Answer>;
  readonly #attempt: AnsweredAttempt;
  readonly #options: StreamOptions;
  readonly #silenceTimer: NodeJS.Timeout;
  readonly #firstContentTimer: NodeJS.Timeout;
  readonly #opening = Promise.withResolvers<Answer>();
  readonly #completing = Promise.withResolvers<void>();
  /** Bytes that arrived before the answer was opened. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #reply: Reply | undefined;
  #bill: Bill | undefined;
  /** Whether content was written to the client: from then on a client that leaves is charged. */
  #relayed = false;
  #ended = false;

  constructor(attempt: AnsweredAttempt, options: StreamOptions) {
    this.#attempt = attempt;
    this.#options = options;
    this.opened = this.#opening.promise;
    // A failure rejects both promises, and `deliver` may not have been called yet.
    this.#completing.promise.catch(() => undefined);
    const { firstContentMs } = attempt.candidate.provider.timeouts;
    this.#silenceTimer = setTimeout(() => this.#keepAlive(), SILENCE_MS);
    this.#firstContentTimer = setTimeout(() => attempt.answer.abort(timedOut()), firstContentMs);
    attempt.answer.consume({
      data: (chunk) => this.#take(options.machine.push(chunk)),
      end: () => this.#take(options.machine.end()),
      fail: (error) => this.#fail(error),
    });
  }

  get routeId(): string {
    return this.#attempt.candidate.route.id;
  }

  async deliver(reply: Reply, bill: Bill): Promise<void> {
    const { machine, contentType, beforeHeaders, streamError } = this.#options;
    beforeHeaders(reply);
    reply.begin(200, contentType);
    this.#reply = reply;
    this.#bill = bill;
    for (const bytes of this.#waiting) this.#write(reply, bytes);
    try {
      await this.#completing.promise;
      this.#attempt.counted(machine.tokens);
      bill.count(machine.tokens, machine.losses);
      await bill.commit('DELIVERED');
    } catch (cause) {
      const error = asGatewayError(cause);
      bill.count(machine.tokens, machine.losses);
      await bill.cut(error, this.#relayed).finally(() => {
        // An error event of the upstream ends its stream properly; every other failure breaks the stream off.
        if (error.details.reportedByUpstream) reply.end(streamError(error));
        else reply.breakOff(error.code === 'client_closed' ? undefined : streamError(error));
      });
      throw error;
    }
    reply.write(machine.held);
    reply.end();
  }

  #take(bytes: Buffer): void {
    if (this.#ended) return;
    const { machine } = this.#options;
    if (bytes.length > 0) this.#emit(bytes);
    if (machine.failure) {
      this.#fail(machine.failure);
      this.#attempt.answer.abort(machine.failure);
      return;
    }
    if (machine.content) clearTimeout(this.#firstContentTimer);
    if (machine.content || machine.done || this.#waitingBytes > WAITING_BYTES) this.#opening.resolve(this);
    if (machine.done) this.#complete();
  }

  #emit(bytes: Buffer): void {
    if (this.#reply) {
      this.#write(this.#reply, bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #write(reply: Reply, bytes: Buffer): void {
    if (this.#options.machine.relayed && !this.#relayed) {
      this.#relayed = true;
      this.#bill?.firstContent();
    }
    this.#silenceTimer.refresh();
    if (reply.write(bytes)) return;
    const { answer } = this.#attempt;
    answer.pause();
    reply.drained().then(
      () => answer.resume(),
      (error: unknown) => answer.abort(asGatewayError(error)),
    );
  }

  /** The bytes written so far always end with a whole event, so a keep-alive may follow them. */
  #keepAlive(): void {
    this.#opening.resolve(this);
    this.#reply?.write(this.#options.keepAlive);
    this.#silenceTimer.refresh();
  }

  #complete(): void {
    this.#stopTimers();
    this.#attempt.settle();
    this.#completing.resolve();
    const { answer } = this.#attempt;
    const tail = setTimeout(() => answer.abort(timedOut()), TAIL_MS);
    answer.onClose(() => clearTimeout(tail));
  }

  #fail(error: GatewayError): void {
    if (this.#ended) return;
    this.#stopTimers();
    this.#attempt.settle(error);
    this.#opening.reject(error);
    this.#completing.reject(error);
  }

  #stopTimers(): void {
    this.#ended = true;
    clearTimeout(this.#silenceTimer);
    clearTimeout(this.#firstContentTimer);
  }
}

function timedOut(): GatewayError {
  return new Failure('upstream_timeout', 'The upstream sent no content in time. Try again.');
}
