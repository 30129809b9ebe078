/**
 * Requests as the agent CLIs send them, with members that ordinary clients do not send, over every upstream
 * format. `npm run clients` runs the CLIs themselves.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../request-path.ts';
import type { CallOptions, TestNode } from '../request-path.ts';
import { startSpeakingUpstream } from '../sdk/upstream.ts';
import type { SpeakingUpstream } from '../sdk/upstream.ts';

const SHELL_SCHEMA = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
  $schema: 'http://json-schema.org/draft-07/schema#',
};
const PROMPT = 'Run the command.';
const OUTPUT = 'the output of the command';
const ANSWER = 'It printed what it should.';

interface Agent {
  name: string;
  path: string;
  headers: Record<string, string>;
  body: object;
}

/** Each body is the second request of a conversation with a tool call: it has the call and its result. */
const AGENTS: Agent[] = [
  {
    name: 'Codex CLI',
    path: '/v1/responses',
    headers: { originator: 'codex_exec', 'x-codex-beta-features': 'remote_compaction_v2' },
    body: {
      model: 'swift',
      instructions: 'You are a coding agent.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'No network.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: PROMPT }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A shell will do.' }], content: null },
        { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"true"}', call_id: 'call_1' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: OUTPUT }] },
      ],
      tools: [
        {
          type: 'function',
          name: 'exec_command',
          description: 'Runs.',
          strict: false,
          parameters: SHELL_SCHEMA,
        },
        {
          type: 'namespace',
          name: 'multi_agent_v1',
          description: 'Other agents.',
          tools: [{ type: 'function', name: 'spawn', description: 'Starts one.', parameters: SHELL_SCHEMA }],
        },
        { type: 'web_search', external_web_access: false },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { summary: 'auto' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '019c0000-0000-7000-8000-000000000000',
      client_metadata: { 'x-codex-installation-id': 'none' },
    },
  },
  {
    name: 'Claude Code',
    path: '/v1/messages?beta=true',
    headers: {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,effort-2025-11-24',
      'x-app': 'cli',
    },
    body: {
      model: 'swift',
      max_tokens: 32_000,
      system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: PROMPT }] },
        { role: 'system', content: 'The date has changed.' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'true' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: OUTPUT, is_error: false },
            { type: 'text', text: 'Go on.', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
      tools: [{ name: 'Bash', description: 'Runs.', input_schema: SHELL_SCHEMA }],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: '{"device_id":"none"}' },
      stream: true,
    },
  },
  {
    name: 'Gemini CLI',
    path: '/v1beta/models/swift:streamGenerateContent?alt=sse',
    headers: {},
    body: {
      systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
      contents: [
        { role: 'user', parts: [{ text: PROMPT }] },
        {
          role: 'model',
          parts: [
            {
              functionCall: { name: 'run_shell_command', args: { command: 'true' } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'run-1', name: 'run_shell_command', response: { output: OUTPUT } } },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'run_shell_command', description: 'Runs.', parametersJsonSchema: SHELL_SCHEMA },
          ],
        },
      ],
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        topK: 64,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
      },
    },
  },
];

const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate'] as const;

let upstream: SpeakingUpstream;
let node: TestNode;

beforeAll(async () => {
  upstream = await startSpeakingUpstream({
    addAnswers: (mock) => {
      mock.on(
        { predicate: ({ messages }) => JSON.stringify(messages).includes(OUTPUT) },
        { content: ANSWER },
      );
    },
  });
  node = await startNode();
  node.store.modelList = [makeModel({ name: 'swift' })];
});

afterAll(async () => {
  await node?.close();
  await upstream?.stop();
});

/** The streamed text in any of the formats: pieces of at most five characters, in order. */
function textOf(stream: string): string {
  const pieces = stream.matchAll(/"(?:text|delta)":"((?:[^"\\]|\\.){1,5})"/g);
  return [...pieces].map(([, piece]) => piece).join('');
}

describe.each(DIALECTS)('over a %s upstream', (dialect) => {
  beforeEach(() => {
    const baseUrl = `${upstream.origin}/${dialect === 'google-generate' ? 'v1beta' : 'v1'}`;
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: [dialect], baseUrl } })];
    node.ledger.charges = [];
  });

  it.each(AGENTS)('a request of $name is answered and charged', async ({ path, headers, body }) => {
    const options: CallOptions = { path, headers, body };
    const { status, text, broken } = await node.call(options);
    expect({ status, broken }, text).toEqual({ status: 200, broken: false });
    expect(textOf(text)).toContain(ANSWER);
    expect(upstream.seen.at(-1)?.body).toContain(OUTPUT);
    expect(node.ledger.charges).toHaveLength(1);
  });
});
