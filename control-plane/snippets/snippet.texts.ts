/**
 * The client snippets: files to copy that set up each client. The address of chat and responses clients ends
 * with /v1, that of messages and generative-language clients does not, so every snippet contains its full
 * address. The settings are those of docs/clients.md, which were tested with the clients.
 */

import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';

/** The clients with snippets, in the order in which they are shown. */
export const CLIENTS = [
  'CURL',
  'OPENAI_PYTHON',
  'OPENAI_NODE',
  'ANTHROPIC_PYTHON',
  'ANTHROPIC_NODE',
  'GOOGLE_GENAI',
  'CLAUDE_CODE',
  'CODEX',
  'GEMINI_CLI',
  'OPENCODE',
] as const;
export type Client = (typeof CLIENTS)[number];

/** A file or shell command. */
interface SnippetFile {
  /** Path of the file; "Shell" for a command; a title for a curl example. */
  path: string;
  /** Language for syntax highlighting. */
  language: string;
  content: string;
}

/** The snippet of one client. */
interface ClientSnippet {
  client: Client;
  title: string;
  files: SnippetFile[];
  /** A free request that checks address and key. */
  verifyCommand: string;
  /** Hints for the set-up, in English. */
  notes: string[];
}

/** Address and models that the snippets contain. */
export interface Access {
  /** Without a slash at the end; for keys of a pool, the pool's address. */
  baseAddress: string;
  /** Model in scripts. */
  model: string;
  /** Main model of coding agents. */
  codingModel: string;
  /** Cheap model for side tasks of coding agents. */
  smallModel: string;
}

type Parts = Pick<ClientSnippet, 'title' | 'files' | 'notes'>;

const TEXTS: Readonly<Record<Client, (access: Access) => Parts>> = {
  CURL: (access) => ({ title: 'curl', files: curlFiles(access), notes: [] }),
  OPENAI_PYTHON: (access) => ({
    title: 'OpenAI Python',
    files: [python(openaiPython(access))],
    notes: ['pip install openai'],
  }),
  OPENAI_NODE: (access) => ({
    title: 'OpenAI Node',
    files: [node(openaiNode(access))],
    notes: ['npm install openai'],
  }),
  ANTHROPIC_PYTHON: (access) => ({
    title: 'Anthropic Python',
    files: [python(anthropicPython(access))],
    notes: ['pip install anthropic', 'The address has no /v1: the SDK adds it.'],
  }),
  ANTHROPIC_NODE: (access) => ({
    title: 'Anthropic Node',
    files: [node(anthropicNode(access))],
    notes: ['npm install @anthropic-ai/sdk', 'The address has no /v1: the SDK adds it.'],
  }),
  GOOGLE_GENAI: (access) => ({
    title: 'Google GenAI',
    files: [node(genaiNode(access)), python(genaiPython(access))],
    notes: [
      'npm install @google/genai, or pip install google-genai',
      'The address has no /v1beta: the SDK adds it.',
    ],
  }),
  CLAUDE_CODE: (access) => ({
    title: 'Claude Code',
    files: [
      { path: '~/.claude/settings.json', language: 'json', content: claudeCode(access) },
      shell('claude'),
    ],
    notes: [
      'Tested with 2.1.197. /status in a session shows the address that is used.',
      'Do not put the key into the settings file of a project, which may be committed.',
    ],
  }),
  CODEX: (access) => ({
    title: 'Codex',
    files: [
      { path: '~/.codex/config.toml', language: 'toml', content: codex(access) },
      shell(lines(`export GATEWAY_KEY=${KEY_PLACEHOLDER}`, 'codex')),
    ],
    notes: ['Tested with 0.169.0. env_key is the name of a variable, not the key.'],
  }),
  GEMINI_CLI: (access) => ({
    title: 'Gemini CLI',
    files: [
      { path: '~/.gemini/.env', language: 'ini', content: geminiVariables(access) },
      { path: '~/.gemini/settings.json', language: 'json', content: GEMINI_SETTINGS },
      shell(`gemini -m ${access.codingModel}`),
    ],
    notes: ['Tested with 0.61.0. The address has no /v1beta: the client adds it.'],
  }),
  OPENCODE: (access) => ({
    title: 'opencode',
    files: [
      { path: '~/.config/opencode/opencode.json', language: 'json', content: opencode(access) },
      shell(lines(`export GATEWAY_KEY=${KEY_PLACEHOLDER}`, 'opencode')),
    ],
    notes: ['Tested with 1.18.33. It generates session titles with separate requests to small_model.'],
  }),
};

