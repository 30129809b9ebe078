/** Events that repeat an earlier one with another text need no parser, and the result is the same. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChatRequest } from '../dialects/canonical.ts';
import type { StreamDecoder } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/index.ts';
import { StreamNames } from './answer-names.ts';
import { RepeatedText } from './repeated-text.ts';
import { StreamMachine } from './stream-machine.ts';

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string }) => `event: ${value.type}\n${frame(value)}`;
const chunk = (delta: object, more: object = {}, finish: string | null = null) =>
  frame({ id: 'up', model: 'vendor', ...more, choices: [{ index: 0, delta, finish_reason: finish }] });
const blockDelta = (delta: object, index = 0) =>
  named({ type: 'content_block_delta', index, delta } as never);
const start = (index: number, block: object) =>
  named({ type: 'content_block_start', index, content_block: block } as never);

const texts = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', ' word', 'é', '世界', '😀', 'up', 'content') },
  { weight: 2, arbitrary: fc.constantFrom('', '"', '\\', '\n', '"content":"x"', 'vendor', '\u2028') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);
const CHAT_FRAMES = fc.oneof(
  { weight: 12, arbitrary: texts.map((content) => chunk({ content })) },
  { weight: 4, arbitrary: texts.map((text) => chunk({ content: null, reasoning_content: text })) },
  { weight: 1, arbitrary: texts.map((content) => chunk({ content }, { content: 'x' })) },
  { weight: 1, arbitrary: texts.map((content) => chunk({ content, refusal: 'no' })) },
  { weight: 1, arbitrary: texts.map((content) => chunk({ content }, { usage: { prompt_tokens: 3 } })) },
  {
    weight: 1,
    arbitrary: texts.map((content) =>
      frame({ id: 'up', choices: [{ index: 1, delta: { content }, finish_reason: null }] }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      chunk({}, {}, 'stop'),
      ': note\n\n',
      'data: [DONE]\n\n',
      chunk({ content: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] }),
      chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }),
      String.raw`data: {"id":"up","choices":[{"index":0,"delta":{"content":"\u0061"}}],"x":"a"}` + '\n\n',
      'data: {"id":"up","choices":[{"index":0,"delta":{"content" : "a"}}]}\r\n\r\n',
    ),
  },
);
const MESSAGES_FRAMES = fc.oneof(
  { weight: 12, arbitrary: texts.map((text) => blockDelta({ type: 'text_delta', text })) },
  { weight: 3, arbitrary: texts.map((thinking) => blockDelta({ type: 'thinking_delta', thinking }, 1)) },
  { weight: 1, arbitrary: texts.map((text) => blockDelta({ type: 'text_delta', text }, 2)) },
  {
    weight: 1,
    arbitrary: texts.map((text) => blockDelta({ type: 'input_json_delta', partial_json: text }, 2)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[named({ type: 'ping' }), named({ type: 'content_block_stop', index: 0 } as never)],
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' } } as never),
      named({ type: 'message_stop' }),
    ),
  },
);
const MESSAGES_START = [
  named({ type: 'message_start', message: { id: 'up', model: 'vendor', content: [] } } as never),
  start(0, { type: 'text', text: '' }),
  start(1, { type: 'thinking', thinking: '' }),
  start(2, { type: 'tool_use', id: 'c', name: 'f', input: {} }),
];
const STREAMS = {
  'openai-chat': fc.array(CHAT_FRAMES, { maxLength: 30 }),
  'anthropic-messages': fc
    .array(MESSAGES_FRAMES, { maxLength: 30 })
    .map((frames) => [...MESSAGES_START, ...frames]),
} as const;
type Upstream = keyof typeof STREAMS;

const REQUEST: ChatRequest = {
  ...{ model: 'm', stream: true, choices: 1, messages: [], tools: [], stop: [], pointers: {}, extras: [] },
  shape: { usageInStream: true },
};

/** The decoder without the name of the member that may be repeated. */
function withoutMember(decoder: StreamDecoder): StreamDecoder {
  return {
    get hasUnreportedContent() {
      return decoder.hasUnreportedContent;
    },
    get mayBeComplete() {
      return decoder.mayBeComplete;
    },
    get isProgress() {
      return decoder.isProgress === true;
    },
    push: (given) => decoder.push(given),
    end: () => decoder.end(),
  };
}

