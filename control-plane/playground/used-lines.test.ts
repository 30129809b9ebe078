/** The lines that were sent about a user stay with the reply, and their texts end with their items. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { startFakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import type { FakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import { Learner } from '../../test/memory/learner.ts';
import { writeExport } from '../accounts/export.service.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { PERSONAL_KINDS } from '../intelligence/switch.entity.ts';
import { moveUsedLines } from './move-lines.ts';
import { insertLines } from './used-lines.ts';

const TEXT = 'Prefers zanzibar tabs';

let dataPlane: FakeDataPlane;
let test: TestApp;
let ann: Learner;
let userId: string;
let itemId: string;
let chatId: string;
let number = 0;

beforeAll(async () => {
  dataPlane = await startFakeDataPlane();
  test = await startTestApp({ env: { DATA_URL: dataPlane.url } });
});

afterAll(async () => {
  await test.close();
  await dataPlane.close();
});

beforeEach(async () => {
  number += 1;
  ann = new Learner(test, await test.user(`ann-${number}@example.com`));
  userId = await ann.id();
  await ann.turn(PERSONAL_KINDS, true);
  const input = { kind: 'PREFERENCE_PROFILE', text: TEXT };
  const made = await ann.change('derivedItemCreate', 'DerivedItemCreateInput', input);
  itemId = pick(made, 'derivedItemCreate', 'item', 'id');
  chatId = await ann.chat();
  await ann.say(chatId, 'Hello');
});

const em = () => test.orm.em.fork();
const keys = () => contentKeysOf(test);

/** The lines of the chat's replies, as the API shows them. */
async function lines(): Promise<object[]> {
  const answer = await ann.browser.send(
    `query ($id: ID!) { node(id: $id) { ... on Conversation {
      messages { nodes { usedItems { itemId kind text } } } } } }`,
    { id: chatId },
  );
  const messages: { usedItems: object[] }[] = pick(answer, 'node', 'messages', 'nodes');
  return messages.flatMap(({ usedItems }) => usedItems);
}

/** All that the user's key can decrypt in any table, by any name under which a row may be encrypted. */
async function readable(): Promise<string> {
  const key = await keys().find(userId);
  const texts: unknown[] = [];
  const tables = await query<{ name: string; bytes: string[] }>(
    em(),
    sql`select table_name as name, array_agg(column_name::text) as bytes from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' group by 1`,
  );
  for (const { name, bytes } of tables) {
    const rows = await query<Record<string, unknown>>(em(), { text: `select * from ${name}`, values: [] });
    for (const row of rows) {
      const ids = Object.values(row).filter((value) => typeof value === 'string');
      const places = ids.flatMap((id) => [
        id,
        `${id} pictures`,
        `${id} replaced`,
        `${id} line ${String(row['position'])}`,
      ]);
      for (const column of bytes)
        // Other bytes, such as hashes, are no encrypted content.
        if (row[column] instanceof Uint8Array && row[column][0] === 1)
          texts.push(...places.map((place) => key?.openIfOwn(place, row[column] as Uint8Array)));
    }
  }
  return JSON.stringify(texts);
}

describe('a line of a reply', () => {
  const deletions: [string, () => Promise<unknown>][] = [
    [
      'the item is deleted',
      () => ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids: [itemId] }),
    ],
    [
      'all items are deleted',
      () => ann.change('derivedItemsDeleteAll', 'DerivedItemsDeleteAllInput', { confirm: 'DELETE' }),
    ],
    ['its switch goes off with its items', () => ann.turn(['PREFERENCE_PROFILE'], false, true)],
    [
      'the item expires',
      () => query(em(), sql`delete from personal_item where id = ${itemId} and user_id = ${userId}`),
    ],
  ];

  it.each(deletions)('loses its text in every table when %s', async (_, deletion) => {
    expect(await lines()).toEqual([{ itemId, kind: 'PREFERENCE_PROFILE', text: TEXT }]);
    expect(await readable()).toContain(TEXT);
    await deletion();
    expect(await lines()).toEqual([{ itemId: '', kind: 'PREFERENCE_PROFILE', text: '' }]);
    expect(await readable()).not.toContain(TEXT);
  });

  it('keeps its text when the item is edited, and is in the export', async () => {
    const [item] = await ann.items();
    await ann.change('derivedItemUpdate', 'DerivedItemUpdateInput', {
      ...{ id: itemId, version: item?.version, text: 'Prefers spaces' },
    });
    expect(await lines()).toEqual([{ itemId, kind: 'PREFERENCE_PROFILE', text: TEXT }]);
    let file = '';
    for await (const part of writeExport({ em, keys: keys() }, userId)) file += part;
    const { messages } = JSON.parse(file) as { messages: { usedItems: object[] }[] };
    expect(messages.flatMap(({ usedItems }) => usedItems)).toEqual(await lines());
  });

  it('is stored without its text if the item is deleted before the reply is stored', async () => {
    const key = await keys().of(userId);
    const [reply] = await query<{ id: string }>(
      em(),
      sql`select id from conversation_message where conversation_id = ${chatId} and role = 'ASSISTANT'`,
    );
    await query(em(), sql`delete from personal_used_line`);
    const line = { itemId: 'itm_gone', kind: 'WORKING_ON' as const, text: TEXT };
    await inTransaction(em(), (inner) =>
      insertLines(inner, { userId, messageId: reply?.id ?? '', lines: [line], key }),
    );
    expect(await lines()).toEqual([{ ...line, itemId: '', text: '' }]);
  });

  it('from an earlier release is moved to its own row once, and loses its text with its item', async () => {
    const key = await keys().of(userId);
    const [reply] = await query<{ id: string }>(
      em(),
      sql`select id from conversation_message where conversation_id = ${chatId} and role = 'ASSISTANT'`,
    );
    const id = reply?.id ?? '';
    const usedItems = [
      { itemId, kind: 'PREFERENCE_PROFILE', text: TEXT },
      { itemId: 'itm_gone', kind: 'WORKING_ON', text: 'A zanzibar boat' },
    ];
    await query(em(), sql`delete from personal_used_line where message_id = ${id}`);
    await query(
      em(),
      sql`update conversation_message set lines_moved = false,
          sealed = ${key.seal(id, { content: 'Noted.', reasoning: null, error: null, usedItems })}
        where id = ${id}`,
    );
    expect(await lines()).toEqual(usedItems);
    await Promise.all([1, 2].map(() => moveUsedLines({ em, contentKeys: keys() })));
    await moveUsedLines({ em, contentKeys: keys() });
    expect(await lines()).toEqual([usedItems[0], { ...usedItems[1], itemId: '', text: '' }]);
    expect(await readable()).not.toContain('boat');
    await ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids: [itemId] });
    expect(await readable()).not.toContain(TEXT);
    const left = await query(em(), sql`select 1 from conversation_message where not lines_moved`);
    expect(left).toEqual([]);
  });
});
