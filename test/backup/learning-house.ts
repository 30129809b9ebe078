/** The whole gateway with a model that reads chats, and customers who chat with it. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import pg from 'pg';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { extract } from '../memory/extractor.ts';
import type { ExtractorInput } from '../memory/extractor.ts';

const WITHIN_MS = 60_000;

export interface LearningHouse {
  house: House;
  close(): Promise<void>;
}

/** Starts it over a database, with the files of its processes in `folder`. */
export async function startLearningHouse(
  databaseUrl: string,
  folder: string,
  env: Record<string, string> = {},
): Promise<LearningHouse> {
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', journalMaxEntries: 1 });
  mock.on({ predicate: () => true }, answer);
  await mock.start();
  const dataDir = join(folder, 'planes');
  const temporary = { TMPDIR: join(folder, 'temporary') };
  for (const path of [dataDir, temporary.TMPDIR]) mkdirSync(path);
  const controlEnv = { ...env, ...temporary };
  const planes = { dataDir, dataPort: await findFreePort(), controlEnv, nodeEnv: temporary };
  const house = await startHouse({ databaseUrl, ...planes });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  await house.admin.mutate(
    'adminPersonalIntelligenceSet',
    { modelName: 'budget', reason: 'test' },
    'settings { modelName }',
  );
  return {
    house,
    close: async () => {
      await house.stop();
      await mock.stop();
    },
  };
}

/** Answers a chat with its own words, and the request to read a chat as a mediocre model does. */
function answer({ messages }: ChatCompletionRequest): { content: string } {
  const content = messages.at(-1)?.content;
  const text = typeof content === 'string' ? content : '';
  const isReading = text.startsWith('{"items"');
  return { content: isReading ? extract(JSON.parse(text) as ExtractorInput) : `You said: ${text}` };
}

/** Runs one statement at a database. */
export async function rowsAt<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result = await client.query<Row>(text, values);
  await client.end();
  return result.rows;
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Turns one switch on. */
export async function turnOn({ api }: Customer, kind: string): Promise<void> {
  await api.mutate('personalSwitchSet', { kind, enabled: true }, 'personalIntelligence { storing }');
}

/** Sends the message in a new chat and waits for the reply. Returns the id of the chat. */
export async function chatWith(customer: Customer, content: string): Promise<string> {
  const { conversation } = await customer.api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget' },
    'conversation { id }',
  );
  const input = { conversationId: conversation.id, content, idempotencyKey: randomUUID() };
  await customer.api.mutate('messageSend', input, 'reply { id }');
  await until(async () => {
    const messages = await messagesIn(customer, conversation.id);
    return messages.length > 1 && messages.every(({ state }) => state === 'COMPLETE');
  }, 'the reply');
  return conversation.id;
}

/** The messages of a chat as its owner sees them. */
export async function messagesIn(
  { api }: Customer,
  id: string,
): Promise<{ state: string; content: string }[]> {
  const { node } = await api.query<{ node: { messages: { nodes: { state: string; content: string }[] } } }>(
    `query { node(id: "${id}") { ... on Conversation { messages { nodes { state content role } } } } }`,
  );
  return node.messages.nodes;
}

/** Lets the user's chats be read now, and waits for it. */
export async function readNow(databaseUrl: string, { userId }: Customer): Promise<void> {
  const due = 'update personal_job set run_after = now() where user_id = $1 and claim is null';
  const unread = 'select 1 from conversation where user_id = $1 and derived_through is null';
  await until(async () => {
    await rowsAt(databaseUrl, due, [userId]);
    return (await rowsAt(databaseUrl, unread, [userId])).length === 0;
  }, 'the chat is read');
}
