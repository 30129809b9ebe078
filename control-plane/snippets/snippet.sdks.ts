/** Example programs for SDKs: the shortest request, with address, key and model. */
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';

/** A file or shell command. */
export interface SnippetFile {
  /** Path of the file; "Shell" for a command; a title for an example of curl or the AI SDK. */
  path: string;
  /** Language for syntax highlighting. */
  language: string;
  content: string;
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

type Files = (access: Access) => SnippetFile[];

/** The files of each SDK. */
export const sdkFiles = {
  OPENAI_PYTHON: (access) => [python(openaiPython(access))],
  OPENAI_NODE: (access) => [node(openaiNode(access))],
  ANTHROPIC_PYTHON: (access) => [python(anthropicPython(access))],
  ANTHROPIC_NODE: (access) => [node(anthropicNode(access))],
  GOOGLE_GENAI: (access) => [node(genaiNode(access)), python(genaiPython(access))],
  AI_SDK: (access) => aiSdkFiles(access),
} as const satisfies Record<string, Files>;

const python = (content: string): SnippetFile => ({ path: 'main.py', language: 'python', content });
const node = (content: string): SnippetFile => ({ path: 'main.mjs', language: 'javascript', content });

/** Joins lines of a text. */
export const lines = (...parts: string[]): string => parts.join('\n');

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

/** A provider package of the AI SDK, and what its example contains. */
interface AiSdkPackage {
  name: string;
  create: string;
  /** Path after the base address. */
  path: string;
  /** Options besides key and address. */
  more?: string[];
  /** The expression of the model. */
  use: (model: string) => string;
}

const AI_SDK: readonly AiSdkPackage[] = [
  {
    name: '@ai-sdk/openai-compatible',
    create: 'createOpenAICompatible',
    path: '/v1',
    more: ["  name: 'gateway',", '  supportsStructuredOutputs: true,'],
    use: (model) => `gateway('${model}')`,
  },
  // Its default model refers to stored answers, which most models do not have.
  { name: '@ai-sdk/openai', create: 'createOpenAI', path: '/v1', use: (model) => `gateway.chat('${model}')` },
  {
    name: '@ai-sdk/anthropic',
    create: 'createAnthropic',
    path: '/v1',
    use: (model) => `gateway('${model}')`,
  },
  { name: '@ai-sdk/google', create: 'createGoogle', path: '/v1beta', use: (model) => `gateway('${model}')` },
];

function aiSdkFiles({ baseAddress, model }: Access): SnippetFile[] {
  return AI_SDK.map(({ name, create, path, more = [], use }) => ({
    path: name,
    language: 'javascript',
    content: lines(
      `import { ${create} } from '${name}';`,
      "import { generateText } from 'ai';",
      '',
      `const gateway = ${create}({`,
      ...more,
      `  apiKey: '${KEY_PLACEHOLDER}',`,
      `  baseURL: '${baseAddress}${path}',`,
      '});',
      `const { text } = await generateText({ model: ${use(model)}, prompt: 'Hello' });`,
      'console.info(text);',
    ),
  }));
}
