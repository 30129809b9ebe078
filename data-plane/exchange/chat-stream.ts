/**
 * Relays a streamed answer under backpressure: opens at the first content, holds the end back until the
 * charge is durable.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { GatewayError as Failure, asGatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { Bill } from '../bill.ts';
import type { Reply } from '../reply.ts';
import type { Answer, Attempt } from './exchange.ts';

/**
 * After this long without content the head is sent and from then on a sign of life after each such silence,
 * in ms.
 */
export const SILENCE_MS = 15_000;
/** What may wait for the first content, in bytes, before the head is sent anyway. */
const WAITING_BYTES = 64 * 1024;
/**
 * How long the upstream may take to end its body after its last event, in ms; then its connection is given
 * up.
 */
const TAIL_MS = 1_000;

/** Turns an upstream's bytes into the client's and holds the end back. Synchronous; fed chunks of any cut. */
export interface AnswerMachine {
  /** Whether something worth its price has come. */
  readonly content: boolean;
  /** Whether some of that is among the bytes that may leave. */
  readonly relayed: boolean;
  /** Whether the upstream's own end was seen. */
  readonly done: boolean;
  readonly failure: GatewayError | undefined;
  readonly tokens: TokenCounts;
  /** Parts of the answer that the client's format could not carry. */
  readonly losses: number;
  /** The end of the answer: to be written once the charge is durable. */
  readonly held: Buffer;
  /** Takes a network chunk; returns the bytes that may leave now. */
  push(chunk: Buffer): Buffer;
  /** Takes the clean end of the upstream's body; afterwards the machine is done or failed. */
  end(): Buffer;
}

export interface StreamOptions {
  machine: AnswerMachine;
  contentType: string;
  /** Sent after each silence; empty where the format has no room for a sign of life. */
  keepAlive: string;
  /** The last bytes of a stream that breaks off; undefined where the format has none. */
  streamError(error: GatewayError): string | undefined;
  beforeHead(reply: Reply): void;
}

/**
 * Resolves when the answer may begin: its first content or its end is there, or 15 s of silence passed.
 * Rejects with
 * `upstream_…` before that, while another upstream may still be asked.
 */
export function openStream(attempt: Attempt, options: StreamOptions): Promise<Answer> {
  const relay = new StreamRelay(attempt, options);
  return relay.opened;
}

class StreamRelay implements Answer {
  readonly opened: Promise<Answer>;
  readonly #attempt: Attempt;
  readonly #options: StreamOptions;
  readonly #silence: NodeJS.Timeout;
  readonly #firstContent: NodeJS.Timeout;
  readonly #opening = Promise.withResolvers<Answer>();
  readonly #completing = Promise.withResolvers<void>();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #reply: Reply | undefined;
  #bill: Bill | undefined;
  /** Content has been written to the client: from here on its leaving costs the price. */
  #relayed = false;
  #over = false;

  constructor(attempt: Attempt, options: StreamOptions) {
    this.#attempt = attempt;
    this.#options = options;
    this.opened = this.#opening.promise;
    // Whoever waits for the opening hears of a failure there; nobody may be waiting for the completion yet.
    this.#completing.promise.catch(() => undefined);
    const { firstContentMs } = attempt.candidate.provider.timeouts;
    this.#silence = setTimeout(() => this.#signOfLife(), SILENCE_MS);
    this.#firstContent = setTimeout(() => attempt.answer.abort(tooLate()), firstContentMs);
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
    const { machine, contentType, beforeHead, streamError } = this.#options;
    beforeHead(reply);
    reply.begin(200, contentType);
    this.#reply = reply;
    this.#bill = bill;
    for (const bytes of this.#waiting) this.#write(reply, bytes);
    try {
      await this.#completing.promise;
      bill.count(machine.tokens, machine.losses);
      await bill.commit('DELIVERED');
    } catch (cause) {
      const error = asGatewayError(cause);
      bill.count(machine.tokens, machine.losses);
      await bill.cut(error, this.#relayed).finally(() => {
        // An error that the upstream told is the end of its stream, and of ours; all others break it off.
        if (error.details.told) reply.end(streamError(error));
        else reply.breakOff(error.code === 'client_closed' ? undefined : streamError(error));
      });
      throw error;
    }
    reply.write(machine.held);
    reply.end();
  }

  #take(bytes: Buffer): void {
    if (this.#over) return;
    const { machine } = this.#options;
    if (bytes.length > 0) this.#emit(bytes);
    if (machine.failure) {
      this.#fail(machine.failure);
      this.#attempt.answer.abort(machine.failure);
      return;
    }
    if (machine.content) clearTimeout(this.#firstContent);
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
    this.#silence.refresh();
    if (reply.write(bytes)) return;
    const { answer } = this.#attempt;
    answer.pause();
    reply.drained().then(
      () => answer.resume(),
      (error: unknown) => answer.abort(asGatewayError(error)),
    );
  }

  /** Between events only: what was written so far always ends with a whole event. */
  #signOfLife(): void {
    this.#opening.resolve(this);
    this.#reply?.write(this.#options.keepAlive);
    this.#silence.refresh();
  }

  #complete(): void {
    this.#close();
    this.#attempt.settle();
    this.#completing.resolve();
    const { answer } = this.#attempt;
    const tail = setTimeout(() => answer.abort(tooLate()), TAIL_MS);
    answer.onClose(() => clearTimeout(tail));
  }

  #fail(error: GatewayError): void {
    if (this.#over) return;
    this.#close();
    this.#attempt.settle(error);
    this.#opening.reject(error);
    this.#completing.reject(error);
  }

  #close(): void {
    this.#over = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#firstContent);
  }
}

function tooLate(): GatewayError {
  return new Failure('upstream_timeout', 'The model took too long to say something. Try again.');
}
