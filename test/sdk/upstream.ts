/**
 * A mock of the four providers' APIs that is independent of the gateway, behind a proxy that records every
 * request.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import {
  CITY,
  CITY_PROMPT,
  PICTURE_PROMPT,
  SEEN,
  TEXT,
  TOOL_INPUT,
  TOOL_NAME,
  WEATHER,
  WEATHER_PROMPT,
} from './conversation.ts';

/** Token counts of every answer. */
export const USAGE = { input_tokens: 11, output_tokens: 7 };

/** One upstream format: its name in the API, the path of its base address, and the model routed to it. */
export interface UpstreamFormat {
  protocol: string;
  /** Appended to the upstream's origin. */
  prefix: string;
  model: string;
  /** Matches a request with `PICTURE`. */
  picture: RegExp;
  /** Matches a request for an object of a schema, also by a tool. */
  schema: RegExp;
}

/** The model that is routed to the generative-language upstream. */
export const GENERATIVE_MODEL = 'coder';

export const FORMATS: readonly UpstreamFormat[] = [
  {
    protocol: 'CHAT_COMPLETIONS',
    prefix: '/v1',
    model: 'swift',
    picture: /"image_url":\{"url":"data:image\/png;base64,iVBORw0/,
    schema:
      /"response_format":\{"type":"json_schema"|"tools":\[\{"type":"function","function":\{"name":"json"/,
  },
  {
    protocol: 'RESPONSES',
    prefix: '/v1',
    model: 'balanced',
    picture: /"type":"input_image",("detail":"auto",)?"image_url":"data:image\/png;base64,iVBORw0/,
    schema: /"format":\{"type":"json_schema"|"tools":\[\{"type":"function","name":"json"/,
  },
  {
    protocol: 'MESSAGES',
    prefix: '/v1',
    model: 'flagship',
    picture: /"type":"base64","media_type":"image\/png","data":"iVBORw0/,
    schema: /"output_config":\{"format":\{"type":"json_schema"|"tools":\[\{"name":"json"/,
  },
  {
    protocol: 'GENERATIVE_LANGUAGE',
    prefix: '/v1beta',
    model: GENERATIVE_MODEL,
    picture: /"inlineData":\{"mimeType":"image\/png","data":"iVBORw0/,
    schema: /"response(Json)?Schema":\{|"functionDeclarations":\[\{"name":"json"/,
  },
];

export interface SeenByUpstream {
  path: string;
  body: string;
  /** Status of the answer; 0 before there is one. */
  status: number;
}

export interface SpeakingUpstream {
  origin: string;
  seen: SeenByUpstream[];
  stop(): Promise<void>;
}

export interface SpeakingOptions {
  /** Length of the pieces of streamed text, in characters. */
  pieceLength?: number;
  /** Adds the mock's answers; by default, those to the prompts of conversation.ts. */
  addAnswers?: (mock: LLMock) => void;
}

/** Starts mock and proxy on free ports of 127.0.0.1. */
export async function startSpeakingUpstream(options: SpeakingOptions = {}): Promise<SpeakingUpstream> {
  const { pieceLength = 5 } = options;
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', chunkSize: pieceLength });
  (options.addAnswers ?? addAnswers)(mock);
  await mock.start();
  const seen: SeenByUpstream[] = [];
  const proxy = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const path = request.url ?? '/';
      const body = Buffer.concat(pieces).toString('utf8');
      const entry: SeenByUpstream = { path, body, status: 0 };
      seen.push(entry);
      const headers = { 'content-type': 'application/json' };
      void fetch(mock.url + path, { method: 'POST', headers, body }).then(async (answer) => {
        const contentType = answer.headers.get('content-type') ?? 'application/json';
        entry.status = answer.status;
        response.writeHead(answer.status, { 'content-type': contentType });
        for await (const piece of answer.body ?? []) response.write(piece);
        response.end();
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    stop: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await mock.stop();
    },
  };
}

/** Adds the answers. The mock gives the first one whose condition holds. */
function addAnswers(mock: LLMock): void {
  const usage = USAGE;
  const call = { name: TOOL_NAME, arguments: JSON.stringify(TOOL_INPUT) };
  const object = JSON.stringify(CITY);
  mock.on({ predicate: hasToolResult }, { content: WEATHER, usage });
  // The generative language format has no finish reason for tool calls.
  mock.on({ predicate: (request) => asks(request, WEATHER_PROMPT) }, ({ model }) => ({
    toolCalls: [call],
    reasoning: 'The weather tool knows that.',
    usage,
    ...(model === GENERATIVE_MODEL ? { finishReason: 'stop' } : {}),
  }));
  mock.on(
    { predicate: (request) => asks(request, CITY_PROMPT) && hasTool(request, 'json') },
    { toolCalls: [{ name: 'json', arguments: object }], usage },
  );
  mock.on({ predicate: (request) => asks(request, CITY_PROMPT) }, { content: object, usage });
  mock.on({ predicate: (request) => asks(request, PICTURE_PROMPT) }, { content: SEEN, usage });
  mock.on({ predicate: () => true }, { content: TEXT, usage });
}

function asks({ messages }: ChatCompletionRequest, prompt: string): boolean {
  return JSON.stringify(messages).includes(prompt);
}

function hasTool({ tools }: ChatCompletionRequest, name: string): boolean {
  return (tools ?? []).some((tool) => tool.function.name === name);
}

function hasToolResult({ messages }: ChatCompletionRequest): boolean {
  return messages.some((message) => message.role === 'tool');
}
