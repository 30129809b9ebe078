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
import type { Consumer } from '../upstreams/decoded-body.ts';
import { nameDropped } from './dropped.ts';
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
  /** The parts of the request that were left out, for a header of the answer. */
  dropped: readonly string[];
}

/**
 * Resolves when the answer may begin: with its first content, its end, or after 15 s of silence. Rejects with
 * `upstream_…` before that, while another upstream may still be asked.
 */
export function openStream(attempt: AnsweredAttempt, options: StreamOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    attempt.answer.forgetHeaders();
    attempt.answer.consume(new StreamDelivery(attempt, options, { resolve, reject }));
  });
}

/** Settles a promise. */
interface Settling<Value> {
  resolve(value: Value): void;
  reject(error: GatewayError): void;
}

/** Lets go of what it no longer needs, because a stream may stay open for long. */
class StreamDelivery implements Answer, Consumer {
  readonly #attempt: AnsweredAttempt;
  readonly #options: StreamOptions;
  readonly #silenceTimer: NodeJS.Timeout;
  #firstContentTimer: NodeJS.Timeout | undefined;
  /** Undefined once the answer is open or has failed. */
  #opening: Settling<Answer> | undefined;
  /** Undefined until the answer is delivered. */
  #completing: Settling<void> | undefined;
  /** Bytes that arrived before the answer was opened. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #reply: Reply | undefined;
  #bill: Bill | undefined;
  /** Whether content was written to the client: from then on a client that leaves is charged. */
  #relayed = false;
  /** How the upstream's stream has ended: with this failure, or properly. */
  #ended: { error: GatewayError | undefined } | undefined;

  constructor(attempt: AnsweredAttempt, options: StreamOptions, opening: Settling<Answer>) {
    this.#attempt = attempt;
    this.#options = options;
    this.#opening = opening;
    const { firstContentMs } = attempt.candidate.provider.timeouts;
    this.#silenceTimer = setTimeout(() => this.#keepAlive(), SILENCE_MS);
    this.#firstContentTimer = setTimeout(() => attempt.answer.abort(timedOut()), firstContentMs);
  }

  data(chunk: Buffer): void {
    this.#take(this.#options.machine.push(chunk));
  }

  end(): void {
    this.#take(this.#options.machine.end());
  }

  fail(error: GatewayError): void {
    if (this.#ended) return;
    this.#finish(error);
  }

  get routeId(): string {
    return this.#attempt.candidate.route.id;
  }

  async deliver(reply: Reply, bill: Bill): Promise<void> {
    const { machine, contentType, dropped, streamError } = this.#options;
    nameDropped(dropped, reply);
    reply.begin(200, contentType);
    this.#reply = reply;
    this.#bill = bill;
    this.#writeWaiting(reply);
    try {
      await this.#completed();
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

  /** Not a part of `deliver`, which would keep the bytes until the end of the stream. */
  #writeWaiting(reply: Reply): void {
    for (const bytes of this.#waiting) this.#write(reply, bytes);
    this.#waiting = [];
  }

  #take(bytes: Buffer): void {
    if (this.#ended) return;
    const { machine } = this.#options;
    if (bytes.length > 0) this.#emit(bytes);
    if (machine.failure) {
      this.fail(machine.failure);
      this.#attempt.answer.abort(machine.failure);
      return;
    }
    if (machine.content) this.#stopWaiting();
    if (machine.content || machine.done || this.#waitingBytes > WAITING_BYTES) this.#open();
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
    this.#open();
    this.#reply?.write(this.#options.keepAlive);
    this.#silenceTimer.refresh();
  }

  #complete(): void {
    this.#finish(undefined);
    const { answer } = this.#attempt;
    const tail = setTimeout(() => answer.abort(timedOut()), TAIL_MS);
    answer.onClose(() => clearTimeout(tail));
  }

  #open(): void {
    this.#opening?.resolve(this);
    this.#opening = undefined;
  }

  /** Resolves when the upstream's stream has ended properly. Rejects with its failure. */
  #completed(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#completing = { resolve, reject };
      if (this.#ended) this.#tell(this.#ended.error);
    });
  }

  #finish(error: GatewayError | undefined): void {
    this.#ended = { error };
    clearTimeout(this.#silenceTimer);
    this.#stopWaiting();
    this.#attempt.settle(error);
    if (error) this.#opening?.reject(error);
    this.#opening = undefined;
    this.#tell(error);
  }

  #tell(error: GatewayError | undefined): void {
    if (error) this.#completing?.reject(error);
    else this.#completing?.resolve();
  }

  /** Stops the timer of the first content. */
  #stopWaiting(): void {
    if (this.#firstContentTimer === undefined) return;
    clearTimeout(this.#firstContentTimer);
    this.#firstContentTimer = undefined;
  }
}

function timedOut(): GatewayError {
  return new Failure('upstream_timeout', 'The upstream sent no content in time. Try again.');
}
