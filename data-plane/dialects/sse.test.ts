/** Server-sent events survive any cut, any line end, any neighbour. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser, writeFrame, writeJsonFrame } from './sse.ts';
import type { SseFrame } from './sse.ts';

function parse(chunks: Uint8Array[]): SseFrame[] {
  const parser = new SseParser();
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()];
}

/** Text of any script, line feeds inside allowed (they become several data lines). */
const data = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .map((text) => text.replaceAll('\r', '\n'))
  .filter((text) => text.trim() !== '');
const frame = fc.record({ event: fc.constantFrom('ping', 'message_start', 'error'), data });

describe('server-sent events', () => {
  it('give back what was written, cut at every byte', () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 4 }), (frames) => {
        const bytes = Buffer.from(frames.map(writeFrame).join(''));
        for (let cut = 0; cut <= bytes.length; cut += 1) {
          expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(frames);
        }
        expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(frames);
      }),
      { numRuns: 50 },
    );
  });

  it('take CRLF, LF and CR, comments, a byte order mark and data without a space', () => {
    for (const end of ['\r\n', '\n', '\r']) {
      const lines = [
        '\uFEFF: hello',
        'event:tick',
        'data:{"a":1}',
        'data: é',
        'id: 7',
        '',
        ': again',
        'data:x',
        '',
        '',
      ];
      const bytes = Buffer.from(lines.join(end));
      const expected = [{ event: 'tick', data: '{"a":1}\né' }, { data: 'x' }];
      expect(parse([bytes])).toEqual(expected);
      expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    }
  });

  it('take a last event whose blank line was cut off', () => {
    expect(parse([Buffer.from('data: [DONE]')])).toEqual([{ data: '[DONE]' }]);
  });

  it('dispatch nothing for comments and names without data', () => {
    expect(parse([Buffer.from(': keep-alive\n\nevent: ping\n\n')])).toEqual([]);
  });

  it('refuse an event beyond the length limit, wherever the limit is passed', () => {
    const endless = new SseParser(100);
    expect(() => endless.push(Buffer.from(`data: ${'x'.repeat(200)}`))).toThrow('length limit');
    const manyLines = new SseParser(100);
    expect(() => manyLines.push(Buffer.from('data: 0123456789\n'.repeat(20)))).toThrow('length limit');
    const ordinary = new SseParser(100);
    expect(ordinary.push(Buffer.from('data: 0123456789\n\n'.repeat(20)))).toHaveLength(20);
  });

  it('write JSON on one line', () => {
    expect(writeJsonFrame({ text: 'a\nb' }, 'delta')).toBe('event: delta\ndata: {"text":"a\\nb"}\n\n');
  });
});
