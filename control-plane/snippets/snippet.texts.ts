/**
 * The client snippets: files to copy that set up each client. The address of chat and responses clients ends
 * with /v1, that of messages and generative-language clients does not, so every snippet contains its full
 * address. The settings are those of docs/clients.md, which were tested with the clients.
 */

import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
import { hint, noteOf, type SnippetHint } from './snippet.hints.ts';
import { type Access, lines, sdkFiles, type SnippetFile } from './snippet.sdks.ts';

/** The clients with snippets, in the order in which they are shown. */
export const CLIENTS = [
  'CURL',
  'OPENAI_PYTHON',
  'OPENAI_NODE',
  'ANTHROPIC_PYTHON',
  'ANTHROPIC_NODE',
  'GOOGLE_GENAI',
  'AI_SDK',
  'CLAUDE_CODE',
  'CODEX',
  'GEMINI_CLI',
  'OPENCODE',
] as const;
export type Client = (typeof CLIENTS)[number];

/** The snippet of one client. */
interface ClientSnippet {
  client: Client;
  title: string;
  files: SnippetFile[];
  /** A free request that checks address and key. */
  verifyCommand: string;
  /** Hints for the set-up. */
  hints: SnippetHint[];
  /** The hints in English. */
  notes: string[];
}

type Parts = Pick<ClientSnippet, 'title' | 'files' | 'hints'>;

const TEXTS: Readonly<Record<Client, (access: Access) => Parts>> = {
  CURL: (access) => ({ title: 'curl', files: curlFiles(access), hints: [] }),
  OPENAI_PYTHON: (access) => ({
    title: 'OpenAI Python',
    files: sdkFiles.OPENAI_PYTHON(access),
    hints: [hint('INSTALL', 'pip install openai')],
  }),
  OPENAI_NODE: (access) => ({
    title: 'OpenAI Node',
    files: sdkFiles.OPENAI_NODE(access),
    hints: [hint('INSTALL', 'npm install openai')],
  }),
  ANTHROPIC_PYTHON: (access) => ({
    title: 'Anthropic Python',
    files: sdkFiles.ANTHROPIC_PYTHON(access),
    hints: [hint('INSTALL', 'pip install anthropic'), hint('ADDRESS_COMPLETED', '/v1')],
  }),
  ANTHROPIC_NODE: (access) => ({
    title: 'Anthropic Node',
    files: sdkFiles.ANTHROPIC_NODE(access),
    hints: [hint('INSTALL', 'npm install @anthropic-ai/sdk'), hint('ADDRESS_COMPLETED', '/v1')],
  }),
  GOOGLE_GENAI: (access) => ({
    title: 'Google GenAI',
    files: sdkFiles.GOOGLE_GENAI(access),
    hints: [
      hint('INSTALL', 'npm install @google/genai'),
      hint('INSTALL', 'pip install google-genai'),
      hint('ADDRESS_COMPLETED', '/v1beta'),
    ],
  }),
  AI_SDK: (access) => ({
    title: 'AI SDK',
    files: sdkFiles.AI_SDK(access),
    hints: [hint('INSTALL_PROVIDER', 'npm install ai')],
  }),
  CLAUDE_CODE: (access) => ({
    title: 'Claude Code',
    files: [
      { path: '~/.claude/settings.json', language: 'json', content: claudeCode(access) },
      shell('claude'),
    ],
    hints: [hint('TESTED', '2.1.197'), hint('SHOWS_ADDRESS', '/status'), hint('NOT_IN_PROJECT')],
  }),
  CODEX: (access) => ({
    title: 'Codex',
    files: [
      { path: '~/.codex/config.toml', language: 'toml', content: codex(access) },
      shell(lines(`export GATEWAY_KEY=${KEY_PLACEHOLDER}`, 'codex')),
    ],
    hints: [hint('TESTED', '0.169.0'), hint('NAME_OF_VARIABLE', 'env_key')],
  }),
  GEMINI_CLI: (access) => ({
    title: 'Gemini CLI',
    files: [
      { path: '~/.gemini/.env', language: 'ini', content: geminiVariables(access) },
      { path: '~/.gemini/settings.json', language: 'json', content: GEMINI_SETTINGS },
      shell(`gemini -m ${access.codingModel}`),
    ],
    hints: [hint('TESTED', '0.61.0'), hint('ADDRESS_COMPLETED', '/v1beta')],
  }),
  OPENCODE: (access) => ({
    title: 'opencode',
    files: [
      { path: '~/.config/opencode/opencode.json', language: 'json', content: opencode(access) },
      shell(lines(`export GATEWAY_KEY=${KEY_PLACEHOLDER}`, 'opencode')),
    ],
    hints: [hint('TESTED', '1.18.33'), hint('MAKES_TITLES', 'small_model')],
  }),
};

