/**
 * `npm run bench:personal`: measures what reading chats costs others. Compares the time of Playground replies
 * with and without chats being read beside them, and counts the chats that one control plane reads per minute
 * beside queries of the console. Prints a table and writes `.bench/personal.json`.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { extract } from '../memory/extractor.ts';
import type { ExtractorInput } from '../memory/extractor.ts';

const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const ROUNDS = 5;
const REPLIES = 40;
const JOBS = Number(process.env['BENCH_JOBS'] ?? 300);
/** A model needs about this long to read a chat, in ms. */
const READING_MS = 2_000;
const MESSAGE = 'I prefer tabs. Every Friday I write a changelog. I am working on a parser.';
const KINDS = ['DURABLE_ROUTINE', 'PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON'];
const QUERY = `{ viewer { wallet { cash } usage(first: 50) { nodes { requestId cost } }
  apiKeys(first: 50) { nodes { name spentThisMonth } } } }`;

/** Times in ms. */
interface Times {
  p50: number;
  p95: number;
}

const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', journalMaxEntries: 1 });
mock.on({ predicate: isReading }, (request: ChatCompletionRequest) => ({ content: read(request) }), {
  streamingProfile: { ttft: READING_MS, tps: 10_000, jitter: 0 },
});
mock.on({ predicate: () => true }, { content: 'Noted.' });

function lastText({ messages }: ChatCompletionRequest): string {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
}

function isReading(request: ChatCompletionRequest): boolean {
  return lastText(request).startsWith('{"items"');
}

function read(request: ChatCompletionRequest): string {
  return extract(JSON.parse(lastText(request)) as ExtractorInput);
}

function timesOf(values: readonly number[]): Times {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}

async function newCustomer(house: House): Promise<Customer> {
  const customer = await addCustomer(house, '100');
  for (const kind of KINDS)
    await customer.api.mutate(
      'personalSwitchSet',
      { kind, enabled: true },
      'personalIntelligence { storing }',
    );
  return customer;
}

async function chooseModel(house: House, modelName: string): Promise<void> {
  const input = { modelName, monthlyBudget: '1000', reason: 'bench' };
  await house.admin.mutate('adminPersonalIntelligenceSet', input, 'settings { modelName }');
}

/** Sends the message in a new chat. Returns the time in ms until its reply is complete. */
async function reply({ api }: Customer): Promise<number> {
  const { conversation } = await api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget' },
    'conversation { id }',
  );
  const began = performance.now();
  const input = { conversationId: conversation.id, content: MESSAGE, idempotencyKey: randomUUID() };
  const sent = await api.mutate<{ reply: { id: string } }>('messageSend', input, 'reply { id }');
  const query = `{ node(id: "${sent.reply.id}") { ... on Message { state } } }`;
  for (;;) {
    const { node } = await api.query<{ node: { state: string } }>(query);
    if (node.state === 'COMPLETE') return performance.now() - began;
    if (node.state !== 'STREAMING') throw new Error(`The reply ended as ${node.state}.`);
    await sleep(2);
  }
}

/** Replies of a round, while chats of other users are read or not. */
async function replies(house: House, customer: Customer, beside: boolean): Promise<number[]> {
  await chooseModel(house, beside ? 'budget' : '');
  const due = setInterval(() => {
    void house.database.query('update personal_job set run_after = now() where claim is null');
  }, 500);
  const times: number[] = [];
  for (let at = 0; at < REPLIES; at += 1) times.push(await reply(customer));
  clearInterval(due);
  return times;
}

async function compareReplies(house: House): Promise<{ idle: Times; beside: Times; ratio: number }> {
  const customer = await newCustomer(house);
  await replies(house, customer, true);
  const [idle, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    idle.push(...(await replies(house, customer, false)));
    beside.push(...(await replies(house, customer, true)));
  }
  const [without, during] = [timesOf(idle), timesOf(beside)];
  return { idle: without, beside: during, ratio: during.p50 / without.p50 };
}

/** Repeats a query of the console until `isOver`. Returns its times. */
async function queries({ api }: Customer, isOver: () => Promise<boolean>): Promise<Times> {
  const times: number[] = [];
  while (!(await isOver())) {
    const began = performance.now();
    await api.query(QUERY);
    times.push(performance.now() - began);
    await sleep(20);
  }
  return timesOf(times);
}

async function countJobs(house: House): Promise<{ perMinute: number; alone: Times; beside: Times }> {
  await chooseModel(house, '');
  await house.database.query('delete from personal_job');
  const customers = await Promise.all(Array.from({ length: 10 }, () => newCustomer(house)));
  for (let at = 0; at < JOBS; at += customers.length)
    await Promise.all(customers.map((customer) => reply(customer)));
  const [visitor] = customers;
  if (!visitor) throw new Error('No customer.');
  const until = performance.now() + 5_000;
  const alone = await queries(visitor, async () => performance.now() > until);
  await chooseModel(house, 'budget');
  await house.database.query('update personal_job set run_after = now()');
  const began = performance.now();
  const beside = await queries(visitor, async () => {
    const { rows } = await house.database.query('select 1 from personal_job limit 1');
    return rows.length === 0;
  });
  return { perMinute: (JOBS / (performance.now() - began)) * 60_000, alone, beside };
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  // If run by root, PostgreSQL runs as another user, who must be able to enter this folder.
  chmodSync(folder, 0o711);
  await mock.start();
  const postgres = await startPostgres({ dataDir: folder });
  const controlEnv = { QUERY_BUDGET: '1000000000' };
  const house = await startHouse({ databaseUrl: postgres.url, dataPort: await findFreePort(), controlEnv });
  try {
    await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
    const compared = await compareReplies(house);
    const jobs = await countJobs(house);
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, 'personal.json'), JSON.stringify({ replies: compared, jobs }, null, 2));
    print(compared, jobs);
  } finally {
    await house.stop();
    await postgres.stop();
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(
  { idle, beside, ratio }: Awaited<ReturnType<typeof compareReplies>>,
  jobs: Awaited<ReturnType<typeof countJobs>>,
): void {
  const ms = ({ p50, p95 }: Times): string => `${p50.toFixed(0)}, ${p95.toFixed(0)} ms`;
  const rows = [
    ['reply of the Playground, no chat is read: p50, p95', ms(idle)],
    ['reply while chats are read: p50, p95', ms(beside)],
    ['ratio of the medians', ratio.toFixed(2)],
    [
      `chats that one control plane reads per minute (a call takes ${READING_MS} ms)`,
      jobs.perMinute.toFixed(0),
    ],
    ['query of the console, alone: p50, p95', ms(jobs.alone)],
    ['query of the console while chats are read: p50, p95', ms(jobs.beside)],
  ];
  const lines = rows.map(([name, value]) => `| ${name} | ${value} |`);
  process.stdout.write(['| measure | value |', '|---|---|', ...lines, ''].join('\n'));
}

await measure();
