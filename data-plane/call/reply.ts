/** Writes the answer of one request to the client. No other code writes to the client's connection. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import { ByteText, JOINED_BYTES } from './byte-text.ts';
import { framed } from './chunked.ts';
import { drain, hasLongRest } from './drain.ts';

/** Time after which a client that reads nothing is disconnected, in ms. */
const WRITE_STALL_MS = 60_000;
/** Time that the last bytes of a broken stream have to be sent before the socket is destroyed, in ms. */
const LAST_BYTES_MS = 5_000;

const keepConnection = (): boolean => false;

/** One answer: collects headers until it begins, then writes bytes under backpressure. */
export class Reply {
  readonly #response: ServerResponse;
  /** Kept until the answer begins. */
  #headers: Record<string, string>;
  #lateHeaders: (() => Record<string, string>) | undefined;
  #dropsRest = false;
  #mustClose = keepConnection;
  /** Whether the streamed answer is sent in chunks, as to every client of HTTP/1.1. */
  #isChunked = false;
  /** Whether the headers were sent, so that bytes of the body may go to the socket directly. */
  #isDirect = false;
  /** Bytes that were written in this tick. They are sent together at its end. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;

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
  whole(status: number, contentType: string, body: string | Buffer | ByteText): void {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.#headers['content-type'] = contentType;
    this.#headers['content-length'] = String(length);
    if (this.#lateHeaders) Object.assign(this.#headers, this.#lateHeaders());
    if (hasLongRest(this.#response.req)) return this.#lastAnswer(status, sendable(body));
    this.#announceClose();
    this.#response.writeHead(status, this.#headers);
    // Node sends a string in one system call with the headers, a buffer in a second one.
    const isSmall = typeof body !== 'string' && length <= JOINED_BYTES;
    if (isSmall) this.#response.end(body instanceof ByteText ? body.text : body.toString('latin1'), 'latin1');
    else this.#response.end(sendable(body));
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
    this.#headers = {};
    this.#lateHeaders = undefined;
    // The request's headers stay in `headers`. Node would keep their names as well until the end.
    this.#response.req.rawHeaders = [];
    this.#isChunked = this.#response.chunkedEncoding;
    // Node sends a chunk as four pieces, which takes more time than one.
    this.#response.chunkedEncoding = false;
  }

  /**
   * Writes bytes, at the end of this tick and together with others. Returns false if the client is too slow:
   * then wait for `drained`.
   */
  write(bytes: string | Buffer): boolean {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return true;
    const part = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    if (part.length > 0) {
      if (this.#pending.length === 0) process.nextTick(flush, this);
      this.#pending.push(part);
      this.#pendingBytes += part.length;
    }
    return response.writableLength + this.#pendingBytes < response.writableHighWaterMark;
  }

  /** Sends what was written. */
  flush(): void {
    const response = this.#response;
    if (this.#pending.length === 0 || response.destroyed || response.writableEnded) return;
    const bytes = this.#takePending();
    // The socket itself takes less time than the response, which adds nothing after the headers.
    const socket = this.#isDirect ? response.socket : null;
    if (socket) {
      // Node ends the socket when the client ends its side. A later write would be an error, which destroys
      // the socket with the bytes that it has not sent yet.
      if (socket.writable) socket.write(bytes);
      return;
    }
    response.write(bytes);
    // A response that waits for an earlier one of its connection has no socket yet.
    this.#isDirect = response.socket !== null;
  }

  /** The bytes that were written and not sent; with the end of the body if they are the last ones. */
  #takePending(isLast = false): Buffer {
    const bytes = framed(this.#pending, { isChunked: this.#isChunked, isLast });
    this.#pending = [];
    this.#pendingBytes = 0;
    return bytes;
  }

  /**
   * Resolves when the written bytes were sent or the client has left. Rejects with `client_closed` if the
   * client reads nothing for a minute.
   */
  drained(): Promise<void> {
    this.flush();
    const response = this.#response;
    const sink = (this.#isDirect && response.socket) || response;
    if (!sink.writableNeedDrain || response.destroyed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        sink.off('drain', settle);
        response.off('close', settle);
        resolve();
      };
      const timer = setTimeout(() => {
        settle();
        reject(new GatewayError('client_closed', 'The client read nothing for a minute.'));
      }, WRITE_STALL_MS);
      sink.on('drain', settle);
      response.on('close', settle);
    });
  }

  /** Ends a streamed answer properly, after these last bytes. */
  end(lastBytes = ''): void {
    if (lastBytes !== '') this.write(lastBytes);
    const response = this.#response;
    if (response.writableEnded) return;
    const bytes = this.#takePending(true);
    if (bytes.length > 0) response.end(bytes);
    else response.end();
  }

  #announceClose(): void {
    if (this.#mustClose()) this.#headers['connection'] = 'close';
  }

  /** Breaks a streamed answer off: sends the last bytes, then closes the socket without the final chunk. */
  breakOff(lastBytes?: string): void {
    const response = this.#response;
    const { socket } = response;
    if (!socket || socket.destroyed) return;
    if (lastBytes !== undefined) this.write(lastBytes);
    this.flush();
    // Not in this tick: Node still holds bytes back that were written to the response.
    setImmediate(() => socket.destroySoon());
    setTimeout(() => socket.destroy(), LAST_BYTES_MS).unref();
  }
}

function sendable(body: string | Buffer | ByteText): string | Buffer {
  return body instanceof ByteText ? body.bytes() : body;
}

function flush(reply: Reply): void {
  reply.flush();
}
