/** Where lists of models are asked for. */
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import { describe, expect, it } from 'vitest';
import { listRequests, namesIn } from './model-requests.ts';

const BEDROCK = { ...DEFAULT_ACCESS, auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' } as const;

function hostFor(baseUrl: string): string | undefined {
  const target = { protocol: 'bedrock-converse', protocols: ['bedrock-converse'], secret: null } as const;
  return listRequests({ ...target, baseUrl, access: BEDROCK })[0]?.baseUrl;
}

describe('a list of models', () => {
  it.each([
    ['https://bedrock-runtime.us-east-1.amazonaws.com', 'https://bedrock.us-east-1.amazonaws.com'],
    ['https://bedrock-runtime-fips.us-east-1.amazonaws.com', 'https://bedrock-fips.us-east-1.amazonaws.com'],
    ['https://bedrock-runtime.cn-north-1.amazonaws.com.cn', 'https://bedrock.cn-north-1.amazonaws.com.cn'],
    ['https://bedrock-runtime.evil.example', 'https://bedrock-runtime.evil.example'],
    [
      'https://bedrock-runtime.amazonaws.com.evil.example',
      'https://bedrock-runtime.amazonaws.com.evil.example',
    ],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ])('is requested for %s at %s', (baseUrl, host) => {
    expect(hostFor(baseUrl)).toBe(host);
  });

  it('is recognised in every shape, and nothing else is recognised as one', () => {
    expect(namesIn({ data: [{ id: 'a' }] }, 'openai-chat')).toEqual(['a']);
    expect(namesIn({ models: [{ name: 'models/a' }] }, 'google-generate')).toEqual(['a']);
    expect(namesIn({ data: [{ name: 'a' }, 7, null] }, 'openai-chat')).toEqual(['a', '', '']);
    for (const answer of [null, 7, 'x', [], {}, { data: {} }])
      expect(namesIn(answer, 'openai-chat')).toBeUndefined();
  });
});
