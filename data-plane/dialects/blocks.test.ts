/** BlockSequence serialises interleaved blocks; `collect` checks that an answer is complete. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incompleteAnswer, collect, replay } from './answer.ts';
import { BlockSequence } from './blocks.ts';
import { NO_TOKENS } from './canonical.ts';
import type { ChatEvent, ChatResponse } from './canonical.ts';

const call = (name: string) => ({ kind: 'tool-call' as const, id: `id_${name}`, name });

/** The answer whose only choice has these events. */
function answerOf(events: ChatEvent[]): ChatResponse {
  return collect([
    { type: 'start', id: 'a', model: 'm' },
    ...events,
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'done' },
  ]);
}

describe('BlockSequence', () => {
  it('keeps the text of each block and never overlaps blocks, however the deltas are interleaved', () => {
    const steps = fc.array(fc.record({ key: fc.nat(3), text: fc.string({ minLength: 1 }) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(steps, (deltas) => {
        const sequence = new BlockSequence(0);
        const texts = new Map<string, string>();
        const events: ChatEvent[] = [];
        for (const { key, text } of deltas) {
          const name = `call${key}`;
          if (!sequence.isOpen(name)) events.push(...sequence.open(name, call(name)));
          events.push(...sequence.delta(name, text));
          texts.set(name, (texts.get(name) ?? '') + text);
        }
        events.push(...sequence.closeAll());
        let open = 0;
        for (const { type } of events) {
          open += type === 'block-start' ? 1 : type === 'block-end' ? -1 : 0;
          expect(open === 0 || open === 1).toBe(true);
        }
        const blocks = answerOf(events).choices[0]?.blocks ?? [];
        const got = blocks.map((block) => [block.kind === 'tool-call' ? block.name : '', block.text]);
        const want = [...texts].map(([name, text]) => [name, text.trim() === '' ? `${text}{}` : text]);
        expect(got).toEqual(want);
      }),
    );
  });

  it('returns events of the first block at once and holds back those of later blocks', () => {
    const sequence = new BlockSequence(0);
    expect(sequence.open('a', call('a'))).toHaveLength(1);
    expect(sequence.open('b', call('b'))).toEqual([]);
    expect(sequence.delta('b', '{}')).toEqual([]);
    expect(sequence.delta('a', '{')).toHaveLength(1);
    expect(sequence.close('b')).toEqual([]);
    const events = [...sequence.delta('a', '}'), ...sequence.close('a')];
    expect(events.map(({ type }) => type)).toEqual([
      'block-delta',
      'block-end',
      'block-start',
      'block-delta',
      'block-end',
    ]);
  });

  it('gives a tool call without arguments an empty object', () => {
    const sequence = new BlockSequence(0);
    const events = [...sequence.open('a', call('a')), ...sequence.closeAll()];
    expect(answerOf(events).choices[0]?.blocks[0]?.text).toBe('{}');
  });
});

describe('collect', () => {
  it('throws if the events end before done or a choice has no finish', () => {
    expect(() => collect([{ type: 'start', id: 'a', model: 'm' }])).toThrow('before it was complete');
    const answer: ChatResponse = {
      id: 'a',
      model: 'm',
      tokens: NO_TOKENS,
      choices: [{ blocks: [], finish: 'stop' }],
    };
    const events = [...replay(answer)];
    expect(collect(events)).toEqual(answer);
    expect(() => collect(events.filter(({ type }) => type !== 'finish'))).toThrow('before it was complete');
  });

  it('throws the error of an error event', () => {
    const error = incompleteAnswer('test');
    expect(() =>
      collect([
        { type: 'start', id: 'a', model: 'm' },
        { type: 'error', error },
      ]),
    ).toThrow(error);
  });
});
