/** The four chat formats as the benchmark speaks them: requests of its clients, answers of its upstream. */

export const FORMATS = ['chat', 'responses', 'messages', 'generative'] as const;
export type Format = (typeof FORMATS)[number];

/** Words of a whole answer. */
const WORDS = 200;
const CREATED_AT = 1_790_000_000;
const PROMPT_TOKENS = 12;

/** The content of a request, before it is put into a format. */
export interface Question {
  model: string;
  stream: boolean;
  /** Texts of the turns, of the user and the assistant in turn; the last one is of the user. */
  turns: readonly string[];
  /** Number of tools with a schema. */
  tools: number;
  /** Base64 of a picture in the last turn. */
  picture?: string;
}

/** One format: how requests look, and how the upstream answers. */
interface Dialect {
  path(question: Question): string;
  body(question: Question): object;
  /** The whole answer. */
  whole: object;
  /** The first events of a streamed answer, one event with a word, and the last events. */
  opening: string;
  word: string;
  ending: string;
  /** Occurs only at the end of a complete answer. */
  wholeEnd: string;
  streamEnd: string;
}

const text = 'word '.repeat(WORDS);
const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const named = (data: { type: string; [member: string]: unknown }): string => event(data, data.type);

/** The schema of a tool, about as long as that of an agent's file tools. */
const parameters = {
  type: 'object',
  properties: Object.fromEntries(
    ['path', 'pattern', 'content', 'offset', 'limit'].map((name) => [
      name,
      { type: 'string', description: `The ${name} that this tool uses. ${'It is required. '.repeat(8)}` },
    ]),
  ),
  required: ['path'],
};
const description = 'Reads or writes a file of the project, and says what happened. '.repeat(4);
const tools = <Tool>(count: number, make: (name: string) => Tool): Tool[] =>
  Array.from({ length: count }, (_, at) => make(`tool_${at}`));
const roleOf = (at: number): 'user' | 'assistant' => (at % 2 === 0 ? 'user' : 'assistant');
const isLast = (question: Question, at: number): boolean => at === question.turns.length - 1;

const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: WORDS, total_tokens: PROMPT_TOKENS + WORDS };
const chatChunk = (choices: object[], more = {}): string =>
  event({
    ...{ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: CREATED_AT, model: 'bench' },
    ...{ choices, ...more },
  });
const chatDelta = (delta: object, finish: string | null): string =>
  chatChunk([{ index: 0, delta, finish_reason: finish }]);

