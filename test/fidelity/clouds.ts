/**
 * Azure, Bedrock and Vertex AI in front of the replaying upstream: checks what each cloud demands of a
 * request, and turns it into the format of the recordings, and the answer back.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { objectOf, parseExactObject, textOf } from '../../data-plane/dialects/fields.ts';
import type { JsonObject } from '../../data-plane/dialects/fields.ts';
import { writeJson } from '../../data-plane/dialects/exact-json.ts';
import { AWS_KEYS, KEY_FILE, TokenServer, claimsOf, isSigned } from '../clouds.ts';
import { ConverseEvents, asConverse, asMessages, streamMessage } from '../converse.ts';
import { SseParser } from '../sse-parser.ts';
import type { Shares } from './verdict.ts';

const AZURE_KEY = 'azure-secret';
const CLIENT_SECRET = 'client-secret';
/** Life of tokens in ms: so short that they are renewed many times in a run. */
const TOKEN_MS = 3_000;
/** Sizes of the slices of an event stream that is cut oddly, in bytes. */
const ODD_SIZES = [1, 3, 7, 61, 11, 127, 5, 509, 29, 257];
const EVENT_STREAM = 'application/vnd.amazon.eventstream';
const PROJECT = '/v1/projects/project-1/locations/global';

/** A kind of upstream, for the formats of the recordings that it serves. */
export interface Cloud {
  name: string;
  /** Minimum of each share in percent, if it differs from the usual one. */
  required?: Shares;
  /** Members of the access and the base address at the front, by format. */
  upstreams: { wire: string; protocol: string; path: string; access: object; secret: string }[];
}

const AWS = { auth: 'AWS_KEYS', region: 'us-east-1' };
const AWS_SECRET = JSON.stringify(AWS_KEYS);

