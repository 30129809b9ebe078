/**
 * For random upstream streams: the bytes that a client has before the charge is durable are never a complete
 * answer in its format, and everything before a finish is relayed at once.
 */
import type { DialectName } from '@gateway/shared/catalog';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../dialects/canonical.ts';
import type { Inbound } from '../dialects/dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { COMPLETIONS, DIALECTS } from '../dialects/index.ts';
import { EventMachine } from './relay-answer.ts';
import { StreamMachine } from './stream-machine.ts';

const RUNS = 300;

// ------------------------------------------------------------------------------------------------ readers

/** The data of these events. */
function dataOf(text: string): string[] {
  return text.split(/\r?\n\r?\n/).flatMap((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? []);
}

function objectsIn(text: string): JsonObject[] {
  return dataOf(text)
    .map((data) => parseObject(data))
    .filter((value) => value !== undefined);
}

/** Whether every choice that was begun is over, or as many as the client asked for. */
function areOver(over: ReadonlyMap<number, boolean>, asked: number): boolean {
  const count = [...over.values()].filter(Boolean).length;
  return count > 0 && (count === over.size || count >= asked);
}

function isWholeChat(text: string, asked: number): boolean {
  const over = new Map<number, boolean>();
  for (const choice of objectsIn(text).flatMap((chunk) => objectsOf(chunk.choices))) {
    const index = numberOf(choice.index) ?? 0;
    over.set(index, over.get(index) === true || textOf(choice.finish_reason) !== '');
  }
  return dataOf(text).includes('[DONE]') || areOver(over, asked);
}

/** A finish with a `turnToken` (server-side tool calls) counts only if no more content follows. */
function isWholeGenerate(text: string, asked: number): boolean {
  const over = new Map<number, boolean>();
  const closed = new Set<number>();
  const chunks = text.startsWith('[') ? arrayOf(text) : objectsIn(text);
  for (const chunk of chunks) {
    for (const candidate of objectsOf(chunk.candidates)) {
      const index = numberOf(candidate.index) ?? 0;
      const names = textOf(candidate.finishReason) !== '';
      const hasParts = objectsOf(objectOf(candidate.content).parts).length > 0;
      if (names && chunk.turnToken === undefined) closed.add(index);
      over.set(index, names || (over.get(index) === true && !hasParts));
    }
    if (isObject(chunk.promptFeedback)) closed.add(0);
    for (const index of closed) over.set(index, true);
  }
  return areOver(over, asked);
}

/** The chunks of a JSON array that may be unfinished. */
function arrayOf(text: string): JsonObject[] {
  const value: unknown = JSON.parse(text.endsWith(']') ? text : `${text}]`);
  return objectsOf(value);
}

function isWholeMessages(text: string): boolean {
  const open = new Set<unknown>();
  let stopped = false;
  for (const event of objectsIn(text)) {
    if (event.type === 'message_start') stopped ||= textOf(objectOf(event.message).stop_reason) !== '';
    if (event.type === 'content_block_start') open.add(event.index);
    if (event.type === 'content_block_stop') open.delete(event.index);
    if (event.type === 'message_delta' && textOf(objectOf(event.delta).stop_reason)) return true;
    if (event.type === 'message_stop') return true;
  }
  return stopped && open.size === 0;
}

function isWholeResponses(text: string): boolean {
  const isEnd = (data: string) =>
    /^(\[DONE\]|response\.(completed|incomplete))$/.test(textOf(parseObject(data)?.type) || data);
  return dataOf(text).some(isEnd);
}

// ------------------------------------------------------------------------------------------------ upstreams

const NOTE = ': note\n\n';
const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const finishes = fc.constantFrom(undefined, undefined, 'stop');

const chatFrames = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.nat(2), fc.constantFrom({}, { content: 'x' }), finishes) },
  { weight: 1, arbitrary: fc.constantFrom('data: [DONE]\n\n', NOTE, frame({ choices: [], usage: {} })) },
);
const chat = chatFrames.map((one) => {
  if (typeof one === 'string') return one;
  const [index, delta, finish] = one;
  return frame({ id: 'c', choices: [{ index, delta, finish_reason: finish ?? null }] });
});

const candidates = fc
  .tuple(
    fc.nat(2),
    fc.constantFrom([], [{ text: 'x' }], [{ functionCall: { name: 'f', args: {} } }]),
    finishes,
  )
  .map(([index, parts, finish]) => ({
    ...{ index, content: { role: 'model', parts } },
    ...(finish ? { finishReason: 'STOP' } : {}),
  }));
