/**
 * The splitter keeps every byte of a stream wherever chunks are cut, and finds the same events as a parser.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from '../../test/sse-parser.ts';
import { FrameSplitter } from './frames.ts';

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

/** The events of these frames. */
function read(frames: readonly Buffer[]): object[] {
  const splitter = new FrameSplitter();
  return frames.flatMap((frame) => splitter.read(frame) ?? []);
}

function parse(stream: Buffer): object[] {
  const parser = new SseParser();
  return [...parser.push(stream), ...parser.end()].map((frame) => ({ ...frame }));
}

describe('the splitter', () => {
  it('returns every byte, and the events that the parser finds, wherever chunks are cut', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 8 }), (stream, cuts) => {
        const frames = split(stream, cuts);
        const whole = Buffer.concat(frames);
        expect(stream.subarray(0, whole.length).equals(whole)).toBe(true);
        expect(stream.length - whole.length).toBeLessThanOrEqual(1);
        expect(read(frames)).toEqual(parse(stream));
      }),
    );
  });

  it('finds the same events for a cut at every byte', () => {
    const stream = Buffer.from(
      'event: a\r\ndata: {"x":"é"}\r\n\r\n: note\n\ndata: 1\ndata: 2\n\ndata: [DONE]',
    );
    const expected = read(split(stream, []));
    for (let cut = 0; cut <= stream.length; cut += 1) {
      expect(read(split(stream, [cut]))).toEqual(expected);
    }
  });

  it('skips a byte order mark at the start of the stream, and nowhere else', () => {
    const events = '\ufeffdata: 1\n\n\ufeffdata: 2\n\ndata: 3\n\n';
    expect(read(split(Buffer.from(events), []))).toEqual([{ data: '1' }, { data: '3' }]);
    expect(parse(Buffer.from(events))).toEqual([{ data: '1' }, { data: '3' }]);
  });

  it('refuses an event above the maximum size', () => {
    const splitter = new FrameSplitter();
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    expect(() => {
      for (let count = 0; count < 20; count += 1) splitter.push(piece);
    }).toThrow('too long');
  });
});
