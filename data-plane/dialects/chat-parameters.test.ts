/** Tests the table of parameters per upstream format against the codecs. */
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '@gateway/shared/catalog';
import { CHAT_PARAMETERS, chatParametersOf } from '@gateway/shared/chat-parameters';
import type { ChatParameter } from '@gateway/shared/chat-parameters';
import type { Quirk } from '@gateway/shared/quirks';
import { UPSTREAM_DIALECTS } from './index.ts';
import { openaiChat } from './openai-chat/index.ts';

/** How a chat-completions request carries each parameter. */
const SENT: Record<ChatParameter, object> = {
  temperature: { temperature: 0.5 },
  max_tokens: { max_completion_tokens: 4_000 },
  top_p: { top_p: 0.9 },
  effort: { reasoning_effort: 'high' },
  stop: { stop: ['END'] },
  seed: { seed: 7 },
};
/** A model of each format that takes an effort; other models of the format may not. */
const REASONING_MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1:0';

const drop = (member: string): Quirk => ({
  ...{ kind: 'DROP', member, other: null, value: null, min: null, max: null },
});

describe('the parameters of a model', () => {
  it.each(PROTOCOLS)('are those that requests in the format %s carry', (protocol) => {
    const carried = CHAT_PARAMETERS.filter((name) => {
      const messages = [{ role: 'user', content: 'Good day' }];
      const request = openaiChat.inbound.decodeRequest({ model: 'm', messages, ...SENT[name] }, {});
      return (
        UPSTREAM_DIALECTS[protocol].outbound.encodeRequest(request, REASONING_MODEL).dropped.length === 0
      );
    });
    expect(chatParametersOf(['reasoning'], [{ protocols: [protocol], quirks: [] }])).toEqual(carried);
  });

  it('include an effort only if the model reasons', () => {
    expect(chatParametersOf(['tools'], [])).toEqual(CHAT_PARAMETERS.filter((name) => name !== 'effort'));
  });

  it('are without those that a quirk removes, alone or with the object around them', () => {
    const chat = { protocols: ['openai-chat'] as const, quirks: [drop('temperature')] };
    expect(chatParametersOf([], [chat])).toEqual(['max_tokens', 'top_p', 'stop', 'seed']);
    const google = { protocols: ['google-generate'] as const, quirks: [drop('generationConfig')] };
    expect(chatParametersOf([], [google])).toEqual([]);
  });

  it('are those of the first format of an upstream without chat completions', () => {
    const both = (
      protocols: ['anthropic-messages', 'openai-responses'] | ['openai-responses', 'anthropic-messages'],
    ) => chatParametersOf([], [{ protocols, quirks: [] }]);
    expect(both(['anthropic-messages', 'openai-responses'])).toContain('stop');
    expect(both(['openai-responses', 'anthropic-messages'])).not.toContain('stop');
  });

  it('are those that every route takes', () => {
    const routes = [
      { protocols: ['openai-chat'] as const, quirks: [] },
      { protocols: ['openai-responses'] as const, quirks: [] },
    ];
    expect(chatParametersOf([], routes)).toEqual(['temperature', 'max_tokens', 'top_p']);
  });
});
