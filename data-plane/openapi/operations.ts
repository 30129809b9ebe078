/** Descriptions of the rows of the endpoint table for the description of the API. */
import type { SchemaName } from './schemas.ts';

/** One operation. A row with verbs in its path has one for each verb. */
export interface Operation {
  id: string;
  summary: string;
  /** The path with its parameters, if it is not that of the row. */
  path?: string;
  request?: SchemaName;
  /** Shape of the answer; absent for media. */
  answer?: SchemaName;
  /** Content types of answers that are neither JSON nor events. */
  media?: readonly string[];
  /** Whether the answer may be a stream of events: always, or if the request asks for one. */
  streams?: 'always' | 'on-request';
  /** Whether the operation opens a WebSocket. */
  upgrades?: boolean;
  /** Whether it is about an object that an upstream stores, for models that store state. */
  isStored?: boolean;
}

/** An operation that answers as one JSON object, or as events if the request asks for a stream. */
function answering(operation: Pick<Operation, 'id' | 'request' | 'answer' | 'summary'>): Operation {
  return { ...operation, streams: 'on-request' };
}

/** The verbs of Google's models below `/v1beta` and `/v1`. */
function generative(version: 'v1beta' | 'v1'): Operation[] {
  const path = (verb: string): string => `/${version}/models/{model}:${verb}`;
  const id = (name: string): string => (version === 'v1beta' ? name : `${name}V1`);
  return [
    {
      ...{ id: id('generateContent'), path: path('generateContent'), request: 'GenerateRequest' },
      ...{ answer: 'GenerateAnswer', summary: 'Answers a conversation in Google’s format.' },
    },
    {
      ...{ id: id('streamGenerateContent'), path: path('streamGenerateContent'), request: 'GenerateRequest' },
      ...{ summary: 'Streams an answer; with `alt=sse` as events.', streams: 'always' },
    },
    {
      ...{
        id: id('countTokens'),
        path: path('countTokens'),
        request: 'CountRequest',
        answer: 'GenerateCount',
      },
      summary: 'Counts tokens for free.',
    },
    {
      ...{ id: id('embedContent'), path: path('embedContent'), request: 'EmbedContentRequest' },
      ...{ answer: 'EmbedContentAnswer', summary: 'Embeds one text.' },
    },
    {
      ...{ id: id('batchEmbedContents'), path: path('batchEmbedContents'), request: 'BatchEmbedRequest' },
      ...{ answer: 'BatchEmbedAnswer', summary: 'Embeds several texts.' },
    },
  ];
}

const rerank = (id: string): Operation => ({
  ...{ id, request: 'RerankRequest', answer: 'RerankAnswer', summary: 'Orders documents by relevance.' },
});
const recording = (id: string, summary: string): Operation => ({
  ...{ id, summary, request: 'RecordingForm', answer: 'TranscriptAnswer' },
  ...{ media: ['text/plain'], streams: 'on-request' },
});

/** An operation on an object that an upstream stores. */
function stored(id: string, path: string, summary: string): Operation {
  return { id, path, summary, answer: 'StoredObject', isStored: true };
}

const RESPONSE = '/v1/responses/{id}';
const CONVERSATION = '/v1/conversations/{id}';

/** Operations on cached contents below `/v1beta` and `/v1`. */
function cachedContents(version: 'v1beta' | 'v1'): Record<string, readonly Operation[]> {
  const path = `/${version}/cachedContents`;
  const one = `${path}/{id}`;
  const id = (name: string): string => (version === 'v1beta' ? name : `${name}V1`);
  const request = 'CachedContentRequest';
  return {
    [`POST ${path}`]: [{ ...stored(id('createCache'), path, 'Caches contents.'), request }],
    [`GET ${path}/*`]: [stored(id('getCache'), one, 'Returns cached contents.')],
    [`PATCH ${path}/*`]: [{ ...stored(id('changeCache'), one, 'Changes cached contents.'), request }],
    [`DELETE ${path}/*`]: [stored(id('deleteCache'), one, 'Deletes cached contents.')],
  };
}

