/**
 * An independent implementation of the four providers' APIs, with a witness in front of it that keeps every
 * request as it came.
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

/** Tokens that each answer claims to have used. */
export const USAGE = { input_tokens: 11, output_tokens: 7 };

/** One upstream format: its name for administrators, its base address, and the model routed to it. */
export interface UpstreamFormat {
  protocol: string;
  /** Appended to the upstream's origin. */
  prefix: string;
  model: string;
  /** Where an image stands in a request. */
  picture: RegExp;
  /** How a request asks for an object of a schema; a tool of that shape counts, too. */
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
  /** What it answered; 0 until then. */
  status: number;
}

export interface SpeakingUpstream {
  origin: string;
  seen: SeenByUpstream[];
  stop(): Promise<void>;
}

export interface SpeakingOptions {
  /** Streamed text comes in pieces of this many characters. */
  pieceLength?: number;
  /** What is answered; else what the SDKs are asked to do here. */
  addAnswers?: (mock: LLMock) => void;
}

/** Listens on free ports of 127.0.0.1. */
export async function startSpeakingUpstream(options: SpeakingOptions = {}): Promise<SpeakingUpstream> {
  const { pieceLength = 5 } = options;
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', chunkSize: pieceLength });
  (options.addAnswers ?? addAnswers)(mock);
  await mock.start();
  const seen: SeenByUpstream[] = [];
  const witness = createServer((request, response) => {
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
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve));
  const { port } = witness.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    stop: async () => {
      witness.closeAllConnections();
      witness.close();
      await mock.stop();
    },
  };
}

/** The first answer whose condition holds is given. */
function addAnswers(mock: LLMock): void {
  const usage = USAGE;
  const call = { name: TOOL_NAME, arguments: JSON.stringify(TOOL_INPUT) };
  const object = JSON.stringify(CITY);
  mock.on({ predicate: hasToolResult }, { content: WEATHER, usage });
  // A generative-language upstream has no word of its own for calls.
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
