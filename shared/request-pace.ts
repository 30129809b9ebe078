/**
 * Bounds how many requests one HTTP/1.1 connection may send ahead of its answers, and how fast a caller gets
 * answers that nobody pays for. A caller is the wallet of a key, an account, a node, or a network without a
 * valid credential. Both planes use it before they handle a request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection that may wait for earlier answers. Clients hardly ever send ahead. A connection
 * that sends more is closed: https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
export const PIPELINED_REQUESTS = 16;
/**
 * Free answers per caller and second: to a request that was sent ahead, or that follows a refusal or a GET on
 * its connection. A faster caller waits, and others do not.
 */
export const FREE_ANSWERS_PER_SECOND = 100;
/** Free answers that a caller gets at once after a time without requests. */
export const FREE_ANSWERS_AT_ONCE = 1_000;
/** Callers that are counted at once; the one that was not seen for longest is forgotten first. */
const COUNTED_CALLERS = 20_000;

/**
 * Longest time that a free answer waits, in ms. A connection whose answer would wait longer is closed, so
 * that waiting requests take little memory.
 */
export const LONGEST_WAIT_MS = 2_000;

const SECOND_MS = 1_000;
const INTERVAL_MS = SECOND_MS / FREE_ANSWERS_PER_SECOND;
const REFUSED = 400;

/** When each caller gets its next free answer. */
export class FreeAnswers {
  readonly #now: () => number;
  /**
   * When the last free answer of a caller is due, in ms; the caller that was not seen for longest first.
   */
  readonly #dueAt = new Map<string, number>();

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Counts a free answer of the caller. Returns the time until it may be given, in ms; at most 0 for none.
   * Undefined, without counting it, if that would be longer than LONGEST_WAIT_MS.
   */
  waitOf(caller: string): number | undefined {
    const now = this.#now();
    const earliest = now - FREE_ANSWERS_AT_ONCE * INTERVAL_MS;
    const dueAt = Math.max(this.#dueAt.get(caller) ?? earliest, earliest) + INTERVAL_MS;
    if (dueAt - now > LONGEST_WAIT_MS) return undefined;
    this.#dueAt.delete(caller);
    this.#dueAt.set(caller, dueAt);
    if (this.#dueAt.size > COUNTED_CALLERS) this.#forgetOldest();
    return dueAt - now;
  }

  #forgetOldest(): void {
    const [oldest] = this.#dueAt.keys();
    if (oldest !== undefined) this.#dueAt.delete(oldest);
  }
}

interface PaceOptions {
  /** The sender of a request; undefined on a connection without limits, such as that of a proxy. */
  callerOf: (request: IncomingMessage) => string | undefined;
  freeAnswers?: Pick<FreeAnswers, 'waitOf'>;
  /** Called when a connection is closed because it sent too many requests ahead. */
  onFull?: (request: IncomingMessage) => void;
}

/** The requests of one connection. */
interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  /** Requests that wait for earlier answers. */
  ahead: number;
}

/** The requests of each connection. */
export class RequestPace {
  readonly #callerOf: PaceOptions['callerOf'];
  readonly #freeAnswers: Pick<FreeAnswers, 'waitOf'>;
  readonly #onFull: PaceOptions['onFull'];
  readonly #asked = new WeakMap<Socket, Asked>();

  constructor({ callerOf, freeAnswers = new FreeAnswers(), onFull }: PaceOptions) {
    this.#callerOf = callerOf;
    this.#freeAnswers = freeAnswers;
    this.#onFull = onFull;
  }

  /**
   * Calls `go` when the request may be answered: after the earlier answers of its connection, and after the
   * wait of its caller. So a connection has one request in progress. Closes a connection that sends too many
   * requests ahead, or would wait too long; `go` is never called after a connection has closed.
   */
  admit(request: IncomingMessage, response: ServerResponse, go: () => void): void {
    const { socket } = request;
    if (socket.destroyed) return;
    const last = this.#asked.get(socket);
    if (last === undefined) {
      this.#asked.set(socket, { request, response, ahead: 0 });
      return go();
    }
    const earlier = last.response;
    const isAhead = !earlier.writableEnded;
    const isFree = isAhead || earlier.statusCode >= REFUSED || last.request.method === 'GET';
    last.request = request;
    last.response = response;
    const isFull = isAhead && !this.#countAhead(last);
    const waitMs = isFree && !isFull ? this.#waitOf(request) : 0;
    if (isFull || waitMs === undefined) {
      if (isFull) this.#onFull?.(request);
      return void socket.destroy();
    }
    if (!isAhead && waitMs <= 0) return go();
    const dueAt = performance.now() + waitMs;
    const goInTime = (): void => {
      const restMs = waitMs > 0 ? dueAt - performance.now() : 0;
      if (socket.destroyed) return;
      if (restMs <= 0) return go();
      setTimeout(() => socket.destroyed || go(), restMs).unref();
    };
    if (isAhead) earlier.once('close', goInTime);
    else goInTime();
  }

  #waitOf(request: IncomingMessage): number | undefined {
    const caller = this.#callerOf(request);
    return caller === undefined ? 0 : this.#freeAnswers.waitOf(caller);
  }

  /** Counts a request that was sent ahead. False if its connection has too many. */
  #countAhead(asked: Asked): boolean {
    asked.ahead += 1;
    if (asked.ahead > PIPELINED_REQUESTS) return false;
    asked.response.once('close', () => (asked.ahead -= 1));
    return true;
  }
}
