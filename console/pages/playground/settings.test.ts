/** Tests the settings of replies: reading of the form, and what a model gets. */
import { describe, expect, it } from 'vitest';
import { curlOf, pythonOf, requestBody, typescriptOf } from './request-code.ts';
import { draftOf, settingsOf } from './settings-form.ts';
import { countOf, NO_SETTINGS, settingsFor } from './settings.ts';

const MODEL = { name: 'coder', price: '0.30', sees: false, traits: [] };
const SET = {
  ...{ systemPrompt: "Don't guess.", temperature: 0.2, maxTokens: 500, topP: 0.9 },
  ...({ effort: 'LOW', stop: ['END', 'STOP'], seed: 7 } as const),
};

describe('the settings of replies', () => {
  it('are the same after they were shown in the form', () => {
    expect(settingsOf(draftOf(SET))).toEqual({ settings: SET, wrong: new Set() });
    expect(countOf(settingsOf(draftOf(NO_SETTINGS)).settings)).toBe(0);
  });

  it.each([
    ['temperature', '2.1'],
    ['temperature', 'warm'],
    ['topP', '0'],
    ['maxTokens', '0.5'],
    ['maxTokens', '3000000000'],
    ['seed', '1.5'],
    ['stop', 'a\nb\nc\nd\ne'],
    ['systemPrompt', 'a'.repeat(50_001)],
  ] as const)('are refused if %s is %.20s', (field, text) => {
    expect(settingsOf({ ...draftOf(NO_SETTINGS), [field]: text }).wrong).toEqual(new Set([field]));
  });

  it('reach a model only if the model takes them', () => {
    const takesTwo = { ...MODEL, parameters: ['TEMPERATURE', 'STOP'] as ('TEMPERATURE' | 'STOP')[] };
    expect(settingsFor(SET, takesTwo)).toEqual({
      ...{ systemPrompt: "Don't guess.", temperature: 0.2, stop: ['END', 'STOP'] },
    });
    expect(settingsFor({ ...NO_SETTINGS, seed: 7 }, takesTwo)).toBeNull();
  });
});

describe('a chat as a request', () => {
  const parts = {
    ...{ address: 'https://gateway.example', model: 'coder', settings: settingsFor(SET, undefined) },
    messages: [{ role: 'USER' as const, content: 'It\'s\n"so"', attachments: [] }],
  };

  it('has the settings under the names of the chat-completions format', () => {
    expect(requestBody(parts)).toEqual({
      ...{ model: 'coder', stream: true, temperature: 0.2, max_completion_tokens: 500, top_p: 0.9 },
      ...{ reasoning_effort: 'low', stop: ['END', 'STOP'], seed: 7 },
      messages: [
        { role: 'system', content: "Don't guess." },
        { role: 'user', content: 'It\'s\n"so"' },
      ],
    });
  });

  it('is written with every setting as command and as programs', () => {
    for (const write of [curlOf, pythonOf, typescriptOf]) {
      const text = write(parts);
      for (const word of [
        'temperature',
        'max_completion_tokens',
        'top_p',
        'reasoning_effort',
        'stop',
        'seed',
      ])
        expect(text).toContain(word);
      expect(text).toContain('https://gateway.example/v1');
    }
    expect(curlOf(parts)).toContain("It'\\''s");
    expect(pythonOf(parts)).toContain('    temperature=0.2,\n');
  });
});
