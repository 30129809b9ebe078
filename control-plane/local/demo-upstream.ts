/**
 * The demo upstream: a separate process that answers like a provider in every wire format, and marks each
 * answer as simulated. It serves until the first real upstream is configured.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type ChatCompletionRequest, type FixtureResponse, LLMock } from '@copilotkit/aimock';

/**
 * Speed of streams, slow enough to be seen as streams: first token in ms, tokens per second, relative jitter.
 */
const PACE = { ttft: 180, tps: 45, jitter: 0.3 };
const CHUNK_CHARACTERS = 6;
const QUOTE_MAX_CHARACTERS = 120;
/** How often the requests that the library keeps for tests are deleted: content must not be stored. */
const CLEAR_EVERY_MS = 1_000;
/** One red pixel as PNG. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SIMULATED_TRANSCRIPT = 'This is a simulated transcript: no speech was recognised.';

/** Starts the demo upstream on 127.0.0.1. Resolves when it listens; port 0 picks a free port. */
export async function startDemoUpstream(port: number): Promise<LLMock> {
  const mock = new LLMock({
    host: '127.0.0.1',
    port,
    logLevel: 'silent',
    journalMaxEntries: 1,
    chunkSize: CHUNK_CHARACTERS,
  });
  mock.on({ predicate: isChat }, answerChat, { streamingProfile: PACE });
  mock.on({ predicate: (request) => request._endpointType === 'image' }, { image: { b64Json: PIXEL } });
  mock.on({ predicate: (request) => request._endpointType === 'speech' }, { audio: tone(), format: 'wav' });
  mock.onTranscription({ transcription: { text: SIMULATED_TRANSCRIPT, language: 'english', duration: 1 } });
  mock.onTranslation({ transcription: { text: SIMULATED_TRANSCRIPT, language: 'english', duration: 1 } });
  mock.mount('/v1/rerank', { handleRequest: answerRerank });
  mock.mount('/v1/alpha/search', { handleRequest: answerSearch });
  await mock.start();
  return mock;
}

function isChat(request: ChatCompletionRequest): boolean {
  const endpoint = request._endpointType ?? 'chat';
  return endpoint === 'chat' || endpoint.startsWith('realtime');
}

/** A tool call or JSON if the request requires one, else a short text that quotes the user. */
function answerChat(request: ChatCompletionRequest): FixtureResponse {
  const tool = forcedTool(request);
  if (tool !== undefined) return { toolCalls: [{ name: tool, arguments: '{}' }] };
  const format = request.response_format?.type;
  if (format === 'json_object' || format === 'json_schema') {
    return {
      content: JSON.stringify({ simulated: true, note: 'The demo upstream answered, not an AI model.' }),
    };
  }
  const lastText = lastUserText(request);
  const quote = lastText ? ` You wrote: “${shorten(lastText)}”.` : '';
  return {
    content:
      `This is a simulated reply: no AI model has read your message.${quote} The request went through the ` +
      'gateway, was translated, billed and logged like any other. Add a real upstream in the console, and ' +
      'its model answers here.',
  };
}

function forcedTool(request: ChatCompletionRequest): string | undefined {
  const { tool_choice: choice, tools } = request;
  if (choice === 'required') return tools?.[0]?.function.name;
  if (typeof choice !== 'object') return undefined;
  const named = 'function' in choice ? choice.function : undefined;
  return typeof named === 'object' && named !== null && 'name' in named ? String(named.name) : undefined;
}

function lastUserText(request: ChatCompletionRequest): string {
  const content = request.messages.findLast((message) => message.role === 'user')?.content ?? '';
  if (typeof content === 'string') return content.trim();
  return content
    .map((part) => part.text ?? '')
    .join(' ')
    .trim();
}

function shorten(sentence: string): string {
  const letters = Array.from(sentence.replace(/\s+/g, ' '));
  return letters.length > QUOTE_MAX_CHARACTERS
    ? `${letters.slice(0, QUOTE_MAX_CHARACTERS).join('')}…`
    : letters.join('');
}

/** Ranks the documents by the share of the query's words that they contain. */
async function answerRerank(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const {
    query = '',
    documents = [],
    top_n: limit,
  } = JSON.parse(await text(request)) as {
    query?: string;
    documents?: (string | { text?: string })[];
    top_n?: number;
  };
  const words = new Set(query.toLowerCase().split(/\W+/).filter(Boolean));
  const results = documents.map((document, index) => {
    const found = new Set(
      (typeof document === 'string' ? document : (document.text ?? '')).toLowerCase().split(/\W+/),
    );
    return {
      index,
      relevance_score: [...words].filter((word) => found.has(word)).length / Math.max(words.size, 1),
    };
  });
  results.sort((one, other) => other.relevance_score - one.relevance_score);
  return sendJson(response, { id: 'simulated', results: results.slice(0, limit ?? results.length) });
}

async function answerSearch(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  await text(request);
  return sendJson(response, {
    output: 'This is a simulated search: the demo upstream has not looked anything up.',
    results: [],
  });
}

function sendJson(response: ServerResponse, body: object): boolean {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
  return true;
}

/** Half a second of 440 Hz as WAV (mono, 8 kHz, 8 bits), in base64. */
function tone(): string {
  const rate = 8_000;
  const samples = Buffer.from(
    Array.from(
      { length: rate / 2 },
      (_, at) => 128 + Math.round(40 * Math.sin((2 * Math.PI * 440 * at) / rate)),
    ),
  );
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]).toString('base64');
}

/** The program `demo-upstream.js <port>`, started by the supervisor. Exits when the supervisor is gone. */
async function main(): Promise<void> {
  const mock = await startDemoUpstream(Number(process.argv[2]));
  setInterval(() => {
    mock.clearRequests();
  }, CLEAR_EVERY_MS);
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  process.send?.({ type: 'ready', port: mock.port });
}

if (import.meta.main) await main();
