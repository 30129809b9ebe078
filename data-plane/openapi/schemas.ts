/**
 * Schemas of requests and answers in `GET /openapi.json`. A schema lists the members that every client can
 * rely on. The wire format defines further members; `externalDocs` has the address of its documentation.
 */
import type { JsonObject } from '../dialects/fields.ts';

const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const OBJECTS = { type: 'array', items: { type: 'object' } } as const;
const ANY = {} as const;

/** The schema of an object: its members, and the names of those that are required. */
function object(properties: JsonObject, required: readonly string[], docs?: string): JsonObject {
  const externalDocs = docs === undefined ? {} : { externalDocs: { url: docs } };
  return { type: 'object', properties, required: [...required], ...externalDocs };
}

const PLATFORM = 'https://platform.openai.com/docs/api-reference';
const CLAUDE = 'https://platform.claude.com/docs/en/api';
const GOOGLE = 'https://ai.google.dev/api';
const COHERE = 'https://docs.cohere.com/reference';

const MODEL = { type: 'string', description: 'A name of the catalog.' } as const;
const CHAT_REQUEST = {
  model: MODEL,
  messages: { type: 'array', items: { type: 'object' } },
  stream: { type: 'boolean' },
};
const CONTENTS = { description: 'A text, one content or a list of contents.' };

const REQUESTS = {
  ChatRequest: object(CHAT_REQUEST, ['model', 'messages'], `${PLATFORM}/chat/create`),
  CompletionRequest: object(
    { model: MODEL, prompt: ANY },
    ['model', 'prompt'],
    `${PLATFORM}/completions/create`,
  ),
  MessagesRequest: object(
    { ...CHAT_REQUEST, max_tokens: { type: 'integer', minimum: 1 } },
    ['model', 'messages'],
    `${CLAUDE}/messages`,
  ),
  ResponsesRequest: object({ model: MODEL, input: ANY }, ['model', 'input'], `${PLATFORM}/responses/create`),
  GenerateRequest: object({ contents: CONTENTS }, ['contents'], `${GOOGLE}/generate-content`),
  CountRequest: object(
    { contents: CONTENTS, generateContentRequest: { type: 'object' } },
    [],
    `${GOOGLE}/tokens`,
  ),
  EmbeddingsRequest: object(
    { model: MODEL, input: ANY },
    ['model', 'input'],
    `${PLATFORM}/embeddings/create`,
  ),
  EmbedContentRequest: object({ content: { type: 'object' } }, ['content'], `${GOOGLE}/embeddings`),
  BatchEmbedRequest: object({ requests: ANY }, ['requests'], `${GOOGLE}/embeddings`),
  CohereEmbedRequest: object(
    { model: MODEL, texts: { type: 'array', items: TEXT } },
    ['model'],
    `${COHERE}/embed`,
  ),
  RerankRequest: object(
    { model: MODEL, query: TEXT, documents: { type: 'array', minItems: 1 }, top_n: COUNT },
    ['model', 'query', 'documents'],
    `${COHERE}/rerank`,
  ),
  ModerationRequest: object(
    { model: MODEL, input: ANY },
    ['model', 'input'],
    `${PLATFORM}/moderations/create`,
  ),
  SpeechRequest: object(
    { model: MODEL, input: TEXT, voice: TEXT },
    ['model', 'input'],
    `${PLATFORM}/audio/createSpeech`,
  ),
  RecordingForm: object(
    { model: MODEL, file: { type: 'string', format: 'binary' } },
    ['model', 'file'],
    `${PLATFORM}/audio`,
  ),
  ImageRequest: object(
    { model: MODEL, prompt: TEXT, n: COUNT },
    ['model', 'prompt'],
    `${PLATFORM}/images/create`,
  ),
  ImageEditForm: object(
    { model: MODEL, prompt: TEXT, image: { type: 'string', format: 'binary' } },
    ['model', 'prompt'],
    `${PLATFORM}/images/createEdit`,
  ),
  ConversationRequest: object({ items: OBJECTS, metadata: { type: 'object' } }, []),
  CachedContentRequest: object({ model: MODEL, contents: CONTENTS }, [], `${GOOGLE}/caching`),
  SearchRequest: object(
    { model: MODEL, commands: { type: 'object' } },
    ['model'],
    'https://github.com/openai/codex',
  ),
};

const USAGE = object({ input_tokens: COUNT, output_tokens: COUNT }, ['input_tokens', 'output_tokens']);
const STREAM = { type: 'string', description: 'Server-sent events.' };

