/**
 * `npm run clients`: the agent CLIs, run without a terminal against a whole house over each of the four
 * upstream formats: a plain turn, one in which the model runs a command, and the second turn of a
 * conversation, before which Codex has the first one summed up. The CLIs are installed into a
 * folder of the system's temporary ones, or into CLIENTS_DIR. `--only NAME` picks those whose name has it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer } from '../house.ts';
import { FORMATS, GENERATIVE_MODEL, startSpeakingUpstream } from '../sdk/upstream.ts';
import type { SpeakingUpstream, UpstreamFormat } from '../sdk/upstream.ts';
import { AGENTS } from './agents.ts';
import type { Agent } from './agents.ts';
import { startWitness } from './witness.ts';
import type { Witness } from './witness.ts';

const TURN_MS = 90_000;
const PLAIN_PROMPT = 'Say something about a fox.';
const PLAIN_ANSWER = 'The quick brown fox jumps over the lazy dog.';
const COMMAND_PROMPT = 'Run the agreed command and tell me what it prints.';
/** Two halves that only a shell puts together: the whole is in no request unless the command has run. */
const COMMAND = "printf '%s%s\\n' forty two";
const COMMAND_OUTPUT = 'fortytwo';
const COMMAND_ANSWER = 'The command printed what it should.';

const FOLLOW_PROMPT = 'And what did you say before?';
const FOLLOW_ANSWER = 'Something about a fox.';
/** Between the two: what an answer claims to have used, and what a conversation may be long. */
const USED_TOKENS = 20_000;
const SHORT_TOKENS = 10_000;
const LONG_TOKENS = 100_000;

interface Turn {
  name: string;
  /** One after the other, in one conversation. */
  prompts: readonly string[];
  answer: string;
  /** What the upstream must have been shown in the end. */
  shown: string;
  compactAfterTokens: number;
}

const TURNS: readonly Turn[] = [
  {
    name: 'plain turn',
    prompts: [PLAIN_PROMPT],
    answer: PLAIN_ANSWER,
    shown: PLAIN_PROMPT,
    compactAfterTokens: LONG_TOKENS,
  },
  {
    name: 'tool-call turn',
    prompts: [COMMAND_PROMPT],
    answer: COMMAND_ANSWER,
    shown: COMMAND_OUTPUT,
    compactAfterTokens: LONG_TOKENS,
  },
  {
    name: 'second turn',
    prompts: [PLAIN_PROMPT, FOLLOW_PROMPT],
    answer: FOLLOW_ANSWER,
    shown: PLAIN_ANSWER,
    compactAfterTokens: SHORT_TOKENS,
  },
];

function addAnswers(mock: LLMock): void {
  const has = ({ messages }: ChatCompletionRequest, text: string): boolean =>
    JSON.stringify(messages).includes(text);
  mock.on({ predicate: (request) => has(request, COMMAND_OUTPUT) }, { content: COMMAND_ANSWER });
  mock.on({ predicate: (request) => has(request, COMMAND_PROMPT) }, ({ model, tools }) => {
    const offered = (tools ?? []).map((tool) => tool.function.name);
    const agent = AGENTS.find(({ shellTool }) => offered.includes(shellTool));
    if (!agent) return { content: `No shell among the tools: ${offered.join(', ')}` };
    return {
      reasoning: 'A shell will do.',
      toolCalls: [{ name: agent.shellTool, arguments: JSON.stringify({ [agent.shellArgument]: COMMAND }) }],
      ...(model === GENERATIVE_MODEL ? { finishReason: 'stop' } : {}),
    };
  });
  mock.on({ predicate: (request) => has(request, FOLLOW_PROMPT) }, { content: FOLLOW_ANSWER });
  const usage = { input_tokens: USED_TOKENS, output_tokens: 10 };
  mock.on({ predicate: () => true }, { content: PLAIN_ANSWER, usage });
}

/** Installs what is missing; returns the folder of the programs. */
function install(agents: readonly Agent[]): string {
  const folder = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'gateway-clients');
  mkdirSync(folder, { recursive: true });
  const programs = join(folder, 'node_modules', '.bin');
  const wanted = [...new Set(agents.map((agent) => agent.package))];
  if (!wanted.every((name) => isInstalled(folder, name))) {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    spawnSync('npm', ['install', ...options, ...wanted], { cwd: folder, stdio: 'inherit' });
  }
  // Claude Code's program is a file that its own script puts in place.
  const script = join(folder, 'node_modules', '@anthropic-ai', 'claude-code', 'install.cjs');
  if (existsSync(script)) spawnSync(process.execPath, [script], { stdio: 'inherit' });
  return programs;
}

