/**
 * What each client wants to be told. Chat and responses clients add /v1 to the base address, messages and
 * generative
 * clients do not: that difference is the most common mistake, so every snippet spells its address out.
 */

export interface Snippet {
  id: string;
  word: string;
  files: { path: string; content: string }[];
}

/** A cheap model of the catalog, so that the first call costs little. */
const FIRST_MODEL = 'swift';
const CODING_MODEL = 'coder';

interface Access {
  key: string;
  baseAddress: string;
  /** The model to ask; left out, a cheap one for scripts and a coding one for agents. */
  model?: string;
}

/** The snippets with a key filled in. */
export function snippets({ key, baseAddress, model }: Access): Snippet[] {
  const first = model ?? FIRST_MODEL;
  const coding = model ?? CODING_MODEL;
  return [
    { id: 'curl', word: 'curl', files: [{ path: 'curl', content: curlOf(key, baseAddress, first) }] },
    {
      id: 'claude-code',
      word: 'Claude Code',
      files: [{ path: '~/.claude/settings.json', content: claudeOf(key, baseAddress, coding) }],
    },
    {
      id: 'codex',
      word: 'Codex',
      files: [
        { path: '~/.codex/config.toml', content: codexOf(baseAddress, coding) },
        { path: 'Shell', content: `export GATEWAY_API_KEY=${key}` },
      ],
    },
    {
      id: 'gemini',
      word: 'Gemini CLI',
      files: [
        { path: '~/.gemini/.env', content: `GEMINI_API_KEY=${key}\nGOOGLE_GEMINI_BASE_URL=${baseAddress}` },
      ],
    },
    { id: 'python', word: 'Python', files: [{ path: 'Python', content: pythonOf(key, baseAddress, first) }] },
    { id: 'node', word: 'Node', files: [{ path: 'Node', content: nodeOf(key, baseAddress, first) }] },
  ];
}

/** A file of environment variables that the common clients read. */
export function environmentFile(key: string, baseAddress: string): string {
  return [
    `OPENAI_API_KEY=${key}`,
    `OPENAI_BASE_URL=${baseAddress}/v1`,
    `ANTHROPIC_AUTH_TOKEN=${key}`,
    `ANTHROPIC_BASE_URL=${baseAddress}`,
    `GEMINI_API_KEY=${key}`,
    `GOOGLE_GEMINI_BASE_URL=${baseAddress}`,
    '',
  ].join('\n');
}

function curlOf(key: string, baseAddress: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `curl ${baseAddress}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${body}'`,
  ].join('\n');
}

// An ANTHROPIC_API_KEY from elsewhere would win over the token, so it is emptied.
function claudeOf(key: string, baseAddress: string, model: string): string {
  const env = {
    ANTHROPIC_BASE_URL: baseAddress,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_MODEL: model,
  };
  return JSON.stringify({ env }, null, 2);
}

function codexOf(baseAddress: string, model: string): string {
  return [
    `model = "${model}"`,
    'model_provider = "gateway"',
    '',
    '[model_providers.gateway]',
    'name = "Gateway"',
    `base_url = "${baseAddress}/v1"`,
    'env_key = "GATEWAY_API_KEY"',
    'wire_api = "responses"',
  ].join('\n');
}

function pythonOf(key: string, baseAddress: string, model: string): string {
  return [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${baseAddress}/v1", api_key="${key}")`,
    'reply = client.chat.completions.create(',
    `    model="${model}", messages=[{"role": "user", "content": "Hello"}]`,
    ')',
    'print(reply.choices[0].message.content)',
  ].join('\n');
}

function nodeOf(key: string, baseAddress: string, model: string): string {
  return [
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: '${baseAddress}/v1', apiKey: '${key}' });`,
    'const reply = await client.chat.completions.create({',
    `  model: '${model}', messages: [{ role: 'user', content: 'Hello' }],`,
    '});',
    'console.info(reply.choices[0].message.content);',
  ].join('\n');
}
