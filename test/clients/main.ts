/**
 * `npm run clients`: runs the agent CLIs without a terminal against a complete gateway, with the settings
 * that the console shows, over each upstream format. Each runs three scenarios: a plain prompt, a prompt with
 * a tool call, and a second prompt in a conversation, before which Codex compacts the conversation. `--all`
 * adds the SDKs of other languages: each sends a plain request, a streamed one and one with a tool. Programs
 * are installed into a temporary folder, or into CLIENTS_DIR. `--only NAME` runs the clients whose name
 * contains NAME. The results are written to `.bench/clients.json`.
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
import { startRecordingProxy } from './recording-proxy.ts';
import type { RecordingProxy } from './recording-proxy.ts';
import { Results } from './results.ts';
import { SDKS, failureOfSdk, prepare } from './sdks.ts';
import type { Command, Sdk } from './sdks.ts';
import { chargesOf, runInShell, setUpsOfModel, writeSetUp } from './setup.ts';
import type { SetUpFile, ShellResult } from './setup.ts';

/** Time for one prompt. */
const PROMPT_MS = 90_000;
const SETTLED_WITHIN_MS = 10_000;
const PLAIN_PROMPT = 'Say something about a fox.';
const PLAIN_ANSWER = 'The quick brown fox jumps over the lazy dog.';
const COMMAND_PROMPT = 'Run the agreed command and tell me what it prints.';
/** The output is written in two parts, so that a request has `fortytwo` only if the command really ran. */
const COMMAND = "printf '%s%s\\n' forty two";
const COMMAND_OUTPUT = 'fortytwo';
const COMMAND_ANSWER = 'The command printed what it should.';

/** Requests of one run of an SDK. */
const SDK_REQUESTS = 3;
const FOLLOW_PROMPT = 'And what did you say before?';
const FOLLOW_ANSWER = 'Something about a fox.';
/** Tokens that the upstream reports as used. */
const USED_TOKENS = 20_000;
/** A limit below USED_TOKENS, so that the conversation is compacted. */
const SHORT_TOKENS = 10_000;
/** A limit above USED_TOKENS. */
const LONG_TOKENS = 100_000;

interface Scenario {
  name: string;
  /** Sent one after the other, in one conversation. */
  prompts: readonly string[];
  answer: string;
  /** Text that the last request of the conversation must contain. */
  lastRequestContains: string;
  compactAfterTokens: number;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'plain prompt',
    prompts: [PLAIN_PROMPT],
    answer: PLAIN_ANSWER,
    lastRequestContains: PLAIN_PROMPT,
    compactAfterTokens: LONG_TOKENS,
  },
  {
    name: 'tool call',
    prompts: [COMMAND_PROMPT],
    answer: COMMAND_ANSWER,
    lastRequestContains: COMMAND_OUTPUT,
    compactAfterTokens: LONG_TOKENS,
  },
  {
    name: 'second prompt',
    prompts: [PLAIN_PROMPT, FOLLOW_PROMPT],
    answer: FOLLOW_ANSWER,
    lastRequestContains: PLAIN_ANSWER,
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
      // This format reports `stop` also for tool calls.
      ...(model === GENERATIVE_MODEL ? { finishReason: 'stop' } : {}),
    };
  });
  mock.on({ predicate: (request) => has(request, FOLLOW_PROMPT) }, { content: FOLLOW_ANSWER });
  const usage = { input_tokens: USED_TOKENS, output_tokens: 10 };
  mock.on({ predicate: () => true }, { content: PLAIN_ANSWER, usage });
}

interface Setup {
  house: House;
  proxy: RecordingProxy;
  upstream: SpeakingUpstream;
  customer: Customer;
  /** Folder of the programs of each agent, by package name. */
  programs: ReadonlyMap<string, string>;
}

/**
 * The settings files of an agent: its own if it has them, otherwise those that the page of the model shows.
 */
