/**
 * Chat requests with long texts that are read in outline: refusals and conversations are those of the whole
 * request.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requests } from '../../test/dialect-samples.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { DialectName } from '@gateway/shared/catalog';
import type { MemberTable } from '../dialects/member-table.ts';
import { openParsedChat } from './chat.ts';
import { OutlinedRequest } from './outlined-request.ts';
import { outlinedBody, parseChatBody, parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';

const LONG = 'A long text: "é"\n'.repeat(2_000);
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: LONG } };
const result = { role: 'tool', tool_call_id: 'c1', content: LONG };
const user = { role: 'user', content: LONG };
const thoughts = [
  { type: 'text', text: LONG },
  { type: 'text', text: LONG },
];
const document = { type: 'document', source: { type: 'content', content: thoughts } };
const use = { type: 'tool_use', id: 'c1', name: 'f', input: { content: LONG } };
const functionCall = { name: 'f', args: { text: LONG } };
const picture = (data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});

const REQUESTS: [what: string, format: DialectName, body: object][] = [
  ['texts', 'openai-chat', { messages: [{ role: 'system', content: LONG }, user] }],
  ['parts', 'openai-chat', { messages: [{ role: 'user', content: thoughts }] }],
  ['calls', 'openai-chat', { messages: [{ role: 'assistant', tool_calls: [call] }, result, user] }],
  ['no call', 'openai-chat', { messages: [user, result] }],
  [
    'joined texts',
    'openai-chat',
    { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: thoughts }] }, user] },
  ],
  ['no messages', 'openai-chat', { messages: [], a: user }],
  ['a long role', 'openai-chat', { messages: [{ ...user, role: LONG }] }],
  ['a named session', 'openai-chat', { messages: [user], prompt_cache_key: 'a' }],
  ['items', 'openai-responses', { instructions: LONG, input: [{ role: 'user', content: thoughts }] }],
  ['a text alone', 'openai-responses', { input: LONG }],
  [
    'written output',
    'openai-responses',
    {
      input: [
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: LONG },
        { type: 'function_call_output', call_id: 'c1', output: { content: LONG } },
      ],
    },
  ],
  ['blocks', 'anthropic-messages', { max_tokens: 1, system: thoughts, messages: [user] }],
  ['documents', 'anthropic-messages', { max_tokens: 1, messages: [{ role: 'user', content: [document] }] }],
  ['uses', 'anthropic-messages', { max_tokens: 1, messages: [{ role: 'assistant', content: [use] }, user] }],
  [
    'no picture',
    'anthropic-messages',
    { max_tokens: 1, messages: [{ role: 'user', content: [picture(LONG)] }] },
  ],
  ['contents', 'google-generate', { contents: [{ role: 'user', parts: [{ text: LONG }] }] }],
  [
    'written arguments',
    'google-generate',
    {
      contents: [
        { role: 'model', parts: [{ functionCall }] },
        { role: 'user', parts: [{ text: LONG }] },
      ],
    },
  ],
];

type Parse = (bytes: Buffer, table?: MemberTable) => RequestBody;

/** The exchange's view of the request, or why the request is refused. */
function opened(format: DialectName, body: object, parse: Parse): unknown {
  const { inbound } = DIALECTS[format];
  const bytes = Buffer.from(JSON.stringify({ model: 'swift', ...body }));
  try {
    const { model, streamed, conversation } = openParsedChat(
      { inbound, dialect: format },
      { body: parse(bytes, inbound.mirror?.members), path: { model: 'swift', stream: true }, headers: {} },
    );
    return { model, streamed, conversation };
  } catch (error) {
    return error;
  }
}

describe('a long chat request', () => {
  it.each(REQUESTS)('with %s is the same in outline, in the format %s', (_, format, body) => {
    const found = opened(format, body, parseChatBody);
    expect(found).toEqual(opened(format, body, parseRequestBody));
    expect(JSON.stringify(found)).not.toContain('gateway-text');
  });

  it.each(REQUESTS)('with %s has all its texts when they are needed, in the format %s', (_, format, body) => {
    const { inbound } = DIALECTS[format];
    const bytes = Buffer.from(JSON.stringify({ model: 'swift', ...body }));
    const path = { model: 'swift', stream: true };
    const decode = (parse: Parse): unknown => {
      try {
        return new OutlinedRequest({ inbound, body: parse(bytes), path, state: undefined }).whole;
      } catch (error) {
        return error;
      }
    };
    expect(decode(parseChatBody)).toEqual(decode(parseRequestBody));
  });

  it('of any content has all its texts when they are needed, in each format', () => {
    let outlined = 0;
    fc.assert(
      fc.property(requests, fc.constantFrom(...Object.values(DIALECTS)), (request, dialect) => {
        const { body } = dialect.outbound.encodeRequest(request, 'm');
        const bytes = Buffer.from(JSON.stringify(body));
        const read = outlinedBody(bytes, { longTextBytes: 4 });
        if (!read) return;
        outlined += read.lacksTexts ? 1 : 0;
        const path = { model: 'm', stream: false };
        const source = { inbound: dialect.inbound, path, state: undefined };
        const whole = dialect.inbound.decodeRequest(parseRequestBody(bytes).exact, path);
        expect(new OutlinedRequest({ ...source, body: read }).whole).toEqual(whole);
      }),
    );
    // Otherwise this test would say nothing.
    expect(outlined).toBeGreaterThan(20);
  });

  it('is read in outline in each format', () => {
    const outlined = REQUESTS.filter(
      ([, , body]) => parseChatBody(Buffer.from(JSON.stringify(body))).lacksTexts,
    );
    expect(new Set(outlined.map(([, format]) => format)).size).toBe(4);
  });
});
