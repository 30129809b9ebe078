/**
 * `npm run clients`: the agent CLIs, set up as the console says and run without a terminal against a whole
 * house over each of the four upstream formats: a plain turn, one in which the model runs a command, and
 * the second turn of a conversation, before which Codex has the first one summed up. They are installed
 * into a folder of the system's temporary ones, or into CLIENTS_DIR. `--only NAME` picks those whose name
 * has it.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { FORMATS, GENERATIVE_MODEL, startSpeakingUpstream } from '../sdk/upstream.ts';
import type { SpeakingUpstream, UpstreamFormat } from '../sdk/upstream.ts';
import { AGENTS } from './agents.ts';
import type { Agent } from './agents.ts';
import { installPrograms } from './install.ts';
import { chargesOf, layOut, setUpsOfModel, type } from './setup.ts';
import type { Printed, SetUpFile } from './setup.ts';
import { startWitness } from './witness.ts';
import type { Witness } from './witness.ts';

const TURN_MS = 90_000;
const SETTLED_WITHIN_MS = 10_000;
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
      toolCalls: [{ name: agent.shellTool, arguments: JSON.stringify(agent.shellArguments(COMMAND)) }],
      ...(model === GENERATIVE_MODEL ? { finishReason: 'stop' } : {}),
    };
  });
  mock.on({ predicate: (request) => has(request, FOLLOW_PROMPT) }, { content: FOLLOW_ANSWER });
  const usage = { input_tokens: USED_TOKENS, output_tokens: 10 };
  mock.on({ predicate: () => true }, { content: PLAIN_ANSWER, usage });
}

interface Stage {
  house: House;
  witness: Witness;
  upstream: SpeakingUpstream;
  customer: Customer;
  /** The folder of each agent's program, by its package. */
  programs: ReadonlyMap<string, string>;
}

/** What the console shows for the agent on this model's page, or what it is tried with besides. */
async function filesFor(stage: Stage, agent: Agent, model: string): Promise<readonly SetUpFile[]> {
  const { customer, witness } = stage;
  const { api, key } = customer;
  if (agent.ownFiles) return agent.ownFiles({ url: witness.url, key, model });
  return (await setUpsOfModel(api, { model, key })).get(agent.client)?.files ?? [];
}

/** Runs one turn; returns what is wrong with it, or nothing. */
async function tryTurn(stage: Stage, agent: Agent, { format, turn }: { format: UpstreamFormat; turn: Turn }) {
  const { house, witness, upstream, customer, programs } = stage;
  const home = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  const text = layOut(await filesFor(stage, agent, format.model), home);
  const before = await chargesOf(house, customer.keyId);
  upstream.seen.length = 0;
  witness.seen.length = 0;
  let printed: Printed = { code: null, out: '', all: '' };
  for (const [index, prompt] of turn.prompts.entries()) {
    const given = { prompt, isFollowUp: index > 0, compactAfterTokens: turn.compactAfterTokens };
    printed = await type({
      text,
      arguments: agent.arguments(given),
      home,
      programs: programs.get(agent.package) ?? '',
      env: agent.env ?? {},
      timeout: TURN_MS,
    });
  }
  rmSync(home, { recursive: true, force: true });
  const answer = agent.answerIn(printed.out).trim();
  const charged = await settled(stage, before);
  const wrong = [
    ...(printed.code === 0 ? [] : [`exit ${printed.code}`]),
    ...(answer === turn.answer ? [] : [`answer "${answer}"`]),
    ...(wasShown(upstream, turn) ? [] : ['not shown what it should be']),
    ...(charged === upstream.seen.length ? [] : [`${charged} charges for ${upstream.seen.length} answers`]),
    ...wrongCount(agent, turn, upstream.seen.length),
  ];
  if (wrong.length === 0) return undefined;
  const requests = witness.seen.map(({ method, path, status }) => `${method} ${path} ${status}`).join(', ');
  return `${wrong.join(', ')}, requests: ${requests}\n${printed.all.slice(-3000)}`;
}

/** By the last request of the conversation itself: titles are asked for beside it. */
function wasShown({ seen }: SpeakingUpstream, { prompts, shown }: Turn): boolean {
  const last = seen.findLast(({ body }) => body.includes(prompts.at(-1) ?? ''));
  return last?.body.includes(shown) === true;
}

/** A plain turn takes so many requests and no more; a conversation that is summed up takes one more. */
function wrongCount(agent: Agent, turn: Turn, requests: number): string[] {
  const isPlain = turn.prompts.length === 1 && turn.shown === PLAIN_PROMPT;
  if (isPlain && requests !== agent.requests) return [`${requests} requests`];
  const mustCompact = agent.compacts && turn.compactAfterTokens < USED_TOKENS;
  return mustCompact && requests <= turn.prompts.length ? ['not summed up'] : [];
}

/** What was charged since then, once the books know of every answer, or the time is over. */
async function settled({ house, customer, upstream }: Stage, before: number): Promise<number> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const charged = (await chargesOf(house, customer.keyId)) - before;
    if (charged >= upstream.seen.length || Date.now() > until) return charged;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
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
  const programs = new Map<string, string>();
  for (const { package: name } of agents) programs.set(name, await installPrograms(name));
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-clients-data-'));
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  const upstream = await startSpeakingUpstream({ addAnswers });
  const witness = await startWitness();
  try {
    const controlEnv = { PUBLIC_URL: witness.url };
    const house = await startHouse({ databaseUrl: postgres.url, controlEnv });
    try {
      witness.passTo(house.url);
      for (const { protocol, prefix, model } of FORMATS) {
        const baseUrl = upstream.origin + prefix;
        await addUpstream(house, { name: protocol, protocol, baseUrl, models: [model] });
      }
      const customer = await addCustomer(house, '1000');
      return await measure({ house, witness, upstream, customer, programs }, agents);
    } finally {
      await house.stop();
    }
  } finally {
    witness.stop();
    await upstream.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

process.exitCode = await main();