async function filesFor(setup: Setup, agent: Agent, model: string): Promise<readonly SetUpFile[]> {
  const { customer, proxy } = setup;
  const { api, key } = customer;
  if (agent.ownFiles) return agent.ownFiles({ url: proxy.url, key, model });
  return (await setUpsOfModel(api, { model, key })).get(agent.client)?.files ?? [];
}

/** Runs one scenario. Returns a description of the failures; undefined if it passed. */
async function failuresOf(
  setup: Setup,
  agent: Agent,
  { format, scenario }: { format: UpstreamFormat; scenario: Scenario },
): Promise<string | undefined> {
  const { house, proxy, upstream, customer, programs } = setup;
  const home = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  const text = writeSetUp(await filesFor(setup, agent, format.model), home);
  const before = await chargesOf(house, customer.keyId);
  upstream.seen.length = 0;
  proxy.seen.length = 0;
  let printed: ShellResult = { code: null, out: '', all: '' };
  for (const [index, prompt] of scenario.prompts.entries()) {
    const { compactAfterTokens } = scenario;
    printed = await runInShell({
      text,
      arguments: agent.arguments({ prompt, isFollowUp: index > 0, compactAfterTokens }),
      home,
      programs: programs.get(agent.package) ?? '',
      env: agent.env ?? {},
      timeout: PROMPT_MS,
    });
  }
  rmSync(home, { recursive: true, force: true });
  const answer = agent.answerIn(printed.out).trim();
  const charged = await chargesAfter(setup, before);
  const wrong = [
    ...(printed.code === 0 ? [] : [`exit ${printed.code}`]),
    ...(answer === scenario.answer ? [] : [`answer "${answer}"`]),
    ...(hasExpectedText(upstream, scenario) ? [] : ['the last request lacks the expected text']),
    ...(charged === upstream.seen.length ? [] : [`${charged} charges for ${upstream.seen.length} answers`]),
    ...wrongCount(agent, scenario, upstream.seen.length),
  ];
  if (wrong.length === 0) return undefined;
  const requests = proxy.seen.map(({ method, path, status }) => `${method} ${path} ${status}`).join(', ');
  return `${wrong.join(', ')}, requests: ${requests}\n${printed.all.slice(-3000)}`;
}

/** Looks at the last request that has the prompt, because agents also send requests for titles. */
function hasExpectedText({ seen }: SpeakingUpstream, { prompts, lastRequestContains }: Scenario): boolean {
  const last = seen.findLast(({ body }) => body.includes(prompts.at(-1) ?? ''));
  return last?.body.includes(lastRequestContains) === true;
}

/**
 * Checks the number of requests: exactly `agent.requests` for a plain prompt, and at least one more than
 * prompts if the agent must compact.
 */
function wrongCount(agent: Agent, scenario: Scenario, requests: number): string[] {
  const isPlain = scenario.prompts.length === 1 && scenario.prompts[0] === PLAIN_PROMPT;
  if (isPlain && requests !== agent.requests) return [`${requests} requests`];
  const mustCompact = agent.compacts && scenario.compactAfterTokens < USED_TOKENS;
  return mustCompact && requests <= scenario.prompts.length ? ['not compacted'] : [];
}

/** Number of charges after `before`. Waits until each answer is charged, or SETTLED_WITHIN_MS have passed. */
async function chargesAfter({ house, customer, upstream }: Setup, before: number): Promise<number> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const charged = (await chargesOf(house, customer.keyId)) - before;
    if (charged >= upstream.seen.length || Date.now() > until) return charged;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

/** Lists the JSON pointers of dropped parts without duplicates. List indexes become `*`. */
function lost({ seen }: RecordingProxy): string {
  const pointers = seen.flatMap(({ dropped }) => dropped.map((pointer) => pointer.replace(/\/\d+/g, '/*')));
  const names = [...new Set(pointers)].sort();
  return names.length > 0 ? `lost ${names.join(' ')}` : 'nothing lost';
}

