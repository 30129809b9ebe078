/** The three agent CLIs: how each is installed, pointed at a gateway, and asked without a terminal. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where one turn runs: a folder of its own, with no settings but these. */
export interface Setting {
  /** The gateway's base address, without a version. */
  url: string;
  key: string;
  model: string;
  /** An empty folder for the CLI's own files. */
  home: string;
  prompt: string;
  /** Whether this goes on with the conversation that the same home has begun. */
  isFollowUp: boolean;
  /** Earlier turns are to be summed up once they are longer than this, where the CLI can be told so. */
  compactAfterTokens: number;
}

export interface Command {
  arguments: string[];
  env: Record<string, string>;
}

export interface Agent {
  name: string;
  /** Package and version, as tested. */
  package: string;
  /** The program below `node_modules/.bin`. */
  program: string;
  /** Its tool that runs a shell command, and that tool's argument. */
  shellTool: string;
  shellArgument: string;
  /** Whether it sums up earlier turns where it is told when. */
  compacts: boolean;
  /** Writes the settings that cannot be given otherwise and says how to call it. */
  command(setting: Setting): Command;
  /** The model's last words in what it printed. */
  answerIn(printed: string): string;
}

const codex: Agent = {
  name: 'Codex CLI',
  package: '@openai/codex@0.169.0',
  program: 'codex',
  shellTool: 'exec_command',
  shellArgument: 'cmd',
  compacts: true,
  command: ({ url, key, model, home, prompt, isFollowUp, compactAfterTokens }) => {
    writeFileSync(
      join(home, 'config.toml'),
      [
        `model = "${model}"`,
        `model_auto_compact_token_limit = ${compactAfterTokens}`,
        'model_provider = "gateway"',
        '[model_providers.gateway]',
        'name = "gateway"',
        `base_url = "${url}/v1"`,
        'env_key = "GATEWAY_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
        '',
      ].join('\n'),
    );
    return {
      env: { CODEX_HOME: home, GATEWAY_KEY: key },
      arguments: [
        ...['exec', '--sandbox', 'danger-full-access', ...(isFollowUp ? ['resume', '--last'] : [])],
        ...['--json', '--skip-git-repo-check', prompt],
      ],
    };
  },
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
  command: (setting) => {
    const { url, key, model, home, compactAfterTokens } = setting;
    const { arguments: list } = codex.command(setting);
    const lines = [
      `model = "${model}"`,
      `model_auto_compact_token_limit = ${compactAfterTokens}`,
      `openai_base_url = "${url}/v1"`,
    ];
    writeFileSync(join(home, 'config.toml'), `${lines.join('\n')}\n`);
    return { env: { CODEX_HOME: home, CODEX_API_KEY: key }, arguments: list };
  },
};

const claude: Agent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code@2.1.197',
  program: 'claude',
  shellTool: 'Bash',
  shellArgument: 'command',
  compacts: false,
  command: ({ url, key, model, home, prompt, isFollowUp }) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      DISABLE_AUTOUPDATER: '1',
    },
    arguments: [
      ...['--model', model, '--output-format', 'json', '--allowedTools', 'Bash'],
      ...(isFollowUp ? ['--continue'] : []),
      ...['-p', prompt],
    ],
  }),
  answerIn: (printed) => textIn(printed, 'result'),
};

const gemini: Agent = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli@0.61.0',
  program: 'gemini',
  shellTool: 'run_shell_command',
  shellArgument: 'command',
  compacts: false,
  command: ({ url, key, model, home, prompt, isFollowUp }) => {
    const folder = join(home, '.gemini');
    mkdirSync(folder, { recursive: true });
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    return {
      env: {
        GEMINI_API_KEY: key,
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_HOME: home,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
      arguments: [
        ...['-m', model, '-o', 'json', '--yolo', ...(isFollowUp ? ['-r', 'latest'] : [])],
        ...['-p', prompt],
      ],
    };
  },
  answerIn: (printed) => textIn(printed, 'response'),
};

export const AGENTS: readonly Agent[] = [codex, codexBuiltIn, claude, gemini];

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
