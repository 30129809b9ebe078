/** Marks of cached prefixes: named as dropped, wherever they stand, for each format that has no such mark. */
import { expect, it } from 'vitest';
import { DIALECTS } from './index.ts';

const CACHED = { cache_control: { type: 'ephemeral' } };
const REQUEST = {
  model: 'm',
  max_tokens: 10,
  system: [{ type: 'text', text: 'S', ...CACHED }],
  tools: [{ name: 'look', input_schema: { type: 'object' }, ...CACHED }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi', ...CACHED }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {}, ...CACHED }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [{ type: 'text', text: 'R', ...CACHED }],
          ...CACHED,
        },
      ],
    },
  ],
};
const MARKS = [
  '/messages/0/content/0/cache_control',
  '/messages/1/content/0/cache_control',
  '/messages/2/content/0/cache_control',
  '/messages/2/content/0/content/0/cache_control',
  '/system/0/cache_control',
  '/tools/0/cache_control',
];

it.each(['openai-chat', 'openai-responses', 'google-generate'] as const)(
  'every mark of a request over %s is named as dropped',
  (name) => {
    const request = DIALECTS['anthropic-messages'].inbound.decodeRequest(structuredClone(REQUEST), {});
    const { dropped } = DIALECTS[name].outbound.encodeRequest(request, 'up');
    expect(dropped.filter((pointer) => pointer.endsWith('/cache_control')).toSorted()).toEqual(MARKS);
  },
);