/** The snippets of these clients, in the order of CLIENTS; of all clients by default. */
export function snippetsOf(access: Access, wanted?: readonly Client[] | null): ClientSnippet[] {
  const authorization = `Authorization: Bearer ${KEY_PLACEHOLDER}`;
  const verifyCommand = `curl -sS ${access.baseAddress}/v1/models -H "${authorization}"`;
  return CLIENTS.filter((client) => wanted?.includes(client) ?? true).map((client) => {
    const { title, files, notes } = TEXTS[client](access);
    return { client, title, files, notes: [...notes, ...hostNotes(access)], verifyCommand };
  });
}

/** A note for names below localhost: curl and browsers resolve them, but the system's resolver may not. */
function hostNotes({ baseAddress }: Access): string[] {
  const { hostname } = new URL(baseAddress);
  if (!hostname.endsWith('.localhost')) return [];
  return [`If ${hostname} is not found, add the line "127.0.0.1 ${hostname}" to /etc/hosts.`];
}

const python = (content: string): SnippetFile => ({ path: 'main.py', language: 'python', content });
const node = (content: string): SnippetFile => ({ path: 'main.mjs', language: 'javascript', content });
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

const lines = (...parts: string[]): string => parts.join('\n');

function openaiPython({ baseAddress, model }: Access): string {
  return lines(
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${baseAddress}/v1", api_key="${KEY_PLACEHOLDER}")`,
    'reply = client.chat.completions.create(',
    `    model="${model}", messages=[{"role": "user", "content": "Hello"}]`,
    ')',
    'print(reply.choices[0].message.content)',
  );
}

function openaiNode({ baseAddress, model }: Access): string {
  return lines(
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: '${baseAddress}/v1', apiKey: '${KEY_PLACEHOLDER}' });`,
    'const reply = await client.chat.completions.create({',
    `  model: '${model}',`,
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '});',
    'console.info(reply.choices[0].message.content);',
  );
}

function anthropicPython({ baseAddress, model }: Access): string {
  return lines(
    'from anthropic import Anthropic',
    '',
    `client = Anthropic(base_url="${baseAddress}", api_key="${KEY_PLACEHOLDER}")`,
    'reply = client.messages.create(',
    `    model="${model}", max_tokens=1024, messages=[{"role": "user", "content": "Hello"}]`,
    ')',
    'print(reply.content[0].text)',
  );
}

function anthropicNode({ baseAddress, model }: Access): string {
  return lines(
    "import Anthropic from '@anthropic-ai/sdk';",
    '',
    `const client = new Anthropic({ baseURL: '${baseAddress}', apiKey: '${KEY_PLACEHOLDER}' });`,
    'const reply = await client.messages.create({',
    `  model: '${model}',`,
    '  max_tokens: 1024,',
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '});',
    'console.info(reply.content[0].text);',
  );
}

function genaiNode({ baseAddress, model }: Access): string {
  return lines(
    "import { GoogleGenAI } from '@google/genai';",
    '',
    'const client = new GoogleGenAI({',
    `  apiKey: '${KEY_PLACEHOLDER}',`,
    `  httpOptions: { baseUrl: '${baseAddress}' },`,
    '});',
    `const reply = await client.models.generateContent({ model: '${model}', contents: 'Hello' });`,
    'console.info(reply.text);',
  );
}

function genaiPython({ baseAddress, model }: Access): string {
  return lines(
    'from google import genai',
    '',
    'client = genai.Client(',
    `    api_key="${KEY_PLACEHOLDER}", http_options={"base_url": "${baseAddress}"}`,
    ')',
    `reply = client.models.generate_content(model="${model}", contents="Hello")`,
    'print(reply.text)',
  );
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
