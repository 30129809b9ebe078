/** Tests the event stream against the codec of the AWS SDK. */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BedrockStream, EventStreamReader } from './event-stream.ts';
import type { StreamMessage } from './event-stream.ts';

const sdk = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

type SdkHeaders = Parameters<typeof sdk.encode>[0]['headers'];

function chunk(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return encode({ ':message-type': 'event', ':event-type': 'chunk' }, JSON.stringify({ bytes, p: 'abc' }));
}

function encode(texts: Record<string, string>, body: string): Buffer {
  const headers: SdkHeaders = {};
  for (const [name, value] of Object.entries(texts)) headers[name] = { type: 'string', value };
  return Buffer.from(sdk.encode({ headers, body: Buffer.from(body) }));
}

/** The results of a reader that gets the stream in these pieces. */
function read(pieces: Buffer[]): StreamMessage[] {
  const reader = new EventStreamReader();
  const messages = pieces.flatMap((piece) => reader.push(piece));
  reader.end();
  return messages;
}

const HEADERS = fc.dictionary(
  fc.stringMatching(/^[a-z:-]{1,20}$/),
  fc.oneof(
    fc.string({ maxLength: 30 }).map((value) => ({ type: 'string' as const, value })),
    fc.boolean().map((value) => ({ type: 'boolean' as const, value })),
    fc.integer({ min: -128, max: 127 }).map((value) => ({ type: 'byte' as const, value })),
    fc.integer({ min: -32_768, max: 32_767 }).map((value) => ({ type: 'short' as const, value })),
    fc.integer().map((value) => ({ type: 'integer' as const, value })),
    fc.uint8Array({ maxLength: 20 }).map((value) => ({ type: 'binary' as const, value })),
    fc.date({ noInvalidDate: true }).map((value) => ({ type: 'timestamp' as const, value })),
    fc.uuid().map((value) => ({ type: 'uuid' as const, value })),
  ),
  { maxKeys: 6, noNullPrototype: true },
);
const MESSAGES = fc.array(fc.record({ headers: HEADERS, body: fc.uint8Array({ maxLength: 300 }) }), {
  minLength: 1,
  maxLength: 4,
});

describe('an event stream', () => {
  it("decodes the messages that the AWS SDK's codec has written, in pieces of any size", () => {
    fc.assert(
      fc.property(MESSAGES, fc.integer({ min: 1, max: 50 }), (messages, size) => {
        const bytes = Buffer.concat(messages.map((message) => Buffer.from(sdk.encode(message))));
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        const found = read(pieces);
        expect(found.map(({ payload }) => [...payload])).toEqual(messages.map(({ body }) => [...body]));
        for (const [index, { headers }] of messages.entries())
          for (const [name, header] of Object.entries(headers))
            expect(found[index]?.headers.get(name)).toBe(header.type === 'string' ? header.value : undefined);
      }),
    );
  });

  it('decodes equally when it is split at any byte', () => {
    const bytes = Buffer.concat([chunk({ type: 'ping' }), chunk({ type: 'message_stop', n: 'ü' })]);
    const whole = read([bytes]);
    for (let at = 0; at <= bytes.length; at += 1)
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  });

  it('fails if any byte is changed or the end is missing', () => {
    const bytes = chunk({ type: 'message_stop' });
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x41, at);
      expect(() => read([changed]), `byte ${at}`).toThrow('cannot be read');
      if (at > 0) expect(() => read([bytes.subarray(0, at)]), `end at ${at}`).toThrow('cannot be read');
    }
  });
});

describe('the stream of a model at Bedrock', () => {
  it('becomes the server-sent events of the messages format', () => {
    const stream = new BedrockStream();
    const bytes = Buffer.concat([chunk({ type: 'message_start' }), chunk({ type: 'message_stop' })]);
    expect(stream.push(bytes).toString()).toBe(
      'event: message_start\ndata: {"type":"message_start"}\n\n' +
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    );
    expect(stream.end()).toHaveLength(0);
  });

  it.each([
    ['throttlingException', 'overloaded_error'],
    ['modelStreamErrorException', 'api_error'],
  ])('ends with an error event after a %s, without text of the upstream', (name, type) => {
    const bytes = encode(
      { ':message-type': 'exception', ':exception-type': name },
      '{"message":"account 12"}',
    );
    const text = new BedrockStream().push(bytes).toString();
    expect(text).toContain(`event: error\ndata: {"type":"error","error":{"type":"${type}"`);
    expect(text).not.toContain('account 12');
  });

  it('fails for a chunk that is no event of the format', () => {
    const bytes = encode({ ':message-type': 'event', ':event-type': 'chunk' }, '{"bytes":"W10="}');
    expect(() => new BedrockStream().push(bytes)).toThrow('cannot be read');
  });
});
