/** The keys of chats move to a database of their own, once, and are never mixed up. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmptyDatabase, createTestDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { createOrm } from '../database/orm.ts';
import { query, sql } from '../database/sql.ts';
import { contentKeysOf, openContentKeys } from './open-keys.ts';
import type { OpenedKeys } from './open-keys.ts';

const SECRET_KEY = 'a secret of at least thirty-two bytes';
/** More keys than one step of a move copies. */
const USERS = Array.from({ length: 2_300 }, (_, at) => `usr_${String(at).padStart(5, '0')}`);

let main: TestDatabase;
let keys: TestDatabase;
let orm: MikroORM;
let opened: OpenedKeys[];

beforeEach(async () => {
  main = await createTestDatabase();
  keys = await createEmptyDatabase();
  orm = await createOrm(main.url, { connectionsMax: 4 });
  opened = [];
});

afterEach(async () => {
  for (const each of opened) await each.close();
  await orm.close(true);
  await main.drop();
  await keys.drop();
});

async function open(contentKeysUrl: string | null): Promise<OpenedKeys> {
  const result = await openContentKeys({ orm, settings: { secretKey: SECRET_KEY, contentKeysUrl } });
  opened.push(result);
  return result;
}

const inMain = (): Promise<object[]> => query(orm.em.fork(), sql`select user_id from content_key`);

describe('keys in a database of their own', () => {
  it('are moved there at the first start, and open what they sealed before', async () => {
    const before = contentKeysOf({ orm, settings: { secretKey: SECRET_KEY } });
    const sealed = (await before.of('usr_ann')).seal('msg_1', 'otters');
    await query(
      orm.em.fork(),
      sql`insert into content_key (user_id, sealed)
        select id, 'sealed of ' || id from unnest(${USERS}::text[]) as id`,
    );
    const { contentKeys } = await open(keys.url);
    expect(await inMain()).toEqual([]);
    expect((await contentKeys.find('usr_ann'))?.open('msg_1', sealed)).toBe('otters');
    // A second instance, and a second start, find them too.
    const again = await open(keys.url);
    expect((await again.contentKeys.find('usr_ann'))?.open('msg_1', sealed)).toBe('otters');
    const bea = await contentKeys.of('usr_bea');
    expect((await again.contentKeys.of('usr_bea')).open('x', bea.seal('x', 1))).toBe(1);
    expect(await inMain()).toEqual([]);
    await contentKeys.destroy('usr_ann');
    expect(await again.contentKeys.find('usr_ann')).toBeUndefined();
  });

  it('survive the address of the main database itself', async () => {
    const before = contentKeysOf({ orm, settings: { secretKey: SECRET_KEY } });
    const sealed = (await before.of('usr_ann')).seal('msg_1', 'otters');
    const { contentKeys } = await open(main.url);
    expect((await contentKeys.find('usr_ann'))?.open('msg_1', sealed)).toBe('otters');
  });

  it('are required at every later start, and another database is refused', async () => {
    await open(keys.url);
    await expect(open(null)).rejects.toThrow('CONTENT_KEYS_URL is not set');
    const other = await createEmptyDatabase();
    await expect(open(other.url)).rejects.toThrow('CONTENT_KEYS_URL leads to a database without the keys');
    await other.drop();
  });

  it('stop the start if they cannot be reached, with the name of the setting and no password', async () => {
    const failure = await open('postgres://me:hunter2@127.0.0.1:1/keys').catch((error: unknown) => error);
    expect(String(failure)).toMatch(/CONTENT_KEYS_URL: no connection to 127.0.0.1:1\/keys/);
    expect(String(failure)).not.toContain('hunter2');
  });
});

it('make content empty if they are lost; content of a later release is an error', async () => {
  const contentKeys = contentKeysOf({ orm, settings: { secretKey: SECRET_KEY } });
  const sealed = (await contentKeys.of('usr_ann')).seal('msg_1', 'otters');
  await contentKeys.destroy('usr_ann');
  const fresh = await contentKeys.of('usr_ann');
  expect(fresh.openIfOwn('msg_1', sealed)).toBeUndefined();
  expect(() => fresh.openIfOwn('msg_1', Buffer.of(9, 9))).toThrow('unknown format');
});
