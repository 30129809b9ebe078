/** SECRET_KEY: a wrong one is refused, and it can be replaced while control planes serve. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seal } from '@gateway/shared/sealing';
import { createEmptyDatabase, createTestDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { createOrm } from '../database/orm.ts';
import { query, sql } from '../database/sql.ts';
import { openContentKeys } from '../intelligence/open-keys.ts';
import type { OpenedKeys } from '../intelligence/open-keys.ts';
import { openMail, publicMailKey } from '../mail/mail.key.ts';
import { joinKeys } from '../process/secret-key.ts';
import { readSettings } from '../process/settings.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import { requireSameKey } from './canary.ts';
import { rotateSecrets, secretKeyProgress } from './rotation.ts';
import { SEALED_COLUMNS } from './sealed-columns.ts';

const OLD = 'the former key of thirty-two bytes';
const NEW = 'another key of at least thirty-two';
const USERS = Array.from({ length: 1_100 }, (_, at) => `usr_${String(at).padStart(5, '0')}`);

let main: TestDatabase;
let keys: TestDatabase;
let orm: MikroORM;
const opened: OpenedKeys[] = [];
const em = () => orm.em.fork();

beforeAll(async () => {
  [main, keys] = await Promise.all([createTestDatabase(), createEmptyDatabase()]);
  orm = await createOrm(main.url, { connectionsMax: 4 });
});
afterAll(async () => {
  for (const each of opened) await each.close();
  await orm.close(true);
  await Promise.all([main.drop(), keys.drop()]);
});

async function keysUnder(secretKey: string): Promise<OpenedKeys> {
  const result = await openContentKeys({ orm, settings: { secretKey, contentKeysUrl: keys.url } });
  opened.push(result);
  return result;
}

async function pass(secretKey: string): Promise<{ moved: number; left: number; unreadable: number }> {
  const { contentKeys } = await keysUnder(secretKey);
  await rotateSecrets({ em, contentKeys, settings: { secretKey } });
  const { moved = -1, left = -1, unreadable = -1 } = (await secretKeyProgress(em())) ?? {};
  return { moved, left, unreadable };
}

/** One value in every sealed column, under the former key. */
async function fill(): Promise<void> {
  const [user] = await query<{ id: string }>(
    em(),
    sql`insert into users (id, email, allowed_groups)
      values ('usr_a', 'a@example.com', '{default}') returning id`,
  );
  const value = (table: string, id: string, field: string) => encryptSecret(OLD, field, { table, id, field });
  await query(
    em(),
    sql`insert into provider (id, name, protocols, base_url, enabled, timeouts)
      values ('prv_1', 'Vendor', '{openai-chat}', 'https://vendor.example', true, '{}')`,
  );
  await query(
    em(),
    sql`insert into credential (id, provider_id, label, suffix, sealed, origin)
      values ('crd_1', 'prv_1', 'a', 'b',
      ${value('credential', 'crd_1', 'secret')}, 'https://vendor.example')`,
  );
  await query(
    em(),
    sql`insert into totp_factor (user_id, sealed_secret)
      values (${user?.id}, ${value('totp_factor', 'usr_a', 'secret')})`,
  );
  await query(em(), sql`update payment_settings set api_key = ${value('payment_settings', '1', 'api_key')}`);
  await query(
    em(),
    sql`insert into payment_webhook_secret (id, label, suffix, sealed)
      values ('whs_1', 'a', 'b', ${value('payment_webhook_secret', 'whs_1', 'secret')})`,
  );
  await query(
    em(),
    sql`insert into state_key (id, sealed) values ('settings', ${value('state_key', 'settings', 'key')})`,
  );
  await query(
    em(),
    sql`insert into crypto_key (id, sealed, fingerprint)
      values ('xpk_1', ${value('crypto_key', 'xpk_1', 'extended_key')}, 'f')`,
  );
  const rpc = [value('crypto_chain', '8453', 'rpc_0'), value('crypto_chain', '8453', 'rpc_1')];
  await query(
    em(),
    sql`insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block,
      rpc_sealed, rpc_hosts) values (8453, 'Base', true, 5, true, 1, ${rpc}::text[], '{a,b}')`,
  );
  await query(
    em(),
    sql`insert into mail_outbox (id, recipient_digest, sealed)
      values ('mai_1', 'd', ${seal('letter', publicMailKey(OLD), 'mai_1')})`,
  );
}

