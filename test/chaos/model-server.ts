/** The upstream of a chaos run: a chat API that records which answers it started and completed. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const CHUNKS = 6;
const CHUNK_PAUSE_MS = 8;
/** How many requests make one failure, if nothing else is said. */
const FAILURE_EVERY = 23;
/** One in this many requests is slow: a second upstream is asked before its first content. */
const SLOW_EVERY = 19;
const SLOW_MS = 600;

export interface ModelServer {
  /** One in this many requests fails. */
  failureEvery: number;
  /** One in this many requests is slow. */
  slowEvery: number;
  port: number;
  /** Number of completed answers, by the trace id that the client sent. */
  completed: Map<string, number>;
  /** Trace ids of answers that were started. */
  begun: Set<string>;
  /** Number of requests. */
  requests: number;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. One in `failureEvery` requests fails, one in `slowEvery` is slow. */
export async function startModelServer({
  failureEvery = FAILURE_EVERY,
  slowEvery = SLOW_EVERY,
} = {}): Promise<ModelServer> {
  const server = createServer((request, response) => {
    void answer(model, request, response).catch(() => response.destroy());
  });
  const model: ModelServer = {
    failureEvery,
    slowEvery,
    port: 0,
    completed: new Map(),
    begun: new Set(),
    requests: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  model.port = (server.address() as AddressInfo).port;
  return model;
}

async function answer(model: ModelServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  model.requests += 1;
  const trace = String(request.headers['traceparent'] ?? '').split('-')[1] ?? '';
  if (model.requests % model.failureEvery === 0) {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"the model failed"}}');
    return;
  }
  if (model.requests % model.slowEvery === 0) await sleep(SLOW_MS);
  if (response.destroyed) return;
  model.begun.add(trace);
  const { stream } = JSON.parse(body) as { stream?: boolean };
  await (stream ? writeStream(response) : writeWhole(response));
  model.completed.set(trace, (model.completed.get(trace) ?? 0) + 1);
}

async function writeWhole(response: ServerResponse): Promise<void> {
  await sleep(CHUNK_PAUSE_MS);
  response.writeHead(200, { 'content-type': 'application/json' });
  const message = { role: 'assistant', content: 'An answer.' };
  response.end(
    JSON.stringify({ ...head('chat.completion'), choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  );
}

async function writeStream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    if (response.destroyed) throw new Error('The gateway has disconnected.');
    response.write(frame({ content: `word ${chunk} ` }, null));
    await sleep(CHUNK_PAUSE_MS);
  }
  response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
}

function frame(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head('chat.completion.chunk'), choices })}\n\n`;
}

function head(object: string): object {
  return { id: 'chatcmpl-1', object, created: 1, model: 'budget' };
}