const chat: Dialect = {
  path: () => '/v1/chat/completions',
  body: (question) => ({
    model: question.model,
    messages: question.turns.map((turn, at) => ({
      role: roleOf(at),
      content:
        isLast(question, at) && question.picture !== undefined
          ? [
              { type: 'text', text: turn },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${question.picture}` } },
            ]
          : turn,
    })),
    ...(question.tools > 0 && {
      tools: tools(question.tools, (name) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    ...(question.stream && { stream: true }),
  }),
  whole: {
    ...{ id: 'chatcmpl-bench', object: 'chat.completion', created: CREATED_AT, model: 'bench' },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage,
  },
  opening: chatDelta({ role: 'assistant', content: '' }, null),
  word: chatDelta({ content: 'word ' }, null),
  ending: `${chatDelta({}, 'stop')}${chatChunk([], { usage })}data: [DONE]\n\n`,
  wholeEnd: '"finish_reason":"stop"',
  streamEnd: '[DONE]',
};

const responseUsage = {
  input_tokens: PROMPT_TOKENS,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: WORDS,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: PROMPT_TOKENS + WORDS,
};
const message = (content: object[], status: string): object => ({
  ...{ id: 'msg_bench', type: 'message', role: 'assistant', status, content },
});
const outputText = (value: string): object => ({ type: 'output_text', text: value, annotations: [] });
const response = (status: string, output: object[]): object => ({
  ...{ id: 'resp_bench', object: 'response', created_at: CREATED_AT, model: 'bench', status, output },
  usage: status === 'completed' ? responseUsage : null,
});
const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 };

const responses: Dialect = {
  path: () => '/v1/responses',
  body: (question) => ({
    model: question.model,
    store: false,
    input: question.turns.map((turn, at) => ({
      role: roleOf(at),
      content: [
        { type: at % 2 === 0 ? 'input_text' : 'output_text', text: turn },
        ...(isLast(question, at) && question.picture !== undefined
          ? [{ type: 'input_image', image_url: `data:image/png;base64,${question.picture}` }]
          : []),
      ],
    })),
    ...(question.tools > 0 && {
      tools: tools(question.tools, (name) => ({
        ...{ type: 'function', name, description, parameters, strict: false },
      })),
    }),
    ...(question.stream && { stream: true }),
  }),
  whole: response('completed', [message([outputText(text)], 'completed')]),
  opening:
    named({ type: 'response.created', response: response('in_progress', []) }) +
    named({ type: 'response.output_item.added', output_index: 0, item: message([], 'in_progress') }) +
    named({ type: 'response.content_part.added', ...place, part: outputText('') }),
  word: named({ type: 'response.output_text.delta', ...place, delta: 'word ' }),
  ending:
    named({ type: 'response.output_text.done', ...place, text }) +
    named({ type: 'response.content_part.done', ...place, part: outputText(text) }) +
    named({
      type: 'response.output_item.done',
      output_index: 0,
      item: message([outputText(text)], 'completed'),
    }) +
    named({
      type: 'response.completed',
      response: response('completed', [message([outputText(text)], 'completed')]),
    }),
  wholeEnd: '"status":"completed"',
  streamEnd: 'response.completed',
};

const messageUsage = { input_tokens: PROMPT_TOKENS, output_tokens: WORDS };
const messages: Dialect = {
  path: () => '/v1/messages',
  body: (question) => ({
    model: question.model,
    max_tokens: 4_096,
    messages: question.turns.map((turn, at) => ({
      role: roleOf(at),
      content:
        isLast(question, at) && question.picture !== undefined
          ? [
              { type: 'text', text: turn },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: question.picture } },
            ]
          : turn,
    })),
    ...(question.tools > 0 && {
      tools: tools(question.tools, (name) => ({ name, description, input_schema: parameters })),
    }),
    ...(question.stream && { stream: true }),
  }),
  whole: {
    ...{ id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' },
    content: [{ type: 'text', text }],
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: messageUsage },
  },
  opening:
    named({
      type: 'message_start',
      message: {
        ...{ id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', content: [] },
        ...{ stop_reason: null, stop_sequence: null, usage: { ...messageUsage, output_tokens: 1 } },
      },
    }) + named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  word: named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } }),
  ending:
    named({ type: 'content_block_stop', index: 0 }) +
    named({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: WORDS },
    }) +
    named({ type: 'message_stop' }),
  wholeEnd: '"stop_reason":"end_turn"',
  streamEnd: 'message_stop',
};

const usageMetadata = {
  ...{ promptTokenCount: PROMPT_TOKENS, candidatesTokenCount: WORDS },
  totalTokenCount: PROMPT_TOKENS + WORDS,
};
const candidate = (value: string, finish?: string): object => ({
  ...{ content: { role: 'model', parts: [{ text: value }] }, index: 0 },
  ...(finish !== undefined && { finishReason: finish }),
});
const generative: Dialect = {
  path: ({ model, stream }) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (question) => ({
    contents: question.turns.map((turn, at) => ({
      role: at % 2 === 0 ? 'user' : 'model',
      parts: [
        { text: turn },
        ...(isLast(question, at) && question.picture !== undefined
          ? [{ inlineData: { mimeType: 'image/png', data: question.picture } }]
          : []),
      ],
    })),
    ...(question.tools > 0 && {
      tools: [
        {
          functionDeclarations: tools(question.tools, (name) => ({
            ...{ name, description, parametersJsonSchema: parameters },
          })),
        },
      ],
    }),
  }),
  whole: { candidates: [candidate(text, 'STOP')], usageMetadata, modelVersion: 'bench' },
  opening: '',
  word: event({ candidates: [candidate('word ')], modelVersion: 'bench' }),
  ending: event({ candidates: [candidate('', 'STOP')], usageMetadata, modelVersion: 'bench' }),
  wholeEnd: '"STOP"',
  streamEnd: '"STOP"',
};

/** The formats by name. */
export const DIALECTS: Readonly<Record<Format, Dialect>> = { chat, responses, messages, generative };

/** The format of a request by its path. */
export function formatOf(path: string): Format {
  if (path.startsWith('/v1beta/')) return 'generative';
  if (path.startsWith('/v1/messages')) return 'messages';
  return path.startsWith('/v1/responses') ? 'responses' : 'chat';
}
