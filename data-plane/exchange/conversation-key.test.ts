/** Tests the conversation key in three client formats. */
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../dialects/index.ts';
import { conversationKey } from './conversation-key.ts';

type Format = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

function keyOf(format: Format, body: object, headers = {}): string {
  const wire = { model: 'swift', max_tokens: 10, ...body };
  const request = DIALECTS[format]?.inbound.decodeRequest(wire, {});
  if (!request) throw new Error('unknown format');
  return conversationKey({ messages: request.messages, body: wire, headers }) ?? '';
}

const user = (content: unknown) => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'Hi' };

describe('conversationKey', () => {
  it('is the same for later turns, and another one for another first question', () => {
    for (const format of ['openai-chat', 'anthropic-messages'] as const) {
      const first = keyOf(format, { messages: [user('One')] });
      expect(keyOf(format, { messages: [user('One'), assistant, user('Two')] })).toBe(first);
      expect(keyOf(format, { messages: [user('Two')] })).not.toBe(first);
    }
    const first = keyOf('openai-responses', { instructions: 'Help.', input: 'One' });
    const input = [user('One'), assistant, user('Two')];
    expect(keyOf('openai-responses', { instructions: 'Help.', input })).toBe(first);
  });

  it('ignores marks of the prompt cache, which move with the turns', () => {
    const text = { type: 'text', text: 'One' };
    const marked = { ...text, cache_control: { type: 'ephemeral' } };
    const key = keyOf('anthropic-messages', { messages: [user([marked])] });
    expect(keyOf('anthropic-messages', { messages: [user([text]), assistant, user('Two')] })).toBe(key);
  });

  it('tells long texts apart by their beginning, end and length', () => {
    const long = (end: string) => keyOf('openai-chat', { messages: [user(`${'x'.repeat(9_000)}${end}`)] });
    expect(long('a')).not.toBe(long('b'));
    expect(long('a').length).toBeLessThan(2_000);
  });

  it('is the session that the body or the agent names', () => {
    const messages = [user('One')];
    const session = 'session 7';
    expect(keyOf('openai-chat', { messages, prompt_cache_key: '7' })).toBe(session);
    expect(keyOf('openai-chat', { messages }, { 'session-id': '7' })).toBe(session);
    expect(keyOf('anthropic-messages', { messages }, { 'x-claude-code-session-id': '7' })).toBe(session);
    expect(keyOf('anthropic-messages', { messages, metadata: { user_id: '7' } })).toBe(session);
  });
});
