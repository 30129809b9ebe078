/**
 * Deleted chats and items are in no dump and in no log as soon as their deletion is answered. Stored texts
 * are encrypted, so the search looks for their ciphertexts and ids, too, which a dump of before contains.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import { addCustomer, ADMIN } from '../house.ts';
import type { Customer } from '../house.ts';
import { startDumpedPostgres } from './dumped-postgres.ts';
import type { DumpedPostgres } from './dumped-postgres.ts';
import { chatWith, readNow, rowsAt, startLearningHouse, turnOn } from './learning-house.ts';
import type { LearningHouse } from './learning-house.ts';

const CANARY = 'zanzibarquokka';
const MESSAGE = `I prefer ${CANARY} tabs. Every Friday I test ${CANARY}. I am working on a ${CANARY} parser.`;

let folder: string;
let postgres: DumpedPostgres;
let learning: LearningHouse;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-deletion-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  postgres = await startDumpedPostgres(folder);
  learning = await startLearningHouse(postgres.url, folder);
}, 120_000);

afterAll(async () => {
  await learning?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A customer with two chats that were read, of which the second was sent lines about the user. */
async function talkative(): Promise<{ customer: Customer; chats: [string, string] }> {
  const customer = await addCustomer(learning.house, '1');
  for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const first = await chatWith(customer, MESSAGE);
  await readNow(postgres.url, customer);
  const second = await chatWith(customer, `Which ${CANARY} editor do you like?`);
  return { customer, chats: [first, second] };
}

/** Contents of the rows of a statement: ids and, in hexadecimal, ciphertexts. */
async function marks(text: string, values: unknown[]): Promise<string[]> {
  const rows = await rowsAt<Record<string, Buffer | string | null>>(postgres.url, text, values);
  const found = rows.flatMap((row) => Object.values(row)).filter((value) => value !== null);
  expect(found.length).toBeGreaterThan(0);
  return found.map((value) => (typeof value === 'string' ? value : value.toString('hex')));
}

const ofItems = (where: string): string => `select i.id, i.sealed, l.sealed as line from personal_item i
  left join personal_used_line l on l.item_id = i.id where ${where}`;
const ofChats = (where: string): string => `select c.id, c.title_sealed, m.id as message, m.sealed
  from conversation c join conversation_message m on m.conversation_id = c.id where ${where}`;

/** Deletes, and then finds none of the marks and no plain word in the dump, in statistics and in files. */
async function expectGone(found: readonly string[], remove: () => Promise<unknown>): Promise<void> {
  const before = await postgres.dump();
  for (const mark of found) expect(before.includes(mark), mark).toBe(true);
  await rowsAt(postgres.url, 'analyze');
  await remove();
  const after = await postgres.dump();
  for (const mark of found) expect(after.includes(mark), mark).toBe(false);
  expect(after).not.toContain(CANARY);
  const ciphertexts = found.filter((mark) => /^[0-9a-f]+$/.test(mark));
  const statistics = JSON.stringify(await rowsAt(postgres.url, 'select s::text from pg_statistic s'));
  for (const mark of ciphertexts) expect(statistics.includes(mark), mark).toBe(false);
  const files = await filesWith([CANARY, ...found]);
  expect(files).toEqual([]);
}

/** Logs, journals and temporary files of all processes that contain one of the texts. */
async function filesWith(texts: readonly string[]): Promise<string[]> {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('postgres/'))
    .map((name) => join(folder, name))
    .filter((file) => {
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
      const content = readFileSync(file, 'latin1');
      return texts.some((text) => content.includes(text));
    });
}

it('an item is in no dump and no log once its deletion is answered', async () => {
  const { customer } = await talkative();
  const where = `i.user_id = $1 and i.kind = 'PREFERENCE_PROFILE'`;
  const found = await marks(ofItems(where), [customer.userId]);
  const ids = found.filter((mark) => mark.startsWith('itm_'));
  await expectGone(found, () =>
    customer.api.mutate('derivedItemDelete', { ids }, 'personalIntelligence { storing }'),
  );
}, 60_000);

it('a deleted chat and the items with no other source are in no dump and no log', async () => {
  const { customer, chats } = await talkative();
  const found = [
    ...(await marks(ofChats('c.id = $1'), [chats[0]])),
    ...(await marks(ofItems('i.user_id = $1'), [customer.userId])),
  ];
  await expectGone(found, () => customer.api.mutate('conversationDelete', { id: chats[0] }, 'deletedIds'));
}, 60_000);

it.each([
  [
    'what a user forgot',
    ({ api }: Customer) =>
      api.mutate('personalForgetEverything', { confirm: 'FORGET' }, 'personalIntelligence { storing }'),
  ],
  [
    'the content of a closed account',
    ({ api }: Customer) => api.mutate('accountDelete', { password: ADMIN.password }, 'ok'),
  ],
])(
  '%s is in no dump and no log once its deletion is answered, nor is its key',
  async (_, remove) => {
    const { customer } = await talkative();
    const found = [
      ...(await marks(ofChats('c.user_id = $1'), [customer.userId])),
      ...(await marks(ofItems('i.user_id = $1'), [customer.userId])),
      ...(await marks('select sealed from content_key where user_id = $1', [customer.userId])),
    ];
    await expectGone(found, () => remove(customer));
  },
  60_000,
);
