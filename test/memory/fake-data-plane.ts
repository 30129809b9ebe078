/** A fake data plane for Personal Intelligence: it answers chats, and reads them as a mediocre model does. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PLAYGROUND_PASS_HEADER } from '@gateway/shared/playground-pass';
import { extract } from './extractor.ts';
import type { ExtractorInput } from './extractor.ts';

/** A request that the fake received. */
export interface SeenRequest {
  source: 'PLAYGROUND' | 'PERSONAL_INTELLIGENCE';
  /** The only upstreams that may get the request; undefined for all. */
  providerIds: string[] | undefined;
  model: string;
  messages: { role: string; content: string }[];
}

/** The fake data plane, and the requests that it received. */
export interface FakeDataPlane {
  url: string;
  seen: SeenRequest[];
  /** Answers a chat; by default "Noted." Undefined answers status 500. */
  reply: (request: SeenRequest) => string | undefined;
  /** Answers the request to read a chat; by default the extractor. Undefined answers status 500. */
  read: (input: ExtractorInput, request: SeenRequest) => string | undefined | Promise<string | undefined>;
  close(): Promise<void>;
}

/** Starts the fake on a free port. */
export async function startFakeDataPlane(): Promise<FakeDataPlane> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const pass = String(request.headers[PLAYGROUND_PASS_HEADER]).split('.')[0] ?? '';
      const { source, providerIds } = JSON.parse(Buffer.from(pass, 'base64url').toString()) as SeenRequest;
      void answer(fake, { ...JSON.parse(Buffer.concat(chunks).toString()), source, providerIds }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeDataPlane = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    reply: () => 'Noted.',
    read: extract,
    close: () => closed(server),
  };
  return fake;
}

async function answer(fake: FakeDataPlane, request: SeenRequest, response: ServerResponse): Promise<void> {
  fake.seen.push(request);
  const text =
    request.source === 'PLAYGROUND'
      ? fake.reply(request)
      : await fake.read(JSON.parse(request.messages.at(-1)?.content ?? '') as ExtractorInput, request);
  if (text === undefined) return void response.writeHead(500).end('{"error":{"message":"broken"}}');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `req_${fake.seen.length}` });
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
