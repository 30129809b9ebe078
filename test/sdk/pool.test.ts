/** Official SDKs on a pool whose cap is reached: they wait as they are told, then get their answer. */
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
/** What was answered to each try. */
let tries: { status: number; retryAfterMs: string | null }[];

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
  tries = [];
  node.permits.refuse = new GatewayError('rate_limited', 'Used up.', { retryAfterMs: WAIT_MS });
});

/** fetch cannot set Host: this one connects to the node and names the pool; the second try is admitted. */
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
          const said = new Headers(incoming.headers as Record<string, string>);
          resolve(new Response(Buffer.concat(pieces), { status: incoming.statusCode ?? 0, headers: said }));
        });
      },
    );
    request.on('error', reject);
    request.end(typeof init?.body === 'string' ? init.body : undefined);
  });
  tries.push({ status: response.status, retryAfterMs: response.headers.get('retry-after-ms') });
  node.permits.refuse = undefined;
  return response;
}

describe('on 429 of a pool', () => {
  it('the openai SDK comes back by itself and is admitted', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: 'http://acme.gateway.test/v1', fetch: fetchOnPool });
    const answer = await client.chat.completions.create({ model: 'swift', messages });
    expect(answer.choices[0]?.message.content).toBe('Hi');
    expect(tries).toEqual([
      { status: 429, retryAfterMs: String(WAIT_MS) },
      { status: 200, retryAfterMs: null },
    ]);
  });

  it('the Anthropic SDK comes back by itself and is admitted', async () => {
    const client = new Anthropic({ apiKey: key, baseURL: 'http://acme.gateway.test', fetch: fetchOnPool });
    const answer = await client.messages.create({ model: 'swift', messages, max_tokens: 9 });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Hi' }]);
    expect(tries.map(({ status }) => status)).toEqual([429, 200]);
  });

  it('without a second try they tell a rate limit', async () => {
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