/** Runs all scenarios of the agents, and prints one line for each. */
async function runAgents(setup: Setup, agents: readonly Agent[], results: Results): Promise<void> {
  for (const agent of agents) {
    for (const format of FORMATS) {
      for (const scenario of SCENARIOS) {
        const wrong = await failuresOf(setup, agent, { format, scenario });
        const requests = setup.upstream.seen.length;
        const note = `${scenario.name}: ${wrong ?? `passed, ${requests} requests, ${lost(setup.proxy)}`}`;
        const [, version = ''] = agent.package.split(/(?!^)@/);
        results.add({ client: agent.name, version, format: format.protocol, wrong, note });
      }
    }
  }
}

/** Runs the SDKs of all languages whose toolchain is installed. */
async function runSdks(setup: Setup, sdks: readonly Sdk[], results: Results): Promise<void> {
  for (const sdk of sdks) {
    const command = await prepare(sdk.language);
    const about = { client: `${sdk.name} for ${sdk.language.name}`, version: sdk.version };
    if ('missing' in command) {
      results.skip(about, command.missing);
      continue;
    }
    for (const { protocol, model } of FORMATS) {
      const wrong = await failureOfSdkRun(setup, sdk, { command, model });
      const note = wrong ?? 'whole, streamed and tool call: passed';
      results.add({ ...about, format: protocol, wrong, note });
    }
  }
}

/** Runs one SDK, whose every request must be charged. */
async function failureOfSdkRun(
  setup: Setup,
  sdk: Sdk,
  { command, model }: { command: Command; model: string },
): Promise<string | undefined> {
  const { house, proxy, upstream, customer } = setup;
  const before = await chargesOf(house, customer.keyId);
  upstream.seen.length = 0;
  const wrong = await failureOfSdk(sdk, command, {
    ...{ url: proxy.url, key: customer.key, model, prompt: PLAIN_PROMPT, answer: PLAIN_ANSWER },
    ...{ tool: 'exec_command', toolPrompt: COMMAND_PROMPT },
  });
  if (wrong !== undefined) return wrong;
  const charged = await chargesAfter(setup, before);
  return charged === SDK_REQUESTS ? undefined : `${charged} charges for ${SDK_REQUESTS} requests`;
}

async function main(): Promise<number> {
  const only = process.argv.indexOf('--only');
  const word = only < 0 ? '' : (process.argv[only + 1] ?? '').toLowerCase();
  const isChosen = ({ name }: { name: string }): boolean => name.toLowerCase().includes(word);
  const agents = AGENTS.filter(isChosen);
  const named = ({ name, language }: Sdk) => ({ name: `${name} for ${language.name}` });
  const sdks = process.argv.includes('--all') ? SDKS.filter((sdk) => isChosen(named(sdk))) : [];
  const programs = new Map<string, string>();
  for (const { package: name } of agents) programs.set(name, await installPrograms(name));
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-clients-data-'));
  // Started by the superuser, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  const upstream = await startSpeakingUpstream({ addAnswers });
  const proxy = await startRecordingProxy();
  try {
    const controlEnv = { PUBLIC_URL: proxy.url };
    const house = await startHouse({ databaseUrl: postgres.url, controlEnv });
    try {
      proxy.forwardTo(house.url);
      for (const { protocol, prefix, model } of FORMATS) {
        const baseUrl = upstream.origin + prefix;
        await addUpstream(house, { name: protocol, protocol, baseUrl, models: [model] });
      }
      const customer = await addCustomer(house, '1000');
      const setup = { house, proxy, upstream, customer, programs };
      const results = new Results();
      await runSdks(setup, sdks, results);
      await runAgents(setup, agents, results);
      return results.finish();
    } finally {
      await house.stop();
    }
  } finally {
    proxy.stop();
    await upstream.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

process.exitCode = await main();