/** The values of all sealed columns under the keys. Throws if one is not. */
async function valuesUnder(secretKey: string): Promise<string[]> {
  const values: string[] = [];
  for (const { table, id, value, locate } of SEALED_COLUMNS) {
    const text = `select ${id}::text as id, ${value} as sealed from ${table} where ${value} is not null`;
    for (const row of await query<{ id: string; sealed: string }>(em(), { text, values: [] }))
      values.push(decryptSecret(secretKey, row.sealed, locate(row.id)));
  }
  return values;
}

const ALL = ['secret', 'secret', 'api_key', 'secret', 'key', 'extended_key', 'rpc_0', 'rpc_1'];

describe('SECRET_KEY', () => {
  it('knows every sealed column of the schema', async () => {
    const columns = await query<{ name: string }>(
      em(),
      sql`select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = 'public' and data_type in ('text', 'ARRAY')
          and (column_name like '%sealed%' or column_name = 'api_key') order by 1`,
    );
    const elsewhere = ['content_key.sealed', 'mail_outbox.sealed', 'oidc_flow.sealed'];
    const known = SEALED_COLUMNS.map(({ table, value }) => `${table}.${value.replace(/\[.*/, '')}`);
    const found = columns.map(({ name }) => name).filter((name) => !elsewhere.includes(name));
    expect(found.toSorted()).toEqual([...new Set(known)].toSorted());
  });

  it('is refused if it is another key, also by an installation from before the canary', async () => {
    await fill();
    await expect(requireSameKey(em(), NEW)).rejects.toThrow(/not the key of this installation/);
    await requireSameKey(em(), OLD);
    await requireSameKey(em(), OLD);
    await expect(requireSameKey(em(), NEW)).rejects.toThrow(/not the key of this installation/);
  });

  it('is replaced in two restarts, and everything stays readable at each moment', async () => {
    const { contentKeys } = await keysUnder(OLD);
    const before = await contentKeys.of('usr_a');
    const content = before.seal('row', 'a badger');
    for (const user of USERS) await contentKeys.of(user);
    const [first, second] = [joinKeys(OLD, NEW), joinKeys(NEW, OLD)];
    await requireSameKey(em(), first);
    expect(await pass(first)).toEqual({ moved: 0, left: 0, unreadable: 0 });
    await requireSameKey(em(), second);
    expect(await pass(second)).toEqual({ moved: ALL.length + USERS.length + 1, left: 1, unreadable: 0 });
    expect(await valuesUnder(first)).toEqual(ALL);
    expect(await valuesUnder(NEW)).toEqual(ALL);
    const after = await (await keysUnder(NEW)).contentKeys.of('usr_a');
    expect(after.open('row', content)).toBe('a badger');
    // The canary has not moved, because a queued mail is still of the former key.
    await expect(requireSameKey(em(), NEW)).rejects.toThrow(/not the key of this installation/);
    const [mail] = await query<{ sealed: string }>(em(), sql`select sealed from mail_outbox`);
    expect(openMail(second, mail?.sealed ?? '', 'mai_1')).toBe('letter');
    await query(em(), sql`delete from mail_outbox`);
    expect(await pass(second)).toEqual({ moved: 0, left: 0, unreadable: 0 });
    await requireSameKey(em(), NEW);
    expect(await pass(NEW)).toEqual({ moved: 0, left: 0, unreadable: 0 });
  }, 30_000);

  it('is refused after its replacement, and re-encrypts nothing', async () => {
    await expect(requireSameKey(em(), OLD)).rejects.toThrow(/not the key of this installation/);
    await expect(requireSameKey(em(), joinKeys(OLD, NEW))).rejects.toThrow(/was replaced by another key/);
    await expect(pass(joinKeys(OLD, NEW))).rejects.toThrow(/was replaced by another key/);
    expect(await valuesUnder(NEW)).toEqual(ALL);
  });

  it('counts a value that no key opens', async () => {
    await query(em(), sql`update credential set sealed = 'v1.broken'`);
    expect(await pass(joinKeys(NEW, OLD))).toEqual({ moved: 0, left: 0, unreadable: 1 });
  });
});

describe('SECRET_KEY_SECOND', () => {
  const read = (second: string) =>
    readSettings({ DATABASE_URL: 'postgres://a/b', SECRET_KEY: NEW, SECRET_KEY_SECOND: second }).secretKey;

  it('is optional, at least 32 bytes and another key', () => {
    expect(read('')).toBe(NEW);
    expect(read(OLD)).toBe(joinKeys(NEW, OLD));
    expect(() => read('short')).toThrow('SECRET_KEY_SECOND is shorter than 32 bytes');
    expect(() => read(NEW)).toThrow('SECRET_KEY_SECOND is SECRET_KEY');
  });
});
