/**
 * Mirrored clients receive some content before the decoder reports it in an event, such as speech and partial
 * pictures. A client that leaves after such content is charged.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialectName, Family } from '@gateway/shared/catalog';
import { makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

/** Larger than the bytes that may wait for the first content. */
const PIECE = 'QUJD'.repeat(20_000);
const GENERATE = '/v1beta/models/swift:streamGenerateContent?alt=sse';

interface Case {
  name: string;
  dialect: DialectName;
  family: Family;
  path: string;
  body: object;
  /** The content that the upstream sends, and nothing after it. */
  events: readonly object[];
}

const hello = [{ role: 'user', content: 'Hello' }];
const CASES: readonly Case[] = [
  {
    name: 'speech in chat completions',
    dialect: 'openai-chat',
    family: 'chat_completions',
    path: '/v1/chat/completions',
    body: { model: 'swift', stream: true, messages: hello, modalities: ['text', 'audio'] },
    events: [
      { id: 'c1', choices: [{ index: 0, delta: { role: 'assistant', audio: { id: 'a1' } } }] },
      { id: 'c1', choices: [{ index: 0, delta: { audio: { data: PIECE } } }] },
    ],
  },
  {
    name: 'a partial picture in responses',
    dialect: 'openai-responses',
    family: 'responses',
    path: '/v1/responses',
    body: { model: 'swift', stream: true, input: 'Draw' },
    events: [
      { type: 'response.created', response: { id: 'r1', status: 'in_progress', output: [] } },
      { type: 'response.image_generation_call.partial_image', output_index: 0, partial_image_b64: PIECE },
    ],
  },
  {
    name: 'code for a server’s tool in responses',
    dialect: 'openai-responses',
    family: 'responses',
    path: '/v1/responses',
    body: { model: 'swift', stream: true, input: 'Count' },
    events: [
      { type: 'response.created', response: { id: 'r1', status: 'in_progress', output: [] } },
      { type: 'response.code_interpreter_call_code.delta', output_index: 0, delta: PIECE },
    ],
  },
  {
    name: 'code for a server’s tool in messages',
    dialect: 'anthropic-messages',
    family: 'messages',
    path: '/v1/messages',
    body: { model: 'swift', stream: true, max_tokens: 9, messages: hello },
    events: [
      { type: 'message_start', message: { id: 'm1', model: 'vendor-model', content: [] } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 's1', name: 'code_execution', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: `{"code":"${PIECE}` },
      },
    ],
  },
  {
    name: 'a picture of the reasoning in the generative language',
    dialect: 'google-generate',
    family: 'generative_language',
    path: GENERATE,
    body: { contents: [{ role: 'user', parts: [{ text: 'Draw' }] }] },
    events: [
      {
        candidates: [
          {
            index: 0,
            content: {
              role: 'model',
              parts: [{ thought: true, inlineData: { mimeType: 'image/png', data: PIECE } }],
            },
          },
        ],
      },
    ],
  },
];

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({}));
  node = await startNode();
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

const frameOf = (event: object): string => {
  const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
};

describe('content that no event reports yet', () => {
  it.each(CASES)('is charged if the client leaves after it ($name)', async (given) => {
    const { dialect, family, path, body, events } = given;
    node.store.modelList = [makeModel({ families: [family] })];
    node.store.routes = [
      makeRoute(upstream.origin, { provider: { protocols: [dialect] }, route: { families: [family] } }),
    ];
    const headers = { 'content-type': 'text/event-stream' };
    upstream.play = () => ({ headers, chunks: events.map(frameOf), hang: 'after-chunks' });
    let seen = '';
    await node.call({
      path,
      body,
      headers: dialect === 'google-generate' ? { authorization: '', 'x-gen-api-key': node.secret } : {},
      leaveWhen: (text) => {
        seen = text;
        return text.includes(PIECE);
      },
    });
    expect(seen.includes(PIECE)).toBe(true);
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT', cost: '100000' }]);
  });

  it('is free for a client of another format, which has not received it', async () => {
    const [speech] = CASES;
    node.store.modelList = [makeModel({ families: ['messages'] })];
    node.store.routes = [makeRoute(upstream.origin, { route: { families: ['messages'] } })];
    const headers = { 'content-type': 'text/event-stream' };
    const chunks = speech?.events.map(frameOf) ?? [];
    upstream.play = () => ({ headers, chunks, hang: 'after-chunks' });
    await node.call({
      path: '/v1/messages',
      body: { model: 'swift', stream: true, max_tokens: 9, messages: hello },
      leaveAfter: until(() => upstream.sentBytes > PIECE.length),
    });
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toEqual([]);
  });
});
