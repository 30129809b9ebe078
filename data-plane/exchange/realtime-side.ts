/** One end of a realtime session: sends under backpressure, notices silence and death. */
import { WebSocket } from 'ws';
import type { RawData } from 'ws';

/** What may wait to be sent to one side before the other is paused, in bytes. */
const WAITING_BYTES = 1024 * 1024;
/** A side that answers no ping for this long is gone, in ms. */
const PING_EVERY_MS = 20_000;
/** How long a side may take to answer the end of the session, in ms. */
const CLOSING_MS = 2_000;

/** A text frame as text. */
export function frameText(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]).toString('utf8');
}

/** A socket with reasons to be paused. */
export class Side {
  /** When the last frame came from here, in ms of the clock. */
  lastFrameAt: number;
  readonly #socket: WebSocket;
  readonly #pauses = new Set<string>();
  #pingedAt: number;
  #isAlive = true;

  /** `now` is a monotonic clock in ms. */
  constructor(socket: WebSocket, now: () => number) {
    this.#socket = socket;
    this.lastFrameAt = now();
    this.#pingedAt = now();
    socket.on('message', () => {
      this.lastFrameAt = now();
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // What went wrong is told by the close that follows.
    socket.on('error', () => undefined);
  }

  /** Whether it takes what it is sent more slowly than it comes, so that its source had to be paused. */
  get isBehind(): boolean {
    return this.#socket.bufferedAmount > WAITING_BYTES;
  }

  /** Lets frames come that waited for the session to begin. */
  open(): void {
    this.#socket.resume();
  }

  /** Sends a frame; where too much is waiting, its source is paused until that has left. */
  send(text: string, source: Side): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(text, () => {
      if (this.#socket.bufferedAmount <= WAITING_BYTES) source.#unpause('backpressure');
    });
    if (this.#socket.bufferedAmount > WAITING_BYTES) source.#pause('backpressure');
  }

  /** Sends a frame before the end. */
  sendLast(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Takes no further frames until the step is done. */
  async whilePaused(step: Promise<void>): Promise<void> {
    this.#pause('step');
    try {
      await step;
    } finally {
      this.#unpause('step');
    }
  }

  /** Asks for a sign of life now and then; without one the socket is destroyed. */
  checkLife(now: number): void {
    if (now - this.#pingedAt < PING_EVERY_MS || this.#socket.isPaused) return;
    if (!this.#isAlive) return this.#socket.terminate();
    this.#pingedAt = now;
    this.#isAlive = false;
    this.#socket.ping();
  }

  /** Says goodbye; whoever does not answer is hung up on. */
  close(code: number): void {
    this.#pauses.clear();
    this.#socket.resume();
    this.#socket.close(code);
    setTimeout(() => this.#socket.terminate(), CLOSING_MS).unref();
  }

  #pause(reason: string): void {
    this.#pauses.add(reason);
    this.#socket.pause();
  }

  #unpause(reason: string): void {
    if (!this.#pauses.delete(reason) || this.#pauses.size > 0) return;
    // Its answer to a ping may have waited, too.
    this.#isAlive = true;
    this.#socket.resume();
  }
}
