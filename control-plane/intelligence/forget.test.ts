/** "Forget everything" beside other work of the same user, and what the audit log keeps of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { Learner } from '../../test/memory/learner.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { forgetEverything } from './forget.service.ts';
import { createItem } from './item.service.ts';
import { contentKeysOf } from './open-keys.ts';

let test: TestApp;
let ann: Learner;
let number = 0;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test.close());

beforeEach(async () => {
  number += 1;
  ann = new Learner(test, await test.user(`ann-${number}@example.com`));
});

const em = () => test.orm.em.fork();
const rowLocksWaitedFor = async (): Promise<number> =>
  (await query(em(), sql`select 1 from pg_locks where locktype = 'transactionid' and not granted`)).length;

describe('a deletion', () => {
  it('of all data waits for a message that is being stored, and leaves nothing of it', async () => {
    await ann.turn(['WORKING_ON'], true);
    const userId = await ann.id();
    let stored = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      stored = resolve;
    });
    const storing = inTransaction(em(), async (inner) => {
      await query(inner, sql`select 1 from personal_switch where user_id = ${userId} for share`);
      await query(
        inner,
        sql`insert into conversation (id, user_id, title_sealed, model_name, created_at, updated_at)
          values (${`con_${number}`}, ${userId}, '\\x00', 'budget', now(), now())`,
      );
      await held;
    });
    const forgetting = ann.change('personalForgetEverything', 'ForgetEverythingInput', { confirm: 'FORGET' });
    await expect.poll(async () => rowLocksWaitedFor()).toBe(1);
    stored();
    await Promise.all([storing, forgetting]);
    expect(await query(em(), sql`select 1 from conversation where user_id = ${userId}`)).toEqual([]);
  });

  it('of all data leaves no row of an item that is being written under the destroyed key', async () => {
    const userId = await ann.id();
    const contentKeys = contentKeysOf(test);
    const keys = {
      of: async (id: string) => {
        const key = await contentKeys.of(id);
        await forgetEverything({ em: em(), keys: contentKeys, userId: id }, SYSTEM_ACTOR);
        return key;
      },
      find: (id: string) => contentKeys.find(id),
    };
    const writing = createItem(
      { em: em(), keys: keys as typeof contentKeys, userId },
      { kind: 'PREFERENCE_PROFILE', text: 'Prefers tabs' },
    );
    await expect(writing).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await query(em(), sql`select 1 from personal_item where user_id = ${userId}`)).toEqual([]);
  });
});

describe('the audit log', () => {
  it('records once an hour that a user changed a switch or deleted all data, without details', async () => {
    for (const enabled of [true, true, false, true]) await ann.turn(['PREFERENCE_PROFILE'], enabled);
    const text = 'Prefers zanzibar tabs';
    await ann.change('derivedItemCreate', 'DerivedItemCreateInput', { kind: 'PREFERENCE_PROFILE', text });
    await ann.change('derivedItemsDeleteAll', 'DerivedItemsDeleteAllInput', { confirm: 'DELETE' });
    await ann.change('personalForgetEverything', 'ForgetEverythingInput', { confirm: 'FORGET' });
    const userId = await ann.id();
    const events = await query<{ action: string; row: string }>(
      em(),
      sql`select action, row_to_json(e)::text as row from audit_event e
        where target_id = ${userId} order by seq`,
    );
    expect(events.map(({ action }) => action)).toEqual([
      'personal_intelligence.switch',
      'personal_intelligence.delete_all',
      'personal_intelligence.forget',
    ]);
    const log = events.map(({ row }) => row).join();
    for (const word of ['zanzibar', 'PREFERENCE', '@example.com']) expect(log).not.toContain(word);
  });
});
