/** Events survive any cut of the network, byte for byte, and read as the format's own parser reads them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from '../dialects/sse.ts';
import { FrameSplitter, readFrame } from './frames.ts';

const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
const lines = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
  fc.constantFrom('data', 'data:x', 'event: ping', 'event:', ': comment', 'id: 7', 'retry: 5', 'nonsense'),
);
const streams = fc
  .tuple(fc.array(fc.array(lines, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), lineEnds)
  .map(([frames, end]) => Buffer.from(frames.map((frame) => frame.join(end) + end + end).join('')));

function split(stream: Buffer, cuts: readonly number[]): Buffer[] {
  const splitter = new FrameSplitter();
  const frames: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.map((one) => one % (stream.length + 1)).sort((a, b) => a - b), stream.length]) {
    frames.push(...splitter.push(stream.subarray(from, cut)));
    from = cut;
  }
  const rest = splitter.end();
  return rest ? [...frames, rest] : frames;
}

function parse(stream: Buffer): object[] {
  const parser = new SseParser();
  return [...parser.push(stream), ...parser.end()].map((frame) => ({ ...frame }));
}

describe('the splitter', () => {
  it('gives every byte back, and the events that the parser finds, wherever the network cuts', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 8 }), (stream, cuts) => {
        const frames = split(stream, cuts);
        const whole = Buffer.concat(frames);
        expect(stream.subarray(0, whole.length).equals(whole)).toBe(true);
        expect(stream.length - whole.length).toBeLessThanOrEqual(1);
        const read = frames.map((frame) => readFrame(frame)).filter((frame) => frame !== undefined);
        expect(read.map((frame) => ({ ...frame }))).toEqual(parse(stream));
      }),
    );
  });

  it('cuts at every byte alike', () => {
    const stream = Buffer.from(
      'event: a\r\ndata: {"x":"é"}\r\n\r\n: note\n\ndata: 1\ndata: 2\n\ndata: [DONE]',
    );
    const expected = split(stream, []).map(String);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      expect(split(stream, [cut]).map((frame) => readFrame(frame))).toEqual(
        expected.map((frame) => readFrame(Buffer.from(frame))),
      );
    }
  });

  it('refuses an event without end', () => {
    const splitter = new FrameSplitter();
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    expect(() => {
      for (let count = 0; count < 20; count += 1) splitter.push(piece);
    }).toThrow('too long');
  });
});