const generate = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.array(candidates, { minLength: 1, maxLength: 2 }), fc.constantFrom({}, { turnToken: 't' }))
      .map(([given, token]) => frame({ ...token, candidates: given })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      frame({ usageMetadata: { promptTokenCount: 3 } }),
      frame({ promptFeedback: { blockReason: 'SAFETY' } }),
      NOTE,
    ),
  },
);

const messageStart = (message: object) => ({ type: 'message_start', message: { id: 'm', ...message } });
const text = { type: 'text', text: '' };
const messages = fc
  .tuple(
    fc.constantFrom(
      messageStart({ content: [], stop_reason: null }),
      messageStart({ content: [], stop_reason: 'end_turn' }),
      messageStart({ content: [{ type: 'text', text: 'all of it' }], stop_reason: 'end_turn' }),
    ),
    fc.array(
      fc.constantFrom<JsonObject>(
        { type: 'content_block_start', index: 0, content_block: text },
        { type: 'content_block_start', index: 1, content_block: text },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'x' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_stop', index: 1 },
        { type: 'ping' },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ),
      { maxLength: 12 },
    ),
  )
  .map(([start, rest]) => [start, ...rest].map((event) => `event: ${textOf(event.type)}\n${frame(event)}`));

const item = { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] };
const responses = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom<JsonObject>(
        { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'x' },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.something.new', delta: 'x' },
      )
      .map(frame),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      frame({ type: 'response.completed', response: { status: 'completed', output: [item] } }),
      frame({ type: 'response.incomplete', response: { status: 'incomplete', output: [item] } }),
      'data: [DONE]\n\n',
    ),
  },
);

const listOf = (frames: fc.Arbitrary<string>) => fc.array(frames, { maxLength: 14 });
const UPSTREAMS: Record<DialectName, fc.Arbitrary<string[]>> = {
  'openai-chat': listOf(chat),
  'google-generate': listOf(generate),
  'anthropic-messages': messages,
  'openai-responses': listOf(responses),
};

// ------------------------------------------------------------------------------------------------ clients

interface Client {
  name: string;
  inbound: Inbound;
  isWhole(text: string, asked: number): boolean;
  jsonArray?: true;
  /** The format omits empty choices, so the client must ask for one only. */
  asksForOne?: true;
}

const CLIENTS: Client[] = [
  { name: 'openai-chat', inbound: DIALECTS['openai-chat'].inbound, isWhole: isWholeChat },
  { name: 'openai-responses', inbound: DIALECTS['openai-responses'].inbound, isWhole: isWholeResponses },
  { name: 'anthropic-messages', inbound: DIALECTS['anthropic-messages'].inbound, isWhole: isWholeMessages },
  { name: 'google-generate', inbound: DIALECTS['google-generate'].inbound, isWhole: isWholeGenerate },
  {
    name: 'google-generate as an array',
    inbound: DIALECTS['google-generate'].inbound,
    isWhole: isWholeGenerate,
    jsonArray: true,
  },
  { name: 'openai-completions', inbound: COMPLETIONS, isWhole: isWholeChat, asksForOne: true },
];

const request = (choices: number, { jsonArray }: Client): ChatRequest => ({
  ...{ model: 'm', stream: true, choices, messages: [], tools: [], stop: [], pointers: {}, extras: [] },
  shape: { usageInStream: true, ...(jsonArray ? { jsonArray } : {}) },
});

const PAIRS = Object.values(DIALECTS).flatMap(({ name: upstream, outbound }) =>
  CLIENTS.flatMap((client) =>
    [true, false]
      .filter((mirrored) => !mirrored || client.name === upstream)
      .map((mirrored) => ({
        ...{ upstream, outbound, client, mirrored },
        title: `${client.name} ${mirrored ? 'mirrored' : 'translated'} from ${upstream}`,
      })),
  ),
);

/** The stream without comments, which are dropped while the end is held back. */
const withoutNotes = (events: string) => events.replaceAll(NOTE, '');

function machineFor({ outbound, client, mirrored }: (typeof PAIRS)[number], asked: number): StreamMachine {
  const { streamEncoder, losses } = client.inbound;
  return new StreamMachine({
    choices: asked,
    decoder: outbound.streamDecoder(asked),
    dropUsageFrames: false,
    ...(mirrored ? {} : { encoder: { stream: streamEncoder(request(asked, client)), losses } }),
  });
}