/** The operations of every row that does more than answer 501, by method and path of the row. */
export const OPERATIONS: Readonly<Record<string, readonly Operation[]>> = {
  'POST /v1/chat/completions': [
    answering({
      id: 'chatCompletions',
      request: 'ChatRequest',
      answer: 'ChatAnswer',
      summary: 'Answers a conversation in the chat completions format.',
    }),
  ],
  'POST /v1/messages': [
    answering({
      id: 'messages',
      request: 'MessagesRequest',
      answer: 'MessagesAnswer',
      summary: 'Answers a conversation in the messages format.',
    }),
  ],
  'POST /v1/responses': [
    answering({
      id: 'responses',
      request: 'ResponsesRequest',
      answer: 'ResponsesAnswer',
      summary: 'Answers a conversation in the responses format.',
    }),
  ],
  'POST /v1/responses/compact': [
    {
      ...{ id: 'compact', request: 'ResponsesRequest', answer: 'CompactAnswer' },
      summary: 'Compacts a conversation of the responses format.',
    },
  ],
  'POST /v1/completions': [
    answering({
      id: 'completions',
      request: 'CompletionRequest',
      answer: 'CompletionAnswer',
      summary: 'Continues a text (legacy).',
    }),
  ],
  'POST /v1/embeddings': [
    { id: 'embeddings', request: 'EmbeddingsRequest', answer: 'EmbeddingsAnswer', summary: 'Embeds texts.' },
  ],
  'POST /v2/embed': [
    {
      ...{ id: 'cohereEmbed', request: 'CohereEmbedRequest', answer: 'CohereEmbedAnswer' },
      summary: 'Embeds texts in Cohere’s format.',
    },
  ],
  'POST /v1/audio/transcriptions': [recording('transcriptions', 'Writes down a recording.')],
  'POST /v1/audio/translations': [recording('translations', 'Translates a recording into English.')],
  'POST /v1/audio/speech': [
    {
      ...{ id: 'speech', request: 'SpeechRequest', summary: 'Speaks a text.' },
      ...{ media: ['audio/*'], streams: 'on-request' },
    },
  ],
  'POST /v1/images/generations': [
    answering({
      id: 'imageGenerations',
      request: 'ImageRequest',
      answer: 'ImageAnswer',
      summary: 'Makes pictures from a text.',
    }),
  ],
  'POST /v1/images/edits': [
    answering({
      id: 'imageEdits',
      request: 'ImageEditForm',
      answer: 'ImageAnswer',
      summary: 'Changes pictures.',
    }),
  ],
  'POST /v1/rerank': [rerank('rerank')],
  'POST /v2/rerank': [rerank('rerankV2')],
  'POST /v1/moderations': [
    { id: 'moderations', request: 'ModerationRequest', answer: 'ModerationAnswer', summary: 'Judges texts.' },
  ],
  'POST /v1/alpha/search': [
    {
      id: 'search',
      request: 'SearchRequest',
      answer: 'SearchAnswer',
      summary: 'Searches the web for an agent.',
    },
  ],
  'GET /v1/realtime': [
    {
      ...{ id: 'realtime', upgrades: true },
      summary: 'Opens a realtime session as a WebSocket. The query `model` names the model.',
    },
  ],
  'POST /v1beta/models/*': generative('v1beta'),
  'POST /v1/models/*': generative('v1'),
  'POST /v1/messages/count_tokens': [
    {
      ...{ id: 'countMessagesTokens', request: 'MessagesRequest', answer: 'MessagesCount' },
      summary: 'Counts the tokens of a messages request for free.',
    },
  ],
  'POST /v1/responses/input_tokens': [
    {
      ...{ id: 'countResponsesTokens', request: 'ResponsesRequest', answer: 'ResponsesCount' },
      summary: 'Counts the tokens of a responses request for free.',
    },
  ],
  'GET /v1/models': [
    { id: 'listModels', answer: 'ModelList', summary: 'Lists the models in the style of the key’s header.' },
  ],
  'GET /v1/models/*': [
    { id: 'getModel', path: '/v1/models/{model}', answer: 'Model', summary: 'Returns one model.' },
  ],
  'GET /v1beta/models': [
    { id: 'listGoogleModels', answer: 'GoogleModelList', summary: 'Lists the models in Google’s style.' },
  ],
  'GET /v1beta/models/*': [
    {
      ...{ id: 'getGoogleModel', path: '/v1beta/models/{model}', answer: 'GoogleModel' },
      summary: 'Returns one model in Google’s style.',
    },
  ],
  'GET /v1/responses/*': [
    stored('getResponse', RESPONSE, 'Returns a stored response.'),
    stored('listInputItems', `${RESPONSE}/input_items`, 'Lists the input of a stored response.'),
  ],
  'DELETE /v1/responses/*': [stored('deleteResponse', RESPONSE, 'Deletes a stored response.')],
  'POST /v1/responses/*': [
    stored(
      'cancelResponse',
      `${RESPONSE}/cancel`,
      'Always refuses: responses in the background are not offered.',
    ),
  ],
  'POST /v1/conversations': [
    {
      ...stored('createConversation', '/v1/conversations', 'Creates a conversation.'),
      request: 'ConversationRequest',
    },
  ],
  'GET /v1/conversations/*': [
    stored('getConversation', CONVERSATION, 'Returns a conversation.'),
    stored('listItems', `${CONVERSATION}/items`, 'Lists the items of a conversation.'),
    stored('getItem', `${CONVERSATION}/items/{item}`, 'Returns one item of a conversation.'),
  ],
  'POST /v1/conversations/*': [
    {
      ...stored('changeConversation', CONVERSATION, 'Changes a conversation.'),
      request: 'ConversationRequest',
    },
    {
      ...stored('addItems', `${CONVERSATION}/items`, 'Adds items to a conversation.'),
      request: 'ConversationRequest',
    },
  ],
  'DELETE /v1/conversations/*': [
    stored('deleteConversation', CONVERSATION, 'Deletes a conversation.'),
    stored('deleteItem', `${CONVERSATION}/items/{item}`, 'Deletes one item of a conversation.'),
  ],
  ...cachedContents('v1beta'),
  ...cachedContents('v1'),
  'GET /v1/responses': [
    {
      ...{ id: 'responsesSocket', upgrades: true },
      summary: 'Always answers 426: sessions over a WebSocket are not offered on this path.',
    },
  ],
};
