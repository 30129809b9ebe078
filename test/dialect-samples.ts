/**
 * Generates canonical requests and answers for tests of dialects, and extracts what every format must keep.
 */
import fc from 'fast-check';
import type {
  Block,
  ChatRequest,
  ChatResponse,
  FinishReason,
  Message,
  Part,
  Tool,
} from '../data-plane/dialects/canonical.ts';
import type { RequestPath } from '../data-plane/dialects/dialect.ts';
import { parseObject } from '../data-plane/dialects/fields.ts';

/** A request without content, for which answers are encoded. */
export const BARE_REQUEST: ChatRequest = {
  model: 'm',
  stream: true,
  choices: 1,
  messages: [],
  tools: [],
  stop: [],
  pointers: {},
  extras: [],
  shape: { usageInStream: true },
};

/** Model, verb and query of a path, as the server reads them. */
export function pathOf(path: string): RequestPath {
  const url = new URL(path, 'http://gateway');
  const [, model, verb] = /models\/(.+):([a-zA-Z]+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
  const stream = verb?.startsWith('stream') ?? false;
  return { ...(model === undefined ? {} : { model, stream }), query: url.searchParams };
}

const word = fc.stringMatching(/^[a-z][a-z0-9_]{2,12}$/);
/** Text of any script, without white space at its ends, because formats join texts differently. */
const prose = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .map((text) => text.trim())
  .filter((text) => text !== '' && !/\r/.test(text));
const json = fc.dictionary(
  word,
  fc.oneof(prose, fc.integer(), fc.boolean(), fc.constant(null), fc.array(prose)),
);

const calls = fc
  .uniqueArray(fc.record({ id: fc.stringMatching(/^call_[a-zA-Z0-9]{6,12}$/), name: word, input: json }), {
    maxLength: 3,
    selector: ({ id }) => id,
  })
  .map((list) =>
    list.map(({ id, name, input }) => ({
      kind: 'tool-call' as const,
      id,
      name,
      text: JSON.stringify(input),
    })),
  );

const ID_LENGTH = 13;
const count = fc.nat(100_000);
const tokens = fc
  .tuple(count, count, count, count)
  .map(([fresh, cached, visible, reasoning]) => ({
    input: fresh + cached,
    output: visible + reasoning,
    cached,
    reasoning,
  }));

/** One choice with the blocks that every format has, in the order in which models send them. */
const choice = fc
  .record({
    reasoning: fc.option(prose),
    text: fc.option(prose),
    calls,
    finish: fc.constantFrom<FinishReason>('stop', 'length', 'filter'),
  })
  .map((sample) => {
    const blocks: Block[] = [
      ...(sample.reasoning === null ? [] : [{ kind: 'reasoning' as const, text: sample.reasoning }]),
      ...(sample.text === null ? [] : [{ kind: 'text' as const, text: sample.text }]),
      ...sample.calls,
    ];
    const finish: FinishReason = sample.calls.length > 0 && sample.finish === 'stop' ? 'tool' : sample.finish;
    return { blocks, finish };
  });

/** Generates answers with this many choices. */
export function responses(choices: number): fc.Arbitrary<ChatResponse> {
  const list = fc.array(choice, { minLength: choices, maxLength: choices });
  return fc.record({
    id: fc.stringMatching(/^[a-z]{4}_[a-zA-Z0-9]{8}$/),
    model: word,
    choices: list,
    tokens,
  });
}

/**
 * Parts of an answer that every format must keep. Some formats do not distinguish filter and refusal, and
 * some add a prefix to ids.
 */
export function meaningOfResponse({ choices, tokens: counted, id, model }: ChatResponse): unknown {
  return {
    id: id.slice(-ID_LENGTH),
    model,
    // Some formats omit counts of zero.
    tokens: Object.values(counted).map((value) => value ?? 0),
    choices: choices.map(({ blocks, finish }) => ({
      thinking: joined(blocks, 'reasoning'),
      said: joined(blocks, 'text') + joined(blocks, 'refusal'),
      calls: blocks.flatMap((block) =>
        block.kind === 'tool-call'
          ? [{ id: block.id, name: block.name, input: parseObject(block.text) }]
          : [],
      ),
      finish: finish === 'refusal' ? 'filter' : finish,
    })),
  };
}

function joined(blocks: Block[], kind: Block['kind']): string {
  return blocks
    .filter((block) => block.kind === kind)
    .map(({ text }) => text)
    .join('');
}

const tool = fc
  .record({ name: word, description: prose, field: word })
  .map(({ name, description, field }): Tool => ({
    kind: 'function',
    name,
    description,
    at: '/tools',
    parameters: {
      type: 'object',
      properties: { [field]: { type: 'string', description: 'what' } },
      required: [field],
    },
  }));

/** A question, tool calls with their results, and a last message of the user. */
const conversation = fc
  .record({
    system: fc.option(prose),
    question: prose,
    calls,
    results: fc.array(prose),
    last: prose,
    answer: prose,
  })
  .map((sample) => {
    const text = (value: string): Part => ({ kind: 'text', text: value, at: '/text' });
    const messages: Message[] = [
      ...(sample.system === null
        ? []
        : [{ role: 'system' as const, parts: [text(sample.system)], at: '/system' }]),
      { role: 'user', parts: [text(sample.question)], at: '/messages/0' },
      {
        role: 'assistant',
        at: '/messages/1',
        parts: [text(sample.answer), ...sample.calls.map((call) => ({ ...call, at: '/call' }))],
      },
      {
        role: 'user',
        at: '/messages/2',
        parts: [
          ...sample.calls.map(({ id, name }, index): Part => ({
            kind: 'tool-result',
            id,
            name,
            parts: [text(sample.results[index] ?? 'done')],
            at: '/result',
          })),
          text(sample.last),
        ],
      },
    ];
    return messages;
  });

/** Generates requests with everything that all formats have. */
export const requests: fc.Arbitrary<ChatRequest> = fc
  .record({
    messages: conversation,
    tools: fc.uniqueArray(tool, {
      maxLength: 3,
      selector: ({ at: _at, ...one }) => ('name' in one ? one.name : ''),
    }),
    stream: fc.boolean(),
    toolMode: fc.constantFrom('auto', 'none', 'required', 'first', undefined),
    maxOutputTokens: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
    topP: fc.option(fc.constantFrom(0.1, 1), { nil: undefined }),
    stop: fc.array(word, { maxLength: 2 }),
    seed: fc.option(fc.nat(1000), { nil: undefined }),
    hasSchema: fc.boolean(),
  })
  .map(({ toolMode, hasSchema, ...sample }) => {
    const [first] = sample.tools;
    const named = first && first.kind !== 'builtin' ? { name: first.name } : undefined;
    const chosen = toolMode === 'first' ? named : toolMode;
    const toolChoice = sample.tools.length === 0 ? undefined : chosen;
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const request: ChatRequest = {
      model: 'm',
      choices: 1,
      pointers: {},
      extras: [],
      shape: {},
      ...sample,
      ...(toolChoice ? { toolChoice } : {}),
      ...(hasSchema ? { format: { kind: 'schema' as const, schema } } : {}),
    };
    const names = ['toolChoice', 'maxOutputTokens', 'temperature', 'topP', 'seed', 'format'] as const;
    for (const name of names) if (request[name] !== undefined) request.pointers[name] = `/${name}`;
    if (request.stop.length > 0) request.pointers.stop = '/stop';
    return request;
  });

/**
 * Parts of a request that every format must keep. Only compares scalars that the original has (some formats
 * add values of their own) and that were not dropped.
 */
export function meaningOfRequest(
  request: ChatRequest,
  original: ChatRequest,
  dropped: readonly string[],
): unknown {
  const wanted = Object.keys(original.pointers);
  const names = ['toolChoice', 'maxOutputTokens', 'temperature', 'topP', 'seed', 'stop'] as const;
  return {
    system: textsOf(request.messages.filter(({ role }) => role === 'system' || role === 'developer')),
    said: request.messages
      .filter(({ role }) => role === 'user' || role === 'assistant')
      .flatMap(({ role, parts }) =>
        parts.flatMap((part) => meaningOfPart(part).map((meaning) => [role, meaning])),
      ),
    tools: request.tools.map((one) =>
      one.kind === 'function' ? [one.name, one.description, one.parameters] : one.kind,
    ),
    stream: request.stream,
    schema: request.format?.kind === 'schema' ? request.format.schema : undefined,
    scalars: names
      .filter((name) => wanted.includes(name) && !dropped.includes(`/${name}`))
      .map((name) => request[name]),
  };
}

function meaningOfPart(part: Part): unknown[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [part.text];
    case 'tool-call':
      return [{ id: part.id, name: part.name, input: parseObject(part.text) }];
    case 'tool-result':
      return [{ id: part.id, name: part.name, said: textsOf([part]) }];
    default:
      return [part.kind];
  }
}

function textsOf(holders: { parts: Part[] }[]): string {
  return holders
    .flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : '')))
    .join('\n');
}
