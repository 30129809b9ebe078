/**
 * Reads AWS's binary event stream and writes the events in it as server-sent events.
 * https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
 */
import { crc32 } from 'node:zlib';
import { GatewayError } from '@gateway/shared/failures';
import { Slab } from '../../call/slab.ts';
import type { BodyDecoder } from '../decoded-body.ts';
import type { UpstreamAnswer } from '../send.ts';

/** Maximum size of a message, in bytes. A chunk of an answer is much shorter. */
const MESSAGE_BYTES = 16 * 1024 * 1024;
/** Total length, length of the headers, and the checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** Type of a header value that is a text. */
const TEXT_TYPE = 7;
/** Sizes of the values of the types without a length: true, false, byte, short, int, long; time and UUID. */
const FIXED_SIZES: Record<number, number> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

/** One message of an event stream. Only its text headers are kept. */
export interface StreamMessage {
  headers: ReadonlyMap<string, string>;
  payload: Buffer;
}

/** Splits a byte stream into messages; chunks may be cut anywhere. */
export class EventStreamReader {
  #carry = new Slab(MESSAGE_BYTES);
  /** Number of bytes from which on a message can be complete. */
  #needed = PRELUDE_BYTES;

  /** The messages that this chunk completes. Throws `upstream_failed` for a wrong length or checksum. */
  push(chunk: Buffer): StreamMessage[] {
    this.#carry.append(chunk);
    if (this.#carry.length < this.#needed) return [];
    let rest = this.#carry.bytes();
    const messages: StreamMessage[] = [];
    this.#needed = PRELUDE_BYTES;
    while (rest.length >= PRELUDE_BYTES) {
      const length = totalLength(rest);
      this.#needed = length;
      if (rest.length < length) break;
      messages.push(readMessage(rest.subarray(0, length)));
      rest = rest.subarray(length);
      this.#needed = PRELUDE_BYTES;
    }
    this.#carry = new Slab(MESSAGE_BYTES);
    if (rest.length > 0) this.#carry.append(rest);
    return messages;
  }

  /** Throws `upstream_failed` if the stream ends inside a message. */
  end(): void {
    if (this.#carry.length > 0) throw broken('it ends inside a message');
  }
}

/** Checks the prelude. */
function totalLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw broken('a prelude has a wrong checksum');
  const headersLength = bytes.readUInt32BE(4);
  if (length > MESSAGE_BYTES || length < PRELUDE_BYTES + headersLength + CHECKSUM_BYTES)
    throw broken('a message has an impossible length');
  return length;
}

function readMessage(bytes: Buffer): StreamMessage {
  const end = bytes.length - CHECKSUM_BYTES;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
    throw broken('a message has a wrong checksum');
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4);
  return {
    headers: readHeaders(bytes.subarray(PRELUDE_BYTES, headersEnd)),
    payload: bytes.subarray(headersEnd, end),
  };
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (size: number): Buffer => {
    if (at + size > bytes.length) throw broken('a header is longer than the headers');
    at += size;
    return bytes.subarray(at - size, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString('utf8');
    const type = take(1).readUInt8();
    const size = FIXED_SIZES[type] ?? take(2).readUInt16BE();
    const value = take(size);
    if (type === TEXT_TYPE) headers.set(name, value.toString('utf8'));
  }
  return headers;
}

/**
 * Turns the answer of `InvokeModelWithResponseStream` into the events of the messages format, and that of
 * `ConverseStream` into its own events with their names.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export class BedrockStream implements BodyDecoder {
  readonly #reader = new EventStreamReader();

  push(chunk: Buffer): Buffer {
    return Buffer.from(this.#reader.push(chunk).map(eventOf).join(''));
  }

  end(): Buffer {
    this.#reader.end();
    return Buffer.alloc(0);
  }
}

/** Has the answer deliver server-sent events if its body is an event stream of AWS. */
export function decodeEventStream(answer: UpstreamAnswer): void {
  if (answer.headers['content-type'] === 'application/vnd.amazon.eventstream')
    answer.decodeWith(new BedrockStream());
}

/** Exceptions that mean overload. */
const BUSY_EXCEPTIONS = new Set(['throttlingException', 'serviceUnavailableException']);

/** The events of `ConverseStream`. */
const CONVERSE_EVENTS: ReadonlySet<string> = new Set([
  ...['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop'],
  ...['messageStop', 'metadata'],
]);

function eventOf({ headers, payload }: StreamMessage): string {
  const kind = headers.get(':message-type');
  if (kind === 'exception' || kind === 'error') {
    const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'unknown';
    const type = BUSY_EXCEPTIONS.has(name) ? 'overloaded_error' : 'api_error';
    const error = { type, message: 'The upstream ended the answer with an error. Try again.' };
    return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
  }
  const name = headers.get(':event-type') ?? '';
  if (CONVERSE_EVENTS.has(name)) return `event: ${name}\ndata: ${inOneLine(payload)}\n\n`;
  if (name !== 'chunk') return '';
  const text = Buffer.from(base64In(payload), 'base64').toString('utf8');
  return `event: ${typeIn(text)}\ndata: ${text}\n\n`;
}

/** Line ends stand only between the values of a JSON text, where a space means the same. */
function inOneLine(payload: Buffer): string {
  return payload.toString('utf8').replaceAll(/[\r\n]+/g, ' ');
}

/** The `bytes` of a chunk. A second member only pads the message. */
function base64In(payload: Buffer): string {
  const value = parsed(payload.toString('utf8'));
  if (typeof value.bytes !== 'string') throw broken('a chunk has no bytes');
  return value.bytes;
}

function typeIn(text: string): string {
  const { type } = parsed(text);
  if (typeof type !== 'string' || !/^\w+$/.test(type) || /[\r\n]/.test(text))
    throw broken('a chunk is no event of the messages format');
  return type;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    throw broken('a chunk is no JSON');
  }
}

function broken(reason: string): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream sent an answer that cannot be read. Try again.', {
    cause: new Error(`event stream: ${reason}`),
  });
}