/** The snippets of these clients, in the order of CLIENTS; of all clients by default. */
export function snippetsOf(access: Access, wanted?: readonly Client[] | null): ClientSnippet[] {
  const authorization = `Authorization: Bearer ${KEY_PLACEHOLDER}`;
  const verifyCommand = `curl -sS ${access.baseAddress}/v1/models -H "${authorization}"`;
  return CLIENTS.filter((client) => wanted?.includes(client) ?? true).map((client) => {
    const { title, files, hints: own } = TEXTS[client](access);
    const hints = [...own, ...hostHints(access)];
    return { client, title, files, hints, notes: hints.map(noteOf), verifyCommand };
  });
}

/** A hint for names below localhost: curl and browsers resolve them, but the system's resolver may not. */
function hostHints({ baseAddress }: Access): SnippetHint[] {
  const { hostname } = new URL(baseAddress);
  if (!hostname.endsWith('.localhost')) return [];
  return [hint('HOST_NAME', hostname)];
}

const shell = (content: string): SnippetFile => ({ path: 'Shell', language: 'sh', content });

function curlFiles({ baseAddress, model }: Access): SnippetFile[] {
  const chat = { model, messages: [{ role: 'user', content: 'Hello' }] };
  const request = (path: string, header: string, body: object): string =>
    [
      `curl -sS ${baseAddress}${path} \\`,
      `  -H "${header}${KEY_PLACEHOLDER}" \\`,
      '  -H "Content-Type: application/json" \\',
      `  -d '${JSON.stringify(body)}'`,
    ].join('\n');
  const sh = (path: string, content: string): SnippetFile => ({ path, language: 'sh', content });
  return [
    sh('Chat completions', request('/v1/chat/completions', 'Authorization: Bearer ', chat)),
    sh('Messages', request('/v1/messages', 'x-api-key: ', { ...chat, max_tokens: 1024 })),
    sh(
      'Generative language',
      request(`/v1beta/models/${model}:generateContent`, 'x-goog-api-key: ', {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      }),
    ),
  ];
}

// ANTHROPIC_API_KEY would override the token, so it is set to an empty value.
function claudeCode({ baseAddress, codingModel, smallModel }: Access): string {
  const env = {
    ANTHROPIC_BASE_URL: baseAddress,
    ANTHROPIC_AUTH_TOKEN: KEY_PLACEHOLDER,
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_MODEL: codingModel,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel,
  };
  return JSON.stringify({ env }, null, 2);
}

function codex({ baseAddress, codingModel }: Access): string {
  return lines(
    `model = "${codingModel}"`,
    'model_provider = "gateway"',
    '',
    '[model_providers.gateway]',
    'name = "gateway"',
    `base_url = "${baseAddress}/v1"`,
    'env_key = "GATEWAY_KEY"',
    'wire_api = "responses"',
  );
}

function geminiVariables({ baseAddress }: Access): string {
  return lines(`GEMINI_API_KEY=${KEY_PLACEHOLDER}`, `GOOGLE_GEMINI_BASE_URL=${baseAddress}`);
}

const GEMINI_SETTINGS = JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2);

function opencode({ baseAddress, codingModel, smallModel }: Access): string {
  const options = { baseURL: `${baseAddress}/v1`, apiKey: '{env:GATEWAY_KEY}' };
  const gateway = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Gateway',
    options,
    models: { [codingModel]: {}, [smallModel]: {} },
  };
  const chosen = { model: `gateway/${codingModel}`, small_model: `gateway/${smallModel}` };
  return JSON.stringify({ provider: { gateway }, ...chosen }, null, 2);
}
