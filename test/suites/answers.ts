/** Answers of an obedient model to the prompts of other people's tests. */
import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';

interface ToolAnswer {
  /** Found in the prompt. */
  asked: RegExp;
  name: (prompt: string) => string;
  arguments: string;
}

const TOOLS: readonly ToolAnswer[] = [
  {
    asked: /Call (\w+) with a=40 and b=2/,
    name: (prompt) => /Call (\w+) with/.exec(prompt)?.[1] ?? '',
    arguments: '{"a":40,"b":2}',
  },
  {
    asked: /Use the code_exec tool/,
    name: () => 'code_exec',
    arguments: '{"input":"print(\'hello world\')"}',
  },
  { asked: /Use the math_exp tool/, name: () => 'math_exp', arguments: '{"input":"4 + 4"}' },
  { asked: /weather/, name: () => 'get_weather', arguments: '{"location":"San Francisco, CA"}' },
];

/** The rules for texts, of which the first one that matches decides. */
const TEXTS: readonly { asked: RegExp; answer: (all: string) => string }[] = [
  { asked: /Reply with just the number/, answer: (all) => /code=(\d+)/.exec(all)?.[1] ?? '42' },
  { asked: /HELLO and nothing else/, answer: () => 'HELLO' },
  { asked: /Generate an object with status/, answer: () => '{"status":"ok","value":42}' },
  { asked: /Return JSON like/, answer: () => '{"ok":true}' },
];

/** Adds the answers to a mock. */
export function addObedientAnswers(mock: LLMock): void {
  for (const { asked, name, arguments: given } of TOOLS) {
    mock.on(
      { predicate: (request) => asked.test(lastPrompt(request)) && !hasResult(request) && hasTools(request) },
      (request) => ({ toolCalls: [{ name: name(lastPrompt(request)), arguments: given }] }),
    );
  }
  for (const { asked, answer } of TEXTS)
    mock.on({ predicate: (request) => asked.test(allText(request)) }, (request) => ({
      content: answer(allText(request)),
    }));
  mock.on({ predicate: () => true }, { content: 'OK' });
}

function lastPrompt({ messages }: ChatCompletionRequest): string {
  return JSON.stringify(messages.findLast(({ role }) => role === 'user') ?? '');
}

function allText({ messages }: ChatCompletionRequest): string {
  return JSON.stringify(messages);
}

function hasResult({ messages }: ChatCompletionRequest): boolean {
  return messages.some(({ role }) => role === 'tool');
}

function hasTools({ tools }: ChatCompletionRequest): boolean {
  return (tools ?? []).length > 0;
}