/** Whether the folder holds this `name@version`. */
function isInstalled(folder: string, wanted: string): boolean {
  const at = wanted.lastIndexOf('@');
  const manifest = join(folder, 'node_modules', wanted.slice(0, at), 'package.json');
  return existsSync(manifest) && readFileSync(manifest, 'utf8').includes(`"${wanted.slice(at + 1)}"`);
}

interface Printed {
  code: number | null;
  out: string;
  all: string;
}

function run(program: string, command: ReturnType<Agent['command']>, cwd: string): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, command.arguments, {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, TERM: 'dumb', ...command.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TURN_MS,
    });
    const printed = { out: '', all: '' };
    child.stdout.on('data', (piece: Buffer) => {
      printed.out += piece.toString('utf8');
      printed.all += piece.toString('utf8');
    });
    child.stderr.on('data', (piece: Buffer) => {
      printed.all += piece.toString('utf8');
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
  });
}

interface Stage {
  witness: Witness;
  upstream: SpeakingUpstream;
  customer: Customer;
  programs: string;
}

/** Runs one turn; returns what is wrong with it, or nothing. */
async function tryTurn(stage: Stage, agent: Agent, { format, turn }: { format: UpstreamFormat; turn: Turn }) {
  const { witness, upstream, customer, programs } = stage;
  const home = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  const { compactAfterTokens } = turn;
  const target = { url: witness.url, key: customer.key, model: format.model, home, compactAfterTokens };
  upstream.seen.length = 0;
  witness.seen.length = 0;
  let printed: Printed = { code: null, out: '', all: '' };
  for (const [index, prompt] of turn.prompts.entries()) {
    const command = agent.command({ ...target, prompt, isFollowUp: index > 0 });
    printed = await run(join(programs, agent.program), command, home);
  }
  rmSync(home, { recursive: true, force: true });
  const answer = agent.answerIn(printed.out).trim();
  const wasShown = upstream.seen.at(-1)?.body.includes(turn.shown) === true;
  const hasCompacted = upstream.seen.length > turn.prompts.length;
  const mustCompact = agent.compacts && compactAfterTokens < USED_TOKENS;
  if (printed.code === 0 && answer === turn.answer && wasShown && (hasCompacted || !mustCompact))
    return undefined;
  const requests = witness.seen.map(({ method, path, status }) => `${method} ${path} ${status}`).join(', ');
  return `exit ${printed.code}, answer "${answer}", requests: ${requests}\n${printed.all.slice(-3000)}`;
}

/** What of the requests did not reach the upstream, each pointer once, numbers of list items aside. */
function lost({ seen }: Witness): string {
  const pointers = seen.flatMap(({ dropped }) => dropped.map((pointer) => pointer.replace(/\/\d+/g, '/*')));
  const names = [...new Set(pointers)].sort();
  return names.length > 0 ? `lost ${names.join(' ')}` : 'nothing lost';
}

async function measure(stage: Stage, agents: readonly Agent[]): Promise<number> {
  let failures = 0;
  for (const agent of agents) {
    for (const format of FORMATS) {
      for (const turn of TURNS) {
        const wrong = await tryTurn(stage, agent, { format, turn });
        failures += wrong ? 1 : 0;
        const requests = stage.upstream.seen.length;
        const verdict = wrong ? `FAILED: ${wrong}` : `passed, ${requests} requests, ${lost(stage.witness)}`;
        process.stdout.write(`${agent.name}, ${format.protocol}, ${turn.name}: ${verdict}\n`);
      }
    }
  }
  process.stdout.write(failures === 0 ? 'All passed.\n' : `${failures} failed.\n`);
  return failures === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const only = process.argv.indexOf('--only');
  const word = only < 0 ? '' : (process.argv[only + 1] ?? '').toLowerCase();
  const agents = AGENTS.filter(({ name }) => name.toLowerCase().includes(word));
  const programs = install(agents);
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-clients-data-'));
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  const upstream = await startSpeakingUpstream({ addAnswers });
  try {
    const house = await startHouse({ databaseUrl: postgres.url });
    try {
      for (const { protocol, prefix, model } of FORMATS) {
        const baseUrl = upstream.origin + prefix;
        await addUpstream(house, { name: protocol, protocol, baseUrl, models: [model] });
      }
      const customer = await addCustomer(house, '1000');
      const witness = await startWitness(house.url);
      try {
        return await measure({ witness, upstream, customer, programs }, agents);
      } finally {
        witness.stop();
      }
    } finally {
      await house.stop();
    }
  } finally {
    await upstream.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

process.exitCode = await main();
