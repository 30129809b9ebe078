/** The inbound half for legacy completions, over a chat upstream. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatResponse } from '../canonical.ts';
import { objectOf, objectsOf } from '../fields.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { openaiCompletions } from './index.ts';

const logprobs = [{ token: 'Hi', logprob: -0.5, top: [{ token: 'Ho', logprob: -1 }] }];
const answer: ChatResponse = {
  id: 'a',
  model: 'up',
  tokens: { input: 3, output: 4, cached: 0, reasoning: 0 },
  choices: [
    {
      blocks: [
        { kind: 'reasoning', text: 'hm' },
        { kind: 'text', text: 'Hi', logprobs },
      ],
      finish: 'length',
    },
    { blocks: [{ kind: 'text', text: 'Ho' }], finish: 'refusal' },
  ],
};

describe('legacy completions', () => {
  it('become a chat with one message', () => {
    const wire = {
      model: 'm',
      prompt: ['Tell'],
      max_tokens: 9,
      n: 2,
      logprobs: 1,
      stop: '.',
      logit_bias: { 7: 1 },
      best_of: 3,
    };
    const request = openaiCompletions.decodeRequest(wire, {});
    const { body, dropped } = openaiChat.outbound.encodeRequest(request, 'up');
    expect(body).toEqual({
      model: 'up',
      messages: [{ role: 'user', content: 'Tell' }],
      max_completion_tokens: 9,
      n: 2,
      logprobs: true,
      top_logprobs: 1,
      stop: ['.'],
      logit_bias: { 7: 1 },
    });
    expect(dropped).toEqual(['/best_of']);
  });

  it('are refused for several prompts, token ids and values out of range', () => {
    const wrong: [object, string][] = [
      [{ prompt: ['a', 'b'] }, '/prompt'],
      [{ prompt: [1, 2] }, '/prompt'],
      [{}, '/prompt'],
      [{ prompt: 'a', max_tokens: -1 }, '/max_tokens'],
      [{ prompt: 'a', n: 0 }, '/n'],
    ];
    for (const [given, pointer] of wrong) {
      expect(() => openaiCompletions.decodeRequest({ model: 'm', ...given }, {})).toThrow(pointer);
    }
  });

  it('are answered with text only, after the prompt if the client requested an echo', () => {
    const request = openaiCompletions.decodeRequest({ model: 'm', prompt: 'Say: ', echo: true }, {});
    const wire = objectOf(openaiCompletions.encodeResponse(answer, request));
    expect(wire).toMatchObject({ object: 'text_completion', model: 'up', usage: { total_tokens: 7 } });
    expect(objectsOf(wire.choices)).toEqual([
      {
        text: 'Say: Hi',
        index: 0,
        finish_reason: 'length',
        logprobs: { tokens: ['Hi'], token_logprobs: [-0.5], top_logprobs: [{ Ho: -1 }], text_offset: [5] },
      },
      { text: 'Say: Ho', index: 1, logprobs: null, finish_reason: 'content_filter' },
    ]);
  });

  it('stream as chunks, with usage if the client requested it, and [DONE]', () => {
    const wire = { model: 'm', prompt: 'x', stream: true, stream_options: { include_usage: true } };
    const encoder = openaiCompletions.streamEncoder(openaiCompletions.decodeRequest(wire, {}));
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'up' },
      { type: 'block-start', choice: 0, block: { kind: 'reasoning' } },
      { type: 'block-delta', choice: 0, text: 'hm' },
      { type: 'block-end', choice: 0 },
      { type: 'block-start', choice: 0, block: { kind: 'text' } },
      { type: 'block-delta', choice: 0, text: 'Hi' },
      { type: 'block-end', choice: 0 },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'usage', tokens: answer.tokens },
      { type: 'done' },
    ];
    const written = events.map((event) => encoder.push(event)).join('');
    expect(written).not.toContain('hm');
    const chunks = written
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => objectOf(JSON.parse(line.slice(6))));
    expect(
      chunks.flatMap(({ choices }) => objectsOf(choices).map(({ text, finish_reason: end }) => [text, end])),
    ).toEqual([
      ['Hi', null],
      ['', 'stop'],
    ]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
    expect(written.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('number the characters of their tokens from the start of the echoed prompt', () => {
    const wire = { model: 'm', prompt: 'Say: ', echo: true, stream: true };
    const encoder = openaiCompletions.streamEncoder(openaiCompletions.decodeRequest(wire, {}));
    const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top: [] });
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'up' },
      { type: 'block-start', choice: 0, block: { kind: 'text' } },
      { type: 'block-delta', choice: 0, text: 'Hi', logprobs: [token('Hi')] },
      { type: 'block-delta', choice: 0, text: ' you', logprobs: [token(' '), token('you')] },
    ];
    const written = events.map((event) => encoder.push(event)).join('');
    expect([...written.matchAll(/"text_offset":(\[[^\]]*\])/g)].map(([, list]) => list)).toEqual([
      '[5]',
      '[7,8]',
    ]);
  });
});
