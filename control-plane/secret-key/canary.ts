/** Refuses a SECRET_KEY that is not the one of the installation, before anything is encrypted under it. */
import { hkdfSync } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import { currentKeyOf, keysOf } from '../process/secret-key.ts';
import { encryptSecret, resealed } from '../upstreams/stored-secrets.ts';
import { SEALED_COLUMNS } from './sealed-columns.ts';

const CANARY = 'secret key';
const LOCATION = { table: 'installation', id: CANARY, field: 'value' };
const WRONG =
  'SECRET_KEY is not the key of this installation, whose secrets would be unreadable. Set the former key. ' +
  'To replace it, set both: SECRET_KEY to the new key and SECRET_KEY_SECOND to the former one.';
const REPLACED = 'SECRET_KEY was replaced by another key. Set SECRET_KEY to the new key.';

/**
 * Throws an Error if the keys do not open what the installation has encrypted, or if the current one was
 * replaced before. The first start encrypts the canary.
 */
export async function requireSameKey(em: EntityManager, secretKey: string): Promise<void> {
  const stored = await readCanary(em);
  if (stored === undefined) {
    if (!(await opensASecret(em, secretKey))) throw new Error(WRONG);
    const fresh = encryptSecret(secretKey, CANARY, LOCATION);
    await query(
      em,
      sql`insert into installation (name, value) values (${CANARY}, ${fresh}) on conflict do nothing`,
    );
    return requireSameKey(em, secretKey);
  }
  if (resealed(secretKey, stored, LOCATION) === 'UNREADABLE') throw new Error(WRONG);
  await requireNotReplaced(em, secretKey);
}

/** Throws an Error if the current key was replaced by another one. */
export async function requireNotReplaced(em: EntityManager, secretKey: string): Promise<void> {
  const replaced = await queryOne(em, sql`select 1 from installation where name = ${markOf(secretKey)}`);
  if (replaced) throw new Error(REPLACED);
}

/** Notes that everything is encrypted under the current key, and that the other keys are replaced. */
export async function moveCanary(em: EntityManager, secretKey: string): Promise<void> {
  const stored = await readCanary(em);
  const moved = stored && resealed(secretKey, stored, LOCATION);
  if (!moved || moved === 'CURRENT' || moved === 'UNREADABLE') return;
  for (const former of keysOf(secretKey).slice(1))
    await query(
      em,
      sql`insert into installation (name, value) values (${markOf(former)}, 'replaced')
        on conflict do nothing`,
    );
  await query(
    em,
    sql`update installation set value = ${moved.sealed} where name = ${CANARY} and value = ${stored}`,
  );
}

async function readCanary(em: EntityManager): Promise<string | undefined> {
  const row = await queryOne<{ value: string }>(
    em,
    sql`select value from installation where name = ${CANARY}`,
  );
  return row?.value;
}

/** Whether the keys open a secret of an installation from before the canary; true if there is none. */
async function opensASecret(em: EntityManager, secretKey: string): Promise<boolean> {
  let isAny = false;
  for (const { table, id, value, locate } of SEALED_COLUMNS) {
    const text = `select ${id}::text as id, ${value} as sealed from ${table}
      where ${value} is not null order by ${id} limit 20`;
    for (const row of await query<{ id: string; sealed: string }>(em, { text, values: [] })) {
      if (resealed(secretKey, row.sealed, locate(row.id)) !== 'UNREADABLE') return true;
      isAny = true;
    }
  }
  return !isAny;
}

/** The name of the note that a key was replaced. It does not reveal the key. */
function markOf(secretKey: string): string {
  const digest = hkdfSync('sha256', currentKeyOf(secretKey), '', 'gateway-replaced-key-v1', 16);
  return `replaced secret key ${Buffer.from(digest).toString('hex')}`;
}
