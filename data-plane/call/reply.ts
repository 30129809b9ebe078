/** Writes the answer of one request to the client. No other code writes to the client's connection. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import { LAST_CHUNK, chunkOf } from './chunked.ts';
import { drain, hasLongRest } from './drain.ts';

/** Time after which a client that reads nothing is disconnected, in ms. */
const WRITE_STALL_MS = 60_000;
/** Time that the last bytes of a broken stream have to be sent before the socket is destroyed, in ms. */
const LAST_BYTES_MS = 5_000;

/** Size up to which a body is sent together with its headers, in bytes. */
const JOINED_BYTES = 16 * 1024;

const keepConnection = (): boolean => false;

/** One answer: collects headers until it begins, then writes bytes under backpressure. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #headers: Record<string, string>;
  #lateHeaders: (() => Record<string, string>) | undefined;
  #dropsRest = false;
  #mustClose = keepConnection;
  /** Whether the streamed answer is sent in chunks, as to every client of HTTP/1.1. */
  #isChunked = false;

  constructor(response: ServerResponse, headers: Record<string, string>) {
    this.#response = response;
    this.#headers = headers;
  }

  /** Whether the status line was sent: from then on a failure can only be reported inside the stream. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** Sets a header of the answer. Has no effect once the answer has begun. */
  header(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Sets a function that returns further headers when the answer begins. */
  lateHeaders(headers: () => Record<string, string>): void {
    this.#lateHeaders = headers;
  }

  /** Lets the answer disconnect at once instead of reading the rest of the request's body. */
  dropRest(): void {
    this.#dropsRest = true;
  }

  /** Lets the connection end with this answer if `mustClose` is true when the answer begins. */
  closeIf(mustClose: () => boolean): void {
    this.#mustClose = mustClose;
  }

  /** Sends a complete answer with its length. */
  whole(status: number, contentType: string, body: string | Buffer): void {
    const length = Buffer.byteLength(body);
    this.#headers['content-type'] = contentType;
    this.#headers['content-length'] = String(length);
    if (this.#lateHeaders) Object.assign(this.#headers, this.#lateHeaders());
    if (hasLongRest(this.#response.req)) return this.#lastAnswer(status, body);
    this.#announceClose();
    this.#response.writeHead(status, this.#headers);
    // Node sends a string in one system call with the headers, a buffer in a second one.
    const isSmall = typeof body !== 'string' && length <= JOINED_BYTES;
    if (isSmall) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(body);
  }

  /** Sends a status without a body, such as 304. */
  empty(status: number): void {
    this.#announceClose();
    this.#response.writeHead(status, this.#headers);
    this.#response.end();
  }

  /** Sends the complete answer, then reads the rest of the request's body within limits, and disconnects. */
  #lastAnswer(status: number, body: string | Buffer): void {
    this.#headers['connection'] = 'close';
    this.#response.writeHead(status, this.#headers);
    this.#response.write(body);
    if (this.#dropsRest) this.#response.end();
    else drain(this.#response.req, () => this.#response.end());
  }

  /** Sends status and headers of a streamed answer. */
  begin(status: number, contentType: string): void {
    this.#headers['content-type'] = contentType;
    this.#headers['cache-control'] = 'no-cache';
    // Without this header nginx and similar proxies buffer events.
    this.#headers['x-accel-buffering'] = 'no';
    if (this.#lateHeaders) Object.assign(this.#headers, this.#lateHeaders());
    this.#announceClose();
    this.#response.writeHead(status, this.#headers);
    this.#isChunked = this.#response.chunkedEncoding;
    // Node sends a chunk as four pieces, which takes more time than one.
    this.#response.chunkedEncoding = false;
  }

  /** Writes bytes. Returns false if the client is too slow: then wait for `drained`. */
  write(bytes: string | Buffer): boolean {
    return this.#response.destroyed || this.#response.write(this.#framed(bytes));
  }

  #framed(bytes: string | Buffer): string | Buffer {
    return this.#isChunked ? chunkOf(bytes) : bytes;
  }

  /**
   * Resolves when the written bytes were sent or the client has left. Rejects with `client_closed` if the
   * client reads nothing for a minute.
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
        reject(new GatewayError('client_closed', 'The client read nothing for a minute.'));
      }, WRITE_STALL_MS);
      response.on('drain', settle);
      response.on('close', settle);
    });
  }

  /** Ends a streamed answer properly, after these last bytes. */
  end(lastBytes = ''): void {
    if (lastBytes !== '') this.write(lastBytes);
    this.#response.end(this.#isChunked ? LAST_CHUNK : '');
  }

  #announceClose(): void {
    if (this.#mustClose()) this.#headers['connection'] = 'close';
  }

  /** Breaks a streamed answer off: sends the last bytes, then closes the socket without the final chunk. */
  breakOff(lastBytes?: string): void {
    const response = this.#response;
    const { socket } = response;
    if (!socket || socket.destroyed) return;
    // The socket closes only after the bytes were sent: those written in this tick are still corked.
    if (lastBytes === undefined || response.destroyed) setImmediate(() => socket.destroySoon());
    else response.write(this.#framed(lastBytes), () => socket.destroySoon());
    setTimeout(() => socket.destroy(), LAST_BYTES_MS).unref();
  }
}
