/** A user of the Playground in tests of Personal Intelligence: chats, switches, items and reading. */
import { contentKeysOf } from '../../control-plane/intelligence/open-keys.ts';
import { deriveItems } from '../../control-plane/intelligence/deriving/derive.ts';
import type { DerivingParts } from '../../control-plane/intelligence/deriving/derive.ts';
import { query, sql } from '../../control-plane/database/sql.ts';
import { NO_NODES, pick } from '../control/app.ts';
import type { Answer, Browser, TestApp } from '../control/app.ts';

/** An item as tests read it. */
export interface Item {
  id: string;
  kind: string;
  text: string;
  origin: string;
  confidence: string | null;
  pinned: boolean;
  suppressed: boolean;
  version: number;
  timesUsed: number;
  sources: { conversationId: string; excerpt: string }[];
}

const ITEM = `id kind text origin confidence pinned suppressed version timesUsed
  sources { conversationId excerpt }`;
const SENT_WITHIN_MS = 20_000;
let sends = 0;

/** Dependencies of deriving, for a test app. */
export function derivingParts(test: TestApp): DerivingParts {
  const em = () => test.orm.em.fork();
  return { em, contentKeys: contentKeysOf(test), nodeFeed: NO_NODES, settings: test.settings };
}

/** Makes all jobs due and runs them. */
export async function readChats(test: TestApp): Promise<void> {
  await query(
    test.orm.em.fork(),
    sql`update personal_job set run_after = now() where quarantined_at is null`,
  );
  await deriveItems(derivingParts(test));
}

/** Chooses the model that reads chats, as the administrator. */
export async function chooseModel(test: TestApp, input: object = { modelName: 'budget' }): Promise<Answer> {
  const admin = await test.admin();
  return admin.send(
    `mutation ($input: AdminPersonalIntelligenceInput!) { adminPersonalIntelligenceSet(input: $input) {
      settings { modelName monthlyBudget spentThisMonth providerIds } userErrors { code } } }`,
    { input: { ...input, reason: 'test' } },
  );
}

/** A signed-in user with a chat at hand. */
export class Learner {
  readonly browser: Browser;
  readonly #test: TestApp;

  constructor(test: TestApp, browser: Browser) {
    this.#test = test;
    this.browser = browser;
  }

  async id(): Promise<string> {
    return pick(await this.browser.send('{ viewer { id } }'), 'viewer', 'id');
  }

  /** Turns switches on or off. */
  async turn(kinds: readonly string[], enabled: boolean, deleteExisting = false): Promise<void> {
    for (const kind of kinds)
      await this.browser.send(
        `mutation ($input: PersonalSwitchInput!) {
          personalSwitchSet(input: $input) { userErrors { code } } }`,
        { input: { kind, enabled, deleteExisting } },
      );
  }

  async chat(temporary = false): Promise<string> {
    const made = await this.browser.send(
      `mutation ($input: ConversationCreateInput!) {
        conversationCreate(input: $input) { conversation { id } } }`,
      { input: { modelName: 'budget', temporary } },
    );
    return pick(made, 'conversationCreate', 'conversation', 'id');
  }

  /** Sends a message and waits for its reply. Returns the lines that were sent about the user. */
  async say(
    conversationId: string,
    content: string,
    more: object = {},
  ): Promise<{ kind: string; text: string }[]> {
    sends += 1;
    const sent = await this.browser.send(
      `mutation ($input: MessageSendInput!) { messageSend(input: $input) {
        reply { id usedItems { kind text itemId } } userErrors { code message } } }`,
      { input: { conversationId, content, idempotencyKey: `say-${sends}`, ...more } },
    );
    const id: string = pick(sent, 'messageSend', 'reply', 'id');
    const until = Date.now() + SENT_WITHIN_MS;
    while (Date.now() < until) {
      const message = await this.browser.send(
        'query ($id: ID!) { node(id: $id) { ... on Message { state } } }',
        { id },
      );
      if (pick<string>(message, 'node', 'state') !== 'STREAMING')
        return pick(sent, 'messageSend', 'reply', 'usedItems');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error('The reply did not end.');
  }

  /** Says everything in one new chat, which is read at once. */
  async tell(...messages: string[]): Promise<string> {
    const chat = await this.chat();
    for (const message of messages) await this.say(chat, message);
    await readChats(this.#test);
    return chat;
  }

  async items(kinds: readonly string[] | null = null): Promise<Item[]> {
    const answer = await this.browser.send(
      `query ($kinds: [PersonalItemKind!]) { viewer { personalIntelligence {
        items(first: 100, kinds: $kinds) { nodes { ${ITEM} } } } } }`,
      { kinds },
    );
    return pick(answer, 'viewer', 'personalIntelligence', 'items', 'nodes');
  }

  /** Calls a mutation of items with an input. */
  change(mutation: string, type: string, input: object): Promise<Answer> {
    const fields = mutation.endsWith('Create') || mutation.endsWith('Update') ? `item { ${ITEM} }` : '';
    return this.browser.send(
      `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} userErrors { code message } } }`,
      { input },
    );
  }
}
