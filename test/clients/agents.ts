/** The agent CLIs: package, settings that the console shows, and arguments to run each without a terminal. */
import type { Client } from '../../control-plane/snippets/snippet.texts.ts';
import type { SetUpFile } from './setup.ts';

/** One prompt of a conversation. */
export interface Prompt {
  prompt: string;
  /** Whether the prompt continues the last conversation of the same home folder. */
  isFollowUp: boolean;
  /** The CLI compacts the conversation above this number of tokens, if it has such a setting. */
  compactAfterTokens: number;
}

export interface Agent {
  name: string;
  /** The client whose settings the console shows. */
  client: Client;
  /** Package and tested version. */
  package: string;
  /** Name of the agent's tool that runs a shell command. */
  shellTool: string;
  /** Arguments of that tool for a command. */
  shellArguments(command: string): Record<string, string>;
  /** Whether the CLI compacts the conversation above `compactAfterTokens`. */
  compacts: boolean;
  /** Number of requests for a first prompt that needs no tool. */
  requests: number;
  /** Optional variables that prevent requests to other addresses, and retries. */
  env?: Record<string, string>;
  /** Arguments after the command that the console shows. */
  arguments(prompt: Prompt): string[];
  /** Settings files that replace those of the console. */
  ownFiles?(access: { url: string; key: string; model: string }): SetUpFile[];
  /** The last text of the model in the printed output. */
  answerIn(printed: string): string;
}

const codex: Agent = {
  name: 'Codex CLI',
  client: 'CODEX',
  package: '@openai/codex@0.169.0',
  shellTool: 'exec_command',
  shellArguments: (cmd) => ({ cmd }),
  compacts: true,
  requests: 1,
  arguments: ({ prompt, isFollowUp, compactAfterTokens }) => [
    ...['exec', '--sandbox', 'danger-full-access'],
    ...['-c', `model_auto_compact_token_limit=${compactAfterTokens}`],
    ...(isFollowUp ? ['resume', '--last'] : []),
    ...['--json', '--skip-git-repo-check', prompt],
  ],
  answerIn: (printed) =>
    linesOf(printed)
      .map((line) => line['item'])
      .filter((item) => isObject(item) && item['type'] === 'agent_message')
      .map((item) => (isObject(item) ? String(item['text']) : ''))
      .at(-1) ?? '',
};

/** Codex with its built-in provider: it first requests a WebSocket, and continues over HTTP. */
const codexBuiltIn: Agent = {
  ...codex,
  name: 'Codex CLI (built-in provider)',
  ownFiles: ({ url, key, model }) => [
    { path: '~/.codex/config.toml', content: `model = "${model}"\nopenai_base_url = "${url}/v1"\n` },
    { path: 'Shell', content: `export CODEX_API_KEY=${key}\ncodex` },
  ],
};

const claude: Agent = {
  name: 'Claude Code',
  client: 'CLAUDE_CODE',
  package: '@anthropic-ai/claude-code@2.1.197',
  shellTool: 'Bash',
  shellArguments: (command) => ({ command }),
  compacts: false,
  requests: 1,
  env: {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    DISABLE_AUTOUPDATER: '1',
  },
  arguments: ({ prompt, isFollowUp }) => [
    ...['--output-format', 'json', '--allowedTools', 'Bash'],
    ...(isFollowUp ? ['--continue'] : []),
    ...['-p', prompt],
  ],
  answerIn: (printed) => textIn(printed, 'result'),
};

const gemini: Agent = {
  name: 'Gemini CLI',
  client: 'GEMINI_CLI',
  package: '@google/gemini-cli@0.61.0',
  shellTool: 'run_shell_command',
  shellArguments: (command) => ({ command }),
  compacts: false,
  requests: 1,
  env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  arguments: ({ prompt, isFollowUp }) => [
    ...['-o', 'json', '--yolo', ...(isFollowUp ? ['-r', 'latest'] : [])],
    ...['-p', prompt],
  ],
  answerIn: (printed) => textIn(printed, 'response'),
};

/** For the first prompt opencode sends a second request, for a title. */
const opencode: Agent = {
  name: 'opencode',
  client: 'OPENCODE',
  package: 'opencode-ai@1.18.33',
  shellTool: 'bash',
  shellArguments: (command) => ({ command, description: 'The agreed command' }),
  compacts: false,
  requests: 2,
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  arguments: ({ prompt, isFollowUp }) => [
    ...['run', '--format', 'json', ...(isFollowUp ? ['--continue'] : [])],
    prompt,
  ],
  answerIn: (printed) =>
    linesOf(printed)
      .map((line) => line['part'])
      .filter((part) => isObject(part) && part['type'] === 'text')
      .map((part) => (isObject(part) ? String(part['text']) : ''))
      .at(-1) ?? '',
};

export const AGENTS: readonly Agent[] = [codex, codexBuiltIn, claude, gemini, opencode];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The JSON objects among the printed lines. */
function linesOf(printed: string): Record<string, unknown>[] {
  return printed.split('\n').flatMap((line) => {
    const value = line.startsWith('{') ? parse(line) : undefined;
    return isObject(value) ? [value] : [];
  });
}

/** A string member of the printed JSON object. Other lines may precede the object. */
function textIn(printed: string, member: string): string {
  const value = parse(printed.slice(printed.search(/^\{/m)));
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'string' ? found : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
