/** Official SDKs on a pool whose cap is reached: they wait for the `retry-after-ms` and retry. */
import { request as httpRequest } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GatewayError } from '@gateway/shared/failures';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, makeModel, makeRoute, startNode } from '../request-path.ts';
import type { TestNode } from '../request-path.ts';
import { startUpstream } from '../upstream.ts';
import type { FakeUpstream } from '../upstream.ts';

const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const WAIT_MS = 40;
const messages = [{ role: 'user' as const, content: 'Hi' }];

let upstream: FakeUpstream;
let node: TestNode;
let key: string;
/** The answer to each attempt. */
let attempts: { status: number; retryAfterMs: string | null }[];

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode();
  const { secret, record } = makeKey({ id: 'key-2', poolId: 'pool-1' });
  key = secret;
  node.store.keys.push(record);
  node.store.routes = [makeRoute(upstream.origin)];
  node.store.pools = [
    {
      kind: 'POOL',
      id: 'pool-1',
      name: 'Acme',
      subdomain: 'acme',
      models: [makeModel()],
      rpmCap: 60,
      paidUntil: Number.MAX_SAFE_INTEGER,
    },
  ];
});

afterAll(async () => {
  await node?.close();
  await upstream?.close();
});

beforeEach(() => {
  attempts = [];
  node.permits.refuse = new GatewayError('rate_limited', 'Used up.', { retryAfterMs: WAIT_MS });
});

/** Like fetch, but with the pool's Host header, which fetch cannot set. Only the first attempt is refused. */
async function fetchOnPool(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const headers = { ...Object.fromEntries(new Headers(init?.headers)), host: 'acme.gateway.test' };
  const response = await new Promise<Response>((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: node.port, method: 'POST', path: pathname, headers },
      (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.on('end', () => {
          const answerHeaders = new Headers(incoming.headers as Record<string, string>);
          resolve(
            new Response(Buffer.concat(pieces), { status: incoming.statusCode ?? 0, headers: answerHeaders }),
          );
        });
      },
    );
    request.on('error', reject);
    request.end(typeof init?.body === 'string' ? init.body : undefined);
  });
  attempts.push({ status: response.status, retryAfterMs: response.headers.get('retry-after-ms') });
  node.permits.refuse = undefined;
  return response;
}

describe('a pool that answers 429', () => {
  it('is retried by the openai SDK', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: 'http://acme.gateway.test/v1', fetch: fetchOnPool });
    const answer = await client.chat.completions.create({ model: 'swift', messages });
    expect(answer.choices[0]?.message.content).toBe('Hi');
    expect(attempts).toEqual([
      { status: 429, retryAfterMs: String(WAIT_MS) },
      { status: 200, retryAfterMs: null },
    ]);
  });

  it('is retried by the Anthropic SDK', async () => {
    const client = new Anthropic({ apiKey: key, baseURL: 'http://acme.gateway.test', fetch: fetchOnPool });
    const answer = await client.messages.create({ model: 'swift', messages, max_tokens: 9 });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Hi' }]);
    expect(attempts.map(({ status }) => status)).toEqual([429, 200]);
  });

  it('is a RateLimitError in the openai SDK without retries', async () => {
    const client = new OpenAI({
      apiKey: key,
      baseURL: 'http://acme.gateway.test/v1',
      fetch: fetchOnPool,
      maxRetries: 0,
    });
    const failure: unknown = await client.chat.completions
      .create({ model: 'swift', messages })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
  });
});
