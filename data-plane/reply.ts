/** The client's side of the connection: the only thing that writes to it. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';

/** A client that takes nothing for this long is dropped, in ms. */
export const WRITE_STALL_MS = 60_000;
/**
 * How long the last bytes of a broken stream may take to leave before the socket is destroyed anyway, in
 * ms.
 */
const LAST_BYTES_MS = 5_000;

/** Bodies up to this size leave in one piece with their headers, in bytes. */
const JOINED_BYTES = 16 * 1024;

/** One answer: headers are collected until it begins, then bytes flow under backpressure. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #headers: Record<string, string>;
  #late: (() => Record<string, string>) | undefined;

  constructor(response: ServerResponse, headers: Record<string, string>) {
    this.#response = response;
    this.#headers = headers;
  }

  /** Whether the status line has left: from then on errors can only be told inside the stream. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** Sets a header of the answer; has no effect once it has begun. */
  header(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Sets headers that are asked for when the answer begins. */
  late(headers: () => Record<string, string>): void {
    this.#late = headers;
  }

  /** Sends a whole answer with its length. */
  whole(status: number, contentType: string, body: string | Buffer): void {
    const length = Buffer.byteLength(body);
    this.#headers['content-type'] = contentType;
    this.#headers['content-length'] = String(length);
    if (this.#late) Object.assign(this.#headers, this.#late());
    this.#response.writeHead(status, this.#headers);
    // Node sends a string together with the headers, a buffer after them: one system call instead of two.
    const isSmall = typeof body !== 'string' && length <= JOINED_BYTES;
    if (isSmall) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(body);
  }

  /** Sends status and headers of an answer whose length is not known yet. */
  begin(status: number, contentType: string): void {
    this.#headers['content-type'] = contentType;
    this.#headers['cache-control'] = 'no-cache';
    // nginx and its kin would otherwise collect events before they pass them on.
    this.#headers['x-accel-buffering'] = 'no';
    if (this.#late) Object.assign(this.#headers, this.#late());
    this.#response.writeHead(status, this.#headers);
  }

  /** Writes bytes; false when the client is slower than they come: then wait for `drained`. */
  write(bytes: string | Buffer): boolean {
    return this.#response.destroyed || this.#response.write(bytes);
  }

  /**
   * Resolves when the client took what was written or is gone; throws `client_closed` after a minute's
   * stall.
   */
  drained(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        response.off('drain', settle);
        response.off('close', settle);
        resolve();
      };
      const timer = setTimeout(() => {
        settle();
        reject(new GatewayError('client_closed', 'The client took no data for a minute.'));
      }, WRITE_STALL_MS);
      response.on('drain', settle);
      response.on('close', settle);
    });
  }

  /** Ends a streamed answer properly. */
  end(lastBytes = ''): void {
    this.#response.end(lastBytes);
  }

  /** Breaks a streamed answer off: last bytes, then the socket closes without the terminating chunk. */
  breakOff(lastBytes?: string): void {
    const response = this.#response;
    const { socket } = response;
    if (!socket || socket.destroyed) return;
    // Only once the bytes have left: what was written in this tick is still corked.
    if (lastBytes === undefined || response.destroyed) setImmediate(() => socket.destroySoon());
    else response.write(lastBytes, () => socket.destroySoon());
    setTimeout(() => socket.destroy(), LAST_BYTES_MS).unref();
  }
}