/** The clouds, in the order of their runs. */
export function cloudsAt(url: string): Cloud[] {
  const tokenUrl = `${url}/token`;
  const azureKey = { access: { auth: 'AZURE_API_KEY' }, secret: AZURE_KEY };
  const entra = {
    access: { auth: 'AZURE_ENTRA', tenantId: 'tenant', clientId: 'client', tokenUrl },
    secret: CLIENT_SECRET,
  };
  const azure = (parts: typeof azureKey | typeof entra, root: string): Cloud['upstreams'] => [
    { wire: 'openai-chat', protocol: 'CHAT_COMPLETIONS', path: `${root}/openai/v1`, ...parts },
    { wire: 'openai-responses', protocol: 'RESPONSES', path: `${root}/openai/v1`, ...parts },
  ];
  const bedrock = { access: { ...AWS, style: 'BEDROCK' }, secret: AWS_SECRET };
  const vertex = {
    path: `/vertex${PROJECT}`,
    access: { auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX', tokenUrl },
    secret: KEY_FILE,
  };
  return [
    { name: 'azure', upstreams: azure(azureKey, '/azure') },
    { name: 'azure-entra', upstreams: azure(entra, '/azure-entra') },
    {
      name: 'bedrock',
      // The failures of two recordings weigh more among fewer exchanges.
      required: { fidelity: 99.6, requests: 99.8, streams: 100 },
      upstreams: [
        { wire: 'anthropic-messages', protocol: 'MESSAGES', path: '/bedrock', ...bedrock },
        {
          ...{ wire: 'openai-chat', protocol: 'CHAT_COMPLETIONS', path: '/bedrock/openai/v1' },
          ...{ access: AWS, secret: AWS_SECRET },
        },
      ],
    },
    {
      name: 'bedrock-converse',
      // docs/fidelity.md lists what the format cannot carry.
      required: { fidelity: 95, requests: 96, streams: 100 },
      upstreams: [{ wire: 'anthropic-messages', protocol: 'BEDROCK_CONVERSE', path: '/bedrock', ...bedrock }],
    },
    {
      name: 'vertex',
      upstreams: [
        { wire: 'google-generate', protocol: 'GENERATIVE_LANGUAGE', ...vertex },
        { wire: 'anthropic-messages', protocol: 'MESSAGES', ...vertex },
      ],
    },
  ];
}

/** A running front. */
export interface Front {
  url: string;
  /** Requests without valid authentication. */
  refused(): number;
  /** Tokens that were issued. */
  issued(): number;
  stop(): Promise<void>;
}

/** Starts the front of the replaying upstream at `replay`. */
export async function startFront(replay: string, isSliced: boolean): Promise<Front> {
  const tokens = new TokenServer(TOKEN_MS);
  let refused = 0;
  const server = createServer((request, response) => {
    const handle = async (): Promise<void> => {
      const body = await buffer(request);
      const call: FrontCall = { request, response, body, origin: urlOf(server), replay, isSliced };
      if (request.url === '/token') return issue(call, tokens);
      if (await isAuthentic(call, tokens)) return answer(call);
      refused += 1;
      writeAnswer(response, 401, '{"message":"authentication failed"}');
    };
    handle().catch((error: unknown) => {
      writeAnswer(response, 500, JSON.stringify({ message: String(error) }));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: urlOf(server),
    refused: () => refused,
    issued: () => tokens.issued,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface FrontCall {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
  origin: string;
  replay: string;
  isSliced: boolean;
}

function urlOf(server: ReturnType<typeof createServer>): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function issue({ response, body }: FrontCall, tokens: TokenServer): void {
  const form = new URLSearchParams(body.toString());
  const isKnown = form.get('client_secret') === CLIENT_SECRET || claimsOf(form) !== undefined;
  const play = tokens.issue();
  const text = isKnown ? play.chunks?.join('') : '{"error":"invalid_client"}';
  writeAnswer(response, isKnown ? 200 : 401, text ?? '');
}

/** Whether the request is authenticated as the cloud of its path demands. */
async function isAuthentic({ request, origin, body }: FrontCall, tokens: TokenServer): Promise<boolean> {
  const { url: path = '', method = '' } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  );
  const seen = { method, path, headers, body: body.toString() };
  if (path.startsWith('/azure/')) return headers['api-key'] === AZURE_KEY;
  if (path.startsWith('/bedrock/')) return isSigned(origin, seen);
  return tokens.accepts(seen);
}

function answer(call: FrontCall): Promise<void> {
  const { url: path = '' } = call.request;
  const [, model = '', verb = ''] = /^\/bedrock\/model\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  if (verb) return answerBedrock(call, decodeURIComponent(model), verb);
  return relay(call, replayPath(path), bodyFor(path, call.body));
}

/** The path at the replaying upstream of a request to Azure, to Bedrock's OpenAI address or to Vertex AI. */
function replayPath(path: string): string {
  const openai = /^\/[a-z-]+\/openai\/v1(\/.*)$/.exec(path)?.[1];
  if (openai !== undefined)
    return `/up/${openai.startsWith('/responses') ? 'openai-responses' : 'openai-chat'}/v1${openai}`;
  const rest = path.replace(`/vertex${PROJECT}/publishers`, '');
  if (rest.startsWith('/google')) return `/up/google-generate/v1beta${rest.replace('/google', '')}`;
  return '/up/anthropic-messages/v1/messages';
}

/** Vertex AI has the model of a messages request in the path. */
function bodyFor(path: string, body: Buffer): string {
  const [, model] = /publishers\/anthropic\/models\/([^:]+):/.exec(path) ?? [];
  if (model === undefined) return body.toString();
  const { anthropic_version: version, ...rest } = objectOf(parseExactObject(body.toString()));
  if (version !== 'vertex-2023-10-16') throw new Error('no version of Vertex AI');
  return writeJson({ model: decodeURIComponent(model), ...rest });
}

async function relay({ replay, response }: FrontCall, path: string, body: string): Promise<void> {
  const answered = await fetch(replay + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  response.writeHead(answered.status, headersOf(answered));
  for await (const chunk of answered.body ?? []) response.write(chunk);
  response.end();
}

function headersOf({ headers }: Response): Record<string, string> {
  const kept = ['content-type', 'retry-after'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

async function answerBedrock(call: FrontCall, model: string, verb: string): Promise<void> {
  const isStreamed = verb.endsWith('stream');
  const isConverse = verb.startsWith('converse');
  const body = objectOf(parseExactObject(call.body.toString()));
  const answered = await fetch(`${call.replay}/up/anthropic-messages/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: writeJson(
      isConverse ? asMessages(body, { model, stream: isStreamed }) : invoked(body, model, isStreamed),
    ),
  });
  const bytes = Buffer.from(await answered.arrayBuffer());
  const whole = objectOf(parseExactObject(bytes.toString()));
  if (answered.status !== 200) {
    const message = textOf(objectOf(whole.error).message);
    writeAnswer(call.response, answered.status, JSON.stringify({ message }), headersOf(answered));
  } else if (!isStreamed) {
    writeAnswer(call.response, 200, writeJson(isConverse ? asConverse(whole) : whole));
  } else {
    call.response.writeHead(200, { 'content-type': EVENT_STREAM });
    const events = messagesIn(bytes, isConverse);
    for (const piece of call.isSliced ? slices(events) : [events]) {
      call.response.write(piece);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    call.response.end();
  }
}

/** The messages request in the body of InvokeModel. */
function invoked(body: JsonObject, model: string, stream: boolean): JsonObject {
  const { anthropic_version: version, anthropic_beta: _beta, ...rest } = body;
  if (version !== 'bedrock-2023-05-31' || 'model' in rest || 'stream' in rest)
    throw new Error('no body of InvokeModel');
  return { model, ...(stream ? { stream } : {}), ...rest };
}

/** The event stream of a recorded answer. */
function messagesIn(sse: Buffer, isConverse: boolean): Buffer {
  const parser = new SseParser();
  const converse = new ConverseEvents();
  const messages = [...parser.push(sse), ...parser.end()].flatMap(({ data }) => {
    const event = objectOf(parseExactObject(data));
    if (event.type === 'error') return [streamMessage('internalServerException', {}, 'exception')];
    if (isConverse) return converse.push(event).map(([name, payload]) => streamMessage(name, payload));
    return [streamMessage('chunk', { bytes: Buffer.from(data).toString('base64') })];
  });
  return Buffer.concat(messages);
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = ODD_SIZES[turn % ODD_SIZES.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function writeAnswer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(text);
}
