/**
 * Tests the Playground over both planes: it is billed like any request, and unstored chats leave no trace.
 */
import { randomUUID } from 'node:crypto';
import { LLMock } from '@copilotkit/aimock';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

/** Texts in prompts and answers that the tests search for afterwards. */
const UNSTORED = 'canary-unstored-8841';
const TEMPORARY = 'canary-temporary-5527';
const STORED = 'canary-stored-3196';
const SYSTEM = 'canary-system-7034';
const SETTLED_WITHIN_MS = 20_000;

let house: House;
let customer: Customer;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  for (const canary of [UNSTORED, TEMPORARY, STORED])
    mock.on(
      { predicate: (request) => JSON.stringify(request.messages).includes(canary) },
      { content: `You said ${canary}.` },
    );
  await mock.start();
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  customer = await addCustomer(house, '1');
});

afterAll(async () => {
  await mock.stop();
});

async function chat(temporary = false): Promise<string> {
  const { conversation } = await customer.api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget', temporary },
    'conversation { id }',
  );
  return conversation.id;
}

interface Reply {
  id: string;
  state: string;
  content: string;
}

/** Sends a message and waits for the end of the reply. */
async function send(conversationId: string, content: string, settings?: object): Promise<Reply> {
  const sent = await customer.api.mutate<{ reply: Reply }>(
    'messageSend',
    { conversationId, content, settings, idempotencyKey: randomUUID() },
    'reply { id state content }',
  );
  return eventually(async () => {
    const { message } = await customer.api.query<{ message: { messages: { nodes: Reply[] } } }>(
      `query { message: node(id: "${conversationId}") { ... on Conversation {
        messages { nodes { id state content } } } } }`,
    );
    const reply = message.messages.nodes.find((item) => item.id === sent.reply.id);
    if (reply?.state !== 'COMPLETE') throw new Error(`The reply is ${reply?.state}.`);
    return reply;
  });
}

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }
}

/** Tables that contain the text in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await house.database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const hits = await house.database.query(
      `select 1 from "${name}" t where strpos(row_to_json(t)::text, $1) > 0 limit 1`,
      [text],
    );
    if (hits.rowCount) found.push(name);
  }
  return found;
}

/** Files that contain the text: logs, journals and configurations of the nodes, and files of the database. */
async function filesWith(text: string): Promise<string[]> {
  await house.database.query('checkpoint');
  const { rows } = await house.database.query<{ folder: string }>(
    "select current_setting('data_directory') as folder",
  );
  return [house.dataDir, ...rows.map((row) => row.folder)]
    .flatMap((folder) => filesUnder(folder))
    .filter((file) => contains(file, text));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

function contains(file: string, text: string): boolean {
  try {
    return statSync(file).isFile() && readFileSync(file).includes(text);
  } catch {
    // The file was deleted meanwhile.
    return false;
  }
}

const setSwitch = (enabled: boolean): Promise<unknown> =>
  customer.api.mutate(
    'personalSwitchSet',
    { kind: 'WORKING_ON', enabled },
    'personalIntelligence { storing }',
  );

describe('the Playground', () => {
  it('stores nothing of chats while all switches are off, nor of temporary chats', async () => {
    expect(await send(await chat(), `Say ${UNSTORED}`)).toMatchObject({ content: `You said ${UNSTORED}.` });
    await setSwitch(true);
    expect(await send(await chat(true), `Say ${TEMPORARY}`)).toMatchObject({
      content: `You said ${TEMPORARY}.`,
    });
    for (const canary of [UNSTORED, TEMPORARY]) {
      expect(await tablesWith(canary)).toEqual([]);
      expect(await filesWith(canary)).toEqual([]);
    }
  });

  it('deletes a stored chat from all tables and logs, and never stores its system prompt', async () => {
    await setSwitch(true);
    const id = await chat();
    await send(id, `Say ${STORED}`, { systemPrompt: `You are ${SYSTEM}.`, temperature: 0 });
    expect(await tablesWith(SYSTEM)).toEqual([]);
    expect(await filesWith(SYSTEM)).toEqual([]);
    expect(await tablesWith(id)).toEqual(['conversation', 'conversation_message', 'personal_job']);
    // The text is encrypted.
    expect(await tablesWith(STORED)).toEqual([]);
    await customer.api.mutate('conversationDelete', { id }, 'deletedIds');
    expect(await tablesWith(id)).toEqual([]);
    const { node } = await customer.api.query<{ node: unknown }>(`query { node(id: "${id}") { id } }`);
    expect(node).toBeNull();
    const logs = filesUnder(house.dataDir).filter((file) => contains(file, STORED));
    expect(logs).toEqual([]);
  });

  it('is billed like any request, with source PLAYGROUND in the usage log', async () => {
    const entries = await eventually(async () => {
      const { viewer } = await customer.api.query<{ viewer: { usage: { nodes: object[] } } }>(
        'query { viewer { usage { nodes { source keyId cost ip group streamed outcome } } } }',
      );
      expect(viewer.usage.nodes).toHaveLength(3);
      return viewer.usage.nodes;
    });
    const expected = {
      source: 'PLAYGROUND',
      keyId: null,
      cost: '0.03',
      ip: '127.0.0.1',
      group: 'DEFAULT',
      streamed: true,
      outcome: 'DELIVERED',
    };
    expect(entries).toEqual([expected, expected, expected]);
  });

  it('returns the usage of each reply, and none for questions', async () => {
    const id = await chat();
    await send(id, `Charge ${STORED}`);
    const charged = () =>
      customer.api.query<{
        node: { messages: { nodes: { role: string; usage: { cost: string } | null }[] } };
      }>(
        `query { node(id: "${id}") { ... on Conversation {
        messages { nodes { role usage { cost outcome } } } } } }`,
      );
    await eventually(async () => {
      const { node } = await charged();
      expect(node.messages.nodes).toEqual([
        { role: 'USER', usage: null },
        { role: 'ASSISTANT', usage: { cost: '0.03', outcome: 'DELIVERED' } },
      ]);
    });
  });

  it('publishes one hidden key to nodes, without its secret', async () => {
    const { rows } = await house.database.query<{ payload: { hidden: boolean; digest: string } }>(
      `select payload from config_log where kind = 'API_KEY' and payload ->> 'hidden' = 'true'
        and payload ->> 'walletId' = $1`,
      [customer.walletId],
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('sk-');
  });
});
