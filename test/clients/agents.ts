/** The agent CLIs: how each is installed, set up by the console's own texts, and asked without a terminal. */
import type { Client } from '../../control-plane/snippets/snippet.texts.ts';
import type { SetUpFile } from './setup.ts';

/** One turn of a conversation. */
export interface Ask {
  prompt: string;
  /** Whether this goes on with the conversation that the same home has begun. */
  isFollowUp: boolean;
  /** Earlier turns are to be summed up once they are longer than this, where the CLI can be told so. */
  compactAfterTokens: number;
}

export interface Agent {
  name: string;
  /** Which of the console's texts sets it up. */
  client: Client;
  /** Package and version, as tested. */
  package: string;
  /** Its tool that runs a shell command, and that tool's arguments for one. */
  shellTool: string;
  shellArguments(command: string): Record<string, string>;
  /** Whether it sums up earlier turns where it is told when. */
  compacts: boolean;
  /** How many requests a first turn takes that needs no tool. */
  requests: number;
  /** Variables that keep it from other addresses and from asking again; none of them is needed. */
  env?: Record<string, string>;
  /** What stands behind the call that the console shows. */
  arguments(ask: Ask): string[];
  /** Another set-up than the console's. */
  ownFiles?(access: { url: string; key: string; model: string }): SetUpFile[];
  /** The model's last words in what it printed. */
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

/** Codex as it comes: its built-in provider, which asks for a WebSocket first and goes on without. */
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

/** Its first turn takes one more request, for a title. */
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

/** A member of the one JSON object that was printed, perhaps after other lines. */
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
