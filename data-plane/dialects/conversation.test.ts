/** Well-typed but invalid requests are refused in every format, with the pointer of the offending part. */
import type { DialectName } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { checkConversation } from './conversation.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NO_IMAGE = Buffer.from('hello, this is no image').toString('base64');

/** Wraps content in a request of each format. */
const FORMATS: Record<DialectName, (content: unknown) => JsonObject> = {
  'openai-chat': (messages) => ({ model: 'm', messages }),
  'openai-responses': (input) => ({ model: 'm', input }),
  'anthropic-messages': (messages) => ({ model: 'm', max_tokens: 9, messages }),
  'google-generate': (contents) => ({ contents }),
};

/** The pointer that the refusal names, or 'accepted'. */
function refusedAt(name: DialectName, body: JsonObject): string {
  try {
    const request = DIALECTS[name].inbound.decodeRequest(body, { model: 'm' });
    checkConversation(request);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'invalid_request') throw error;
    return error.details.parameter ?? '';
  }
}

const CASES: { title: string; bodies: [DialectName, unknown, string][] }[] = [
  {
    title: 'an empty conversation',
    bodies: [
      ['openai-chat', [], '/messages'],
      ['openai-responses', [], '/input'],
      ['anthropic-messages', [], '/messages'],
      ['google-generate', [], '/contents'],
    ],
  },
  {
    title: 'an unknown role',
    bodies: [
      ['openai-chat', [{ role: 'robot', content: 'x' }], '/messages/0/role'],
      ['openai-responses', [{ role: 'robot', content: 'x' }], '/input/0/role'],
      ['anthropic-messages', [{ role: 'robot', content: 'x' }], '/messages/0/role'],
      ['google-generate', [{ role: 'robot', parts: [{ text: 'x' }] }], '/contents/0/role'],
    ],
  },
  {
    title: 'a message without content',
    bodies: [
      ['openai-chat', [{ role: 'user' }], '/messages/0/content'],
      ['openai-responses', [{ role: 'user' }], '/input/0/content'],
      ['anthropic-messages', [{ role: 'user', content: null }], '/messages/0/content'],
    ],
  },
  {
    title: 'the result of an unknown tool call',
    bodies: [
      ['openai-chat', [{ role: 'tool', tool_call_id: 'a', content: 'x' }], '/messages/0'],
      ['openai-responses', [{ type: 'function_call_output', call_id: 'a', output: 'x' }], '/input/0'],
      [
        'anthropic-messages',
        [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] }],
        '/messages/0/content/0',
      ],
      [
        'google-generate',
        [{ role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] }],
        '/contents/0/parts/0',
      ],
    ],
  },
];

function withImage(data: string): [DialectName, unknown, string][] {
  const url = `data:image/png;base64,${data}`;
  const source = { type: 'base64', media_type: 'image/png', data };
  return [
    [
      'openai-chat',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      '/messages/0/content/0',
    ],
    [
      'openai-responses',
      [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
      '/input/0/content/0',
    ],
    ['anthropic-messages', [{ role: 'user', content: [{ type: 'image', source }] }], '/messages/0/content/0'],
    [
      'google-generate',
      [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] }],
      '/contents/0/parts/0',
    ],
  ];
}

describe('an invalid conversation', () => {
  for (const { title, bodies } of [
    ...CASES,
    { title: 'image data in no image format', bodies: withImage(NO_IMAGE) },
  ]) {
    for (const [name, content, at] of bodies) {
      it(`is refused in ${name} for ${title}, with its pointer`, () => {
        expect(refusedAt(name, FORMATS[name](content))).toBe(at);
      });
    }
  }

  it('is refused for an image URL without a scheme', () => {
    const image = { type: 'image_url', image_url: { url: 'picture.png' } };
    expect(refusedAt('openai-chat', FORMATS['openai-chat']([{ role: 'user', content: [image] }]))).toBe(
      '/messages/0/content/0',
    );
  });

  it('is accepted with image data in a known format', () => {
    for (const [name, content] of withImage(PNG))
      expect(refusedAt(name, FORMATS[name](content))).toBe('accepted');
  });

  it('is refused for a field in both spellings, of which only one would be checked', () => {
    const fileData = { fileUri: 'https://example.com/a.png', file_uri: 'files/abc', mimeType: 'image/png' };
    expect(refusedAt('google-generate', FORMATS['google-generate']([{ parts: [{ fileData }] }]))).toBe(
      '/contents/0/parts/0/fileData/file_uri',
    );
  });

  it('is refused for any reference to an object stored at a provider', () => {
    const user = [{ role: 'user', content: 'Hi' }];
    const tools = (tool: JsonObject): JsonObject => ({ ...FORMATS['openai-responses'](user), tools: [tool] });
    const withAudio = [...user, { role: 'assistant', audio: { id: 'audio_1' } }];
    const cases: [DialectName, JsonObject, string][] = [
      ['openai-chat', FORMATS['openai-chat'](withAudio), '/messages/1/audio'],
      [
        'openai-responses',
        tools({ type: 'file_search', vector_store_ids: ['vs_1'] }),
        '/tools/0/vector_store_ids',
      ],
      ['openai-responses', tools({ type: 'code_interpreter', container: 'cntr_1' }), '/tools/0/container'],
      [
        'openai-responses',
        tools({ type: 'image_generation', input_image_mask: { file_id: 'file_1' } }),
        '/tools/0/input_image_mask/file_id',
      ],
      [
        'google-generate',
        {
          ...FORMATS['google-generate']([{ parts: [{ text: 'Hi' }] }]),
          tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/a'] } }],
        },
        '/tools/0/fileSearch',
      ],
    ];
    for (const [name, body, at] of cases) expect(refusedAt(name, body)).toBe(at);
  });
});