const ANSWERS = {
  StoredObject: { type: 'object', description: 'The object of the provider, with ids of the gateway.' },
  ChatAnswer: object(
    {
      id: TEXT,
      object: { const: 'chat.completion' },
      model: MODEL,
      choices: {
        type: 'array',
        items: object({ index: COUNT, message: { type: 'object' }, finish_reason: TEXT }, [
          'message',
          'finish_reason',
        ]),
      },
    },
    ['id', 'object', 'model', 'choices'],
  ),
  CompletionAnswer: object(
    {
      id: TEXT,
      object: { const: 'text_completion' },
      model: MODEL,
      choices: { type: 'array', items: object({ text: TEXT, finish_reason: TEXT }, ['text']) },
    },
    ['id', 'object', 'model', 'choices'],
  ),
  MessagesAnswer: object(
    {
      id: TEXT,
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: MODEL,
      content: OBJECTS,
      usage: USAGE,
    },
    ['id', 'type', 'role', 'model', 'content', 'usage'],
  ),
  ResponsesAnswer: object(
    { id: TEXT, object: { const: 'response' }, model: MODEL, status: TEXT, output: OBJECTS },
    ['id', 'object', 'model', 'status', 'output'],
  ),
  CompactAnswer: object({ id: TEXT, object: { const: 'response.compaction' }, output: OBJECTS }, [
    'object',
    'output',
  ]),
  GenerateAnswer: object({ candidates: OBJECTS, modelVersion: MODEL, responseId: TEXT }, ['candidates']),
  EmbeddingsAnswer: object(
    {
      object: { const: 'list' },
      model: MODEL,
      data: {
        type: 'array',
        items: object({ index: COUNT, embedding: { type: ['array', 'string'] } }, ['embedding']),
      },
    },
    ['data'],
  ),
  EmbedContentAnswer: object(
    { embedding: object({ values: { type: 'array', items: { type: 'number' } } }, ['values']) },
    ['embedding'],
  ),
  BatchEmbedAnswer: object(
    { embeddings: { type: 'array', items: object({ values: { type: 'array' } }, ['values']) } },
    ['embeddings'],
  ),
  CohereEmbedAnswer: object(
    { id: TEXT, embeddings: { type: 'object' }, texts: { type: 'array', items: TEXT }, response_type: TEXT },
    ['id', 'embeddings', 'texts', 'response_type'],
  ),
  RerankAnswer: object(
    {
      results: {
        type: 'array',
        items: object({ index: COUNT, relevance_score: { type: 'number' } }, ['index', 'relevance_score']),
      },
    },
    ['results'],
  ),
  ModerationAnswer: object({ results: OBJECTS }, ['results']),
  TranscriptAnswer: object({ text: TEXT }, ['text']),
  ImageAnswer: object({ data: OBJECTS }, ['data']),
  SearchAnswer: object({ output: TEXT }, ['output']),
  MessagesCount: object({ input_tokens: COUNT }, ['input_tokens']),
  ResponsesCount: object({ object: { const: 'response.input_tokens' }, input_tokens: COUNT }, [
    'object',
    'input_tokens',
  ]),
  GenerateCount: object({ totalTokens: COUNT }, ['totalTokens']),
  ModelList: {
    oneOf: [
      object({ object: { const: 'list' }, data: OBJECTS }, ['object', 'data']),
      object({ data: OBJECTS, has_more: { type: 'boolean' } }, ['data', 'has_more']),
      object({ models: OBJECTS }, ['models']),
    ].map((schema, index) => (index === 1 ? { ...schema, not: { required: ['object'] } } : schema)),
  },
  Model: object({ id: TEXT, name: TEXT, object: TEXT }, []),
  GoogleModelList: object({ models: OBJECTS }, ['models']),
  GoogleModel: object({ name: { type: 'string', pattern: '^models/' } }, ['name']),
};

/** The error bodies of the wire formats. https://www.rfc-editor.org/rfc/rfc9110#section-15 */
const ERRORS = {
  OpenAiError: object(
    {
      error: object(
        {
          message: TEXT,
          type: TEXT,
          param: { type: ['string', 'null'] },
          code: { type: ['string', 'null'] },
        },
        ['message', 'type', 'code'],
      ),
    },
    ['error'],
  ),
  MessagesError: object(
    { type: { const: 'error' }, error: object({ type: TEXT, message: TEXT }, ['type', 'message']) },
    ['type', 'error'],
  ),
  GoogleError: object(
    {
      error: object({ code: { type: 'integer' }, message: TEXT, status: TEXT }, [
        'code',
        'message',
        'status',
      ]),
    },
    ['error'],
  ),
};

/** All shapes by name. */
export const SCHEMAS = { ...REQUESTS, ...ANSWERS, ...ERRORS, Events: STREAM };
export type SchemaName = keyof typeof SCHEMAS;
