/** Server-sent events: what the gateway writes, and the parser by which tests read it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from '../../test/sse-parser.ts';
import { writeJsonFrame } from './sse.ts';
import type { SseFrame } from './sse.ts';

function parse(chunks: Uint8Array[]): SseFrame[] {
  const parser = new SseParser();
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()];
}

/** Text of any script, also with line feeds, which become several data lines. */
const data = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .map((text) => text.replaceAll('\r', '\n'))
  .filter((text) => text.trim() !== '');
const frame = fc.record({ event: fc.constantFrom('ping', 'message_start', 'error'), data });

function writeFrame({ event, data }: SseFrame): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `event: ${event}\n${lines.join('')}\n`;
}

describe('the parser of server-sent events', () => {
  it('returns what was written, cut at every byte', () => {
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

  it('accepts CRLF, LF and CR, comments, a byte order mark, and data without a space', () => {
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

  it('returns a last event without its blank line', () => {
    expect(parse([Buffer.from('data: [DONE]')])).toEqual([{ data: '[DONE]' }]);
  });

  it('returns nothing for comments and for events without data', () => {
    expect(parse([Buffer.from(': keep-alive\n\nevent: ping\n\n')])).toEqual([]);
  });

  it('throws for an event beyond the maximum length, of one line or many', () => {
    const endless = new SseParser(100);
    expect(() => endless.push(Buffer.from(`data: ${'x'.repeat(200)}`))).toThrow('maximum length');
    const manyLines = new SseParser(100);
    expect(() => manyLines.push(Buffer.from('data: 0123456789\n'.repeat(20)))).toThrow('maximum length');
    const ordinary = new SseParser(100);
    expect(ordinary.push(Buffer.from('data: 0123456789\n\n'.repeat(20)))).toHaveLength(20);
  });
});

describe('writeJsonFrame', () => {
  it('writes JSON on one line', () => {
    expect(writeJsonFrame({ text: 'a\nb' }, 'delta')).toBe('event: delta\ndata: {"text":"a\\nb"}\n\n');
  });
});