describe.each(PAIRS)('$title', (pair) => {
  const { client, upstream, mirrored } = pair;
  const isAsked = upstream === 'openai-chat' || upstream === 'google-generate';
  const askedFor = fc.integer({ min: 1, max: isAsked && !client.asksForOne ? 3 : 1 });

  it('never relays a complete answer before the charge', () => {
    fc.assert(
      fc.property(UPSTREAMS[upstream], askedFor, fc.boolean(), (frames, asked, atOnce) => {
        const machine = machineFor(pair, asked);
        let left = '';
        for (const chunk of atOnce ? [frames.join('')] : frames) {
          left += String(machine.push(Buffer.from(chunk)));
          expect(client.isWhole(left, asked)).toBe(false);
        }
        left += String(machine.end());
        expect(client.isWhole(left, asked)).toBe(false);
        expect(machine.done).toBe(machine.failure === undefined);
        if (machine.done) expect(client.isWhole(left + String(machine.held), asked)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('finally relays everything, and holds back only events that may be the last', () => {
    fc.assert(
      fc.property(UPSTREAMS[upstream], askedFor, (frames, asked) => {
        const machine = machineFor(pair, asked);
        let [came, left] = ['', ''];
        for (const chunk of frames) {
          left += String(machine.push(Buffer.from(chunk)));
          if (machine.failure) return;
          came += chunk;
          const all = left + String(machine.held);
          if (mirrored) expect(withoutNotes(all)).toBe(withoutNotes(came));
          if (mirrored && !client.isWhole(came, asked)) expect(left).toBe(all);
          if (machine.relayed) expect(left).not.toBe('');
          if (machine.done) return;
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('the end of a stream', () => {
  const generateOf = (choices: number) =>
    new StreamMachine({
      choices,
      decoder: DIALECTS['google-generate'].outbound.streamDecoder(choices),
      dropUsageFrames: false,
    });
  const frameWith = (candidate: object, more: object = {}) =>
    Buffer.from(frame({ ...more, candidates: [{ index: 0, ...candidate }] }));
  const WORDS = { content: { role: 'model', parts: [{ text: 'all of it' }] } };

  it('is held back if the upstream gives fewer candidates than were asked for', () => {
    const machine = generateOf(2);
    expect(String(machine.push(frameWith({ ...WORDS, finishReason: 'STOP' })))).toBe('');
    expect(String(machine.end())).toBe('');
    expect([machine.done, machine.relayed, String(machine.held)]).toEqual([
      ...[true, false],
      expect.stringContaining('all of it'),
    ]);
  });

  it('is held back at each finish with server-side calls, and released when more content follows', () => {
    const machine = generateOf(1);
    const token = { turnToken: 't1' };
    const first = frameWith({ ...WORDS, finishReason: 'STOP' }, token);
    const more = frameWith(WORDS, token);
    expect(String(machine.push(first))).toBe('');
    expect(String(machine.push(more))).toBe(String(first) + String(more));
    expect(String(machine.push(first))).toBe('');
    machine.end();
    expect([machine.done, String(machine.held)]).toEqual([true, String(first)]);
  });

  it('counts no content as relayed while the only content is held back', () => {
    const decoder = DIALECTS['openai-chat'].outbound.streamDecoder(1);
    const machine = new StreamMachine({ choices: 1, decoder, dropUsageFrames: false });
    const role = frame({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant' } }] });
    const rest = frame({ id: 'c', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] });
    expect(String(machine.push(Buffer.from(role + rest)))).toBe(role);
    expect([machine.content, machine.relayed]).toEqual([true, false]);
  });

  it('is a failure if it comes after a finish and more content, without another finish', () => {
    const machine = generateOf(1);
    machine.push(frameWith({ ...WORDS, finishReason: 'STOP' }, { turnToken: 't1' }));
    machine.push(frameWith(WORDS, { turnToken: 't1' }));
    machine.end();
    expect([machine.done, machine.failure?.code]).toEqual([false, 'upstream_failed']);
  });

  it('is held back at each picture until more follows, and fails after one of two pictures', () => {
    const machine = new EventMachine({ endEvents: ['image_generation.completed'], answers: 2 });
    const picture = frame({ type: 'image_generation.completed', b64_json: 'QUJD' });
    const sketch = frame({ type: 'image_generation.partial_image', b64_json: 'QUI=' });
    expect(String(machine.push(Buffer.from(picture)))).toBe('');
    expect(String(machine.push(Buffer.from(sketch)))).toBe(picture + sketch);
    expect(String(machine.push(Buffer.from(picture)))).toBe('');
    machine.end();
    expect([machine.done, String(machine.held)]).toEqual([true, picture]);
    const half = new EventMachine({ endEvents: ['image_generation.completed'], answers: 2 });
    expect(String(half.push(Buffer.from(picture)))).toBe('');
    expect(String(half.end())).toBe('');
    expect(half.failure?.code).toBe('upstream_failed');
  });
});
