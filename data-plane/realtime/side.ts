/** One side of a realtime session: sends under backpressure, and detects silence and broken connections. */
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { FRAMES_AT_ONCE, FRAMES_PER_SECOND } from '../limits.ts';

/** Bytes that may wait to be sent to one side before the other side is paused. */
const WAITING_BYTES = 1024 * 1024;
/** Interval of pings in ms. A side that has not answered the last one by then is disconnected. */
const PING_EVERY_MS = 20_000;
/** How often per second a side that sends too many frames is read. */
const RATE_PAUSES_PER_SECOND = 10;
/** Time that a side has to answer the close frame, in ms. */
const CLOSING_MS = 2_000;

/** The text of a text frame. */
export function frameText(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]).toString('utf8');
}

/** A socket that is paused while there is any reason for it. */
export class Side {
  /** When this side sent its last frame, in ms of the monotonic clock. */
  lastFrameAt: number;
  readonly #socket: WebSocket;
  readonly #pauses = new Set<string>();
  #pingedAt: number;
  #isAlive = true;
  /** Frames that this side may send now. */
  #allowance = FRAMES_AT_ONCE;
  #countedAt: number;
  readonly #now: () => number;

  /** `now` is a monotonic clock in ms. */
  constructor(socket: WebSocket, now: () => number) {
    this.#socket = socket;
    this.#now = now;
    this.lastFrameAt = now();
    this.#pingedAt = now();
    this.#countedAt = now();
    socket.on('message', () => {
      this.lastFrameAt = now();
      this.#countFrame();
    });
    socket.on('ping', () => this.#countFrame());
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // A `close` event follows every error, and is handled by the session.
    socket.on('error', () => undefined);
  }

  /** Whether this side reads so slowly that the other one is paused. */
  get isBehind(): boolean {
    return this.#socket.bufferedAmount > WAITING_BYTES;
  }

  /** Starts to receive frames. */
  open(): void {
    this.#socket.resume();
  }

  /** Sends a frame. Pauses its source while too many bytes wait to be sent. */
  send(text: string, source: Side): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(text, () => {
      if (this.#socket.bufferedAmount <= WAITING_BYTES) source.#unpause('backpressure');
    });
    if (this.#socket.bufferedAmount > WAITING_BYTES) source.#pause('backpressure');
  }

  /** Sends a frame before the session is closed. */
  sendLast(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Receives no further frames until the step is done. */
  async whilePaused(step: Promise<void>): Promise<void> {
    this.#pause('step');
    try {
      await step;
    } finally {
      this.#unpause('step');
    }
  }

  /** Pings at intervals, and destroys the socket if the last ping was not answered. Called regularly. */
  checkLife(now: number): void {
    if (now - this.#pingedAt < PING_EVERY_MS || this.#socket.isPaused) return;
    if (!this.#isAlive) return this.#socket.terminate();
    this.#pingedAt = now;
    this.#isAlive = false;
    this.#socket.ping();
  }

  /** Closes the socket with this code, and destroys it if the side does not answer in time. */
  close(code: number): void {
    this.#pauses.clear();
    this.#socket.resume();
    this.#socket.close(code, '');
    setTimeout(() => this.#socket.terminate(), CLOSING_MS).unref();
  }

  /** Counts a frame, and reads no further ones for a moment if this side sends too many. */
  #countFrame(): void {
    const now = this.#now();
    const regained = ((now - this.#countedAt) / 1_000) * FRAMES_PER_SECOND;
    this.#allowance = Math.min(FRAMES_AT_ONCE, this.#allowance + regained) - 1;
    this.#countedAt = now;
    if (this.#allowance > 0 || this.#pauses.has('rate')) return;
    this.#pause('rate');
    // Until frames for a tenth of a second have come back, so that a flood does not cost a timer per frame.
    const missing = FRAMES_PER_SECOND / RATE_PAUSES_PER_SECOND - this.#allowance;
    setTimeout(() => this.#unpause('rate'), (missing / FRAMES_PER_SECOND) * 1_000).unref();
  }

  #pause(reason: string): void {
    this.#pauses.add(reason);
    this.#socket.pause();
  }

  #unpause(reason: string): void {
    if (!this.#pauses.delete(reason) || this.#pauses.size > 0) return;
    // The pong may have been waiting in the paused socket.
    this.#isAlive = true;
    this.#socket.resume();
  }
}
