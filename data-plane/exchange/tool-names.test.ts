/** Tool names that an upstream does not take are changed for it, and changed back in its answers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BARE_REQUEST } from '../../test/dialect-samples.ts';
import { replay } from '../dialects/answer.ts';
import type { ChatRequest, ChatResponse } from '../dialects/canonical.ts';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { DIALECTS } from '../dialects/index.ts';
import { ToolNames } from './tool-names.ts';

const ALL = Object.values(DIALECTS);
const OPENAI_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const GOOGLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

function requestWith(names: readonly string[]): ChatRequest {
  const [first = 'f'] = names;
  return {
    ...BARE_REQUEST,
    tools: names.map((name) => ({ kind: 'function', name, description: '', at: '' })),
    toolChoice: { allowed: [...names], mode: 'required' },
    messages: [
      { role: 'user', parts: [{ kind: 'text', text: 'Hi', at: '' }], at: '' },
      { role: 'assistant', parts: [{ kind: 'tool-call', id: 'c', name: first, text: '{}', at: '' }], at: '' },
      { role: 'user', parts: [{ kind: 'tool-result', id: 'c', name: first, parts: [], at: '' }], at: '' },
    ],
  };
}

function answerWith(names: readonly string[]): ChatResponse {
  const blocks = names.map((name, at) => ({ kind: 'tool-call' as const, id: `c${at}`, name, text: '{}' }));
  return { id: 'a', model: 'm', tokens: NO_TOKENS, choices: [{ blocks, finish: 'tool' }] };
}

function offered({ tools }: ChatRequest): string[] {
  return tools.map((tool) => (tool.kind === 'builtin' ? '' : tool.name));
}

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200 }),
  fc.stringMatching(/^[a-z.:/-]{1,80}$/),
  fc.constantFrom('a.b', 'a:b', 'a_b', 'a b', '1', 'é'),
);

describe.each(ALL)('tool names at an upstream of $name', ({ name: dialect, outbound }) => {
  const allowed = dialect === 'google-generate' ? GOOGLE_NAME : OPENAI_NAME;

  it('are unique names of its alphabet, and come back whole and streamed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), (names) => {
        const request = requestWith(names);
        const tools = new ToolNames(request, dialect);
        const sent = offered(tools.sent(request));
        for (const one of sent) expect(one).toMatch(allowed);
        expect(new Set(sent).size).toBe(names.length);
        const answer = answerWith(sent);
        expect(tools.restoredAnswer(answer)).toEqual(answerWith(names));
        const heads = [...replay(answer)].map((event) => tools.restored(event));
        expect(heads).toEqual([...replay(answerWith(names))]);
      }),
    );
  });

  it('are the same in tools, history and choice, and in every turn', () => {
    const names = ['github.search', 'github:search', 'x'.repeat(65), 'plain'];
    const request = requestWith(names);
    const sent = new ToolNames(request, dialect).sent(request);
    const [first = ''] = offered(sent);
    expect(
      offered(new ToolNames(requestWith(['github.search']), dialect).sent(requestWith(['github.search']))),
    ).toEqual([first]);
    const body = JSON.stringify(outbound.encodeRequest(sent, 'm').body);
    expect(body.split(`"${first}"`).length).toBeGreaterThanOrEqual(3);
    expect(offered(sent)[3]).toBe('plain');
    if (dialect !== 'google-generate') expect(body).not.toContain('github.search');
  });

  it('do not take the name of another tool', () => {
    const request = requestWith(['a b']);
    const [taken = ''] = offered(new ToolNames(request, dialect).sent(request));
    const both = requestWith(['a b', taken]);
    const sent = offered(new ToolNames(both, dialect).sent(both));
    expect(sent[1]).toBe(taken);
    expect(sent[0]).not.toBe(taken);
  });
});

describe('a request whose tool names may stay', () => {
  it('is not copied', () => {
    const request = requestWith(['plain']);
    expect(new ToolNames(request, 'openai-chat').sent(request)).toBe(request);
  });
});
