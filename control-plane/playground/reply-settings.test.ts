/** Tests the checks of system prompts and parameters. */
import { describe, expect, it } from 'vitest';
import { UserFailure } from '../graphql/errors.ts';
import { checkReplySettings, parameterMembers } from './reply-settings.ts';

describe('the settings of a reply', () => {
  it.each([
    ['a temperature above 2', { temperature: 2.1 }, 'INVALID', 'temperature'],
    ['a temperature that is not a number', { temperature: NaN }, 'INVALID', 'temperature'],
    ['a top_p of 0', { topP: 0 }, 'INVALID', 'topP'],
    ['a top_p above 1', { topP: 1.01 }, 'INVALID', 'topP'],
    ['a maximum of 0 tokens', { maxTokens: 0 }, 'INVALID', 'maxTokens'],
    ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'LIMIT_REACHED', 'stop'],
    ['an empty stop sequence', { stop: [''] }, 'INVALID', 'stop'],
    ['a NUL character in the system prompt', { systemPrompt: 'a\0b' }, 'INVALID', 'systemPrompt'],
    [
      'a system prompt of 50,001 characters',
      { systemPrompt: 'a'.repeat(50_001) },
      'LIMIT_REACHED',
      'systemPrompt',
    ],
  ])('are refused with %s', (_what, settings, code, field) => {
    const refusal = (): unknown => {
      try {
        return checkReplySettings(settings);
      } catch (error) {
        return error;
      }
    };
    expect(refusal()).toBeInstanceOf(UserFailure);
    expect(refusal()).toMatchObject({ code, field: ['input', field] });
  });

  it('are accepted at their limits, and only those that are set become members of the request', () => {
    const settings = { temperature: 2, topP: 1, maxTokens: 1, stop: ['END'], seed: 0, effort: null };
    expect(parameterMembers(checkReplySettings(settings))).toEqual({
      ...{ temperature: 2, top_p: 1, max_completion_tokens: 1, stop: ['END'], seed: 0 },
    });
    expect(parameterMembers(checkReplySettings({ systemPrompt: 'x', stop: [] }))).toEqual({});
  });
});