/** Everything that a machine does with these chunks. */
function resultOf(upstream: Upstream, client: 'mirrored' | keyof typeof DIALECTS, slow: boolean) {
  const decoder = DIALECTS[upstream].outbound.streamDecoder(1);
  const names = new StreamNames(upstream, { id: 'own', model: 'swift' });
  const inbound = client === 'mirrored' ? undefined : DIALECTS[client].inbound;
  const machine = new StreamMachine({
    choices: 1,
    decoder: slow ? withoutMember(decoder) : decoder,
    dropUsageFrames: false,
    rename: (bytes, events) => names.replace(bytes, events),
    ...(inbound && { encoder: { stream: inbound.streamEncoder(REQUEST), losses: inbound.losses } }),
  });
  return (chunks: readonly Buffer[]) => {
    const steps = chunks.map((bytes) => [
      ...[machine.push(bytes).toString('latin1'), machine.content, machine.relayed, machine.done],
      machine.held.toString('latin1'),
    ]);
    const end = machine.end().toString('latin1');
    const { tokens, losses, done, failure } = machine;
    return { steps, end, tokens, losses, done, failure: failure?.code, held: String(machine.held) };
  };
}

// Encoders write the second of their start.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
afterAll(() => void vi.useRealTimers());

describe.each(['openai-chat', 'anthropic-messages'] as const)('a stream of %s', (upstream) => {
  it.each(['mirrored', 'openai-chat', 'anthropic-messages', 'google-generate', 'openai-responses'] as const)(
    'is the same for a client with %s, whether its repetitions are parsed or not',
    (client) => {
      fc.assert(
        fc.property(STREAMS[upstream], fc.array(fc.nat(400), { maxLength: 3 }), (frames, cuts) => {
          const bytes = Buffer.from(frames.join(''));
          const places = [
            0,
            ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b),
            bytes.length,
          ];
          const cut = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
          for (const chunks of [frames.map((one) => Buffer.from(one)), cut])
            expect(resultOf(upstream, client, false)(chunks)).toEqual(
              resultOf(upstream, client, true)(chunks),
            );
        }),
        { numRuns: 150 },
      );
    },
  );
});

describe('an event that repeats the one before with another text', () => {
  it.each([
    ['openai-chat', [], (text: string) => chunk({ content: text })],
    ['openai-chat', [], (text: string) => chunk({ content: null, reasoning_content: text })],
    ['anthropic-messages', MESSAGES_START, (text: string) => blockDelta({ type: 'text_delta', text })],
  ] as const)('is not parsed: %s', (upstream, opening, event) => {
    const decoder = DIALECTS[upstream].outbound.streamDecoder(1);
    let parsed = 0;
    const push = decoder.push.bind(decoder);
    decoder.push = (given) => {
      parsed += 1;
      return push(given);
    };
    const machine = new StreamMachine({ choices: 1, decoder, dropUsageFrames: false });
    for (const one of opening) machine.push(Buffer.from(one));
    // The first one opens a block, the second one is learned.
    for (const text of ['a', 'b']) machine.push(Buffer.from(event(text)));
    const before = parsed;
    for (const text of ['c', 'déjà', '世界']) {
      const bytes = event(text);
      expect(machine.push(Buffer.from(bytes)).toString()).toBe(bytes);
    }
    expect(machine.push(Buffer.from(event('d') + event('e'))).toString()).toBe(event('d') + event('e'));
    expect(parsed).toBe(before);
    machine.push(Buffer.from(event('"')));
    expect(parsed).toBe(before + 1);
  });

  it('is not looked for after eight events that nothing repeats', () => {
    const repeated = new RepeatedText();
    const event = (n: number, text: string) => Buffer.from(`{"n":${n},"content":"${text}"}`);
    const learn = (n: number) =>
      repeated.learn(event(n, 'a'), { name: 'content', text: 'a', sent: undefined });
    for (let n = 0; n < 8; n += 1) learn(n);
    expect(repeated.textIn(event(7, 'b'))?.toString()).toBe('b');
    for (let n = 0; n < 9; n += 1) learn(n);
    expect(repeated.textIn(event(8, 'b'))).toBeUndefined();
  });

  it.each([
    ['another member of the name', '{"content":"a","x":{"content":"a"}}'],
    ['an escaped name', String.raw`{"\u0063ontent":"b","x":{"content":"a"}}`],
    ['an escaped text', String.raw`{"content":"\u0061"}`],
    ['another value', '{"content":1,"x":"a"}'],
    ['no colon', '{"content","a"}'],
  ])('is not learned from an event with %s', (_, text) => {
    const repeated = new RepeatedText();
    repeated.learn(Buffer.from(text), { name: 'content', text: 'a', sent: undefined });
    expect(repeated.textIn(Buffer.from(text))).toBeUndefined();
  });
});
