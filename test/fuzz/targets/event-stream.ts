/**
 * Event streams of AWS: the messages do not depend on where the bytes are cut, and a message with right
 * checksums is read as it was written.
 */
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { GatewayError } from '@gateway/shared/failures';
import { BedrockStream, EventStreamReader } from '../../../data-plane/upstreams/clouds/event-stream.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

/** Bytes of both lengths, and of each checksum. */
const LENGTHS = 8;
const CHECKSUM = 4;

export const target: FuzzTarget = {
  run(input) {
    checkCuts(input);
    // The first byte is the length of the headers. The fuzzer finds no checksum by itself.
    const headers = input.subarray(1, 1 + (input[0] ?? 0));
    const payload = input.subarray(1 + headers.length);
    const message = messageOf(headers, payload);
    checkCuts(Buffer.concat([message, message]));
    const read = messagesIn([message]);
    demand(read === undefined || read.length === 1, 'a message is read as several');
    demand(read === undefined || payload.equals(read[0] ?? payload), 'a payload is changed');
    toEvents(message);
  },
  seeds: [
    withHeaders({ ':message-type': 'event', ':event-type': 'messageStart' }, '{"role":"assistant"}'),
    withHeaders({ ':message-type': 'event', ':event-type': 'chunk' }, '{"bytes":"eyJ0eXBlIjoicGluZyJ9"}'),
    withHeaders({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{}'),
  ],
  tokens: [':message-type', ':event-type', ':exception-type', 'chunk', '{"bytes":"', '\u0007\u0000\u0005'],
};

/** An input of headers with text values, and a payload. */
function withHeaders(values: Readonly<Record<string, string>>, payload: string): Buffer {
  const parts = Object.entries(values).map(
    ([name, value]) => `${letter(name.length)}${name}\u0007\u0000${letter(value.length)}${value}`,
  );
  const headers = Buffer.from(parts.join(''), 'latin1');
  return Buffer.concat([Buffer.of(headers.length), headers, Buffer.from(payload)]);
}

function letter(code: number): string {
  return String.fromCharCode(code);
}

/** A message with right lengths and checksums. */
function messageOf(headers: Buffer, payload: Buffer): Buffer {
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32BE(LENGTHS + CHECKSUM + headers.length + payload.length + CHECKSUM);
  lengths.writeUInt32BE(headers.length, CHECKSUM);
  const start = Buffer.concat([lengths, checksumOf(lengths), headers, payload]);
  return Buffer.concat([start, checksumOf(start)]);
}

function checksumOf(bytes: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM);
  checksum.writeUInt32BE(crc32(bytes));
  return checksum;
}

function checkCuts(bytes: Buffer): void {
  const place = (bytes.length * 7) % (bytes.length + 1);
  const cut = messagesIn([bytes.subarray(0, place), bytes.subarray(place)]);
  demand(isDeepStrictEqual(cut, messagesIn([bytes])), 'the messages depend on the cuts');
}

/** The payloads; undefined if the stream is refused. */
function messagesIn(chunks: readonly Buffer[]): Buffer[] | undefined {
  const reader = new EventStreamReader();
  return unlessRefused(() => {
    const payloads = chunks.flatMap((chunk) => reader.push(chunk).map(({ payload }) => Buffer.from(payload)));
    reader.end();
    return payloads;
  });
}

/** Writes the events of a stream. Each has one line of data. */
function toEvents(bytes: Buffer): void {
  const stream = new BedrockStream();
  const events = unlessRefused(() => stream.push(bytes).toString('utf8'));
  if (!events) return;
  demand(/^event: \w+\ndata: [^\r\n]*\n\n$/.test(events), 'an event has another form');
}

function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
