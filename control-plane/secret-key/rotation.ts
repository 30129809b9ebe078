/** Encrypts everything again under the current SECRET_KEY while the former one is SECRET_KEY_SECOND. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import type { ContentKeys } from '../intelligence/content-keys.ts';
import { countForeignMails } from '../mail/mail.key.ts';
import { keysOf } from '../process/secret-key.ts';
import { NONE_SEALED, resealed } from '../upstreams/stored-secrets.ts';
import type { SealedCount } from '../upstreams/stored-secrets.ts';
import { moveCanary, requireNotReplaced } from './canary.ts';
import { SEALED_COLUMNS } from './sealed-columns.ts';
import type { SealedColumn } from './sealed-columns.ts';

const PROGRESS = 'secret key progress';
const ROWS_AT_ONCE = 500;

/** Number of values under each key after the last pass. */
export interface SecretKeyProgress extends SealedCount {
  checkedAt: string;
}

interface RotationParts {
  em(): EntityManager;
  contentKeys: ContentKeys;
  settings: { secretKey: string };
}

/**
 * One pass over all sealed values: encrypts those of a former key again, and stores the progress. When a pass
 * finds nothing to do, the former key counts as replaced. With a single key, passes end at that point. Throws
 * an Error if the current key was replaced by another one.
 */
export async function rotateSecrets({ em, contentKeys, settings }: RotationParts): Promise<void> {
  const { secretKey } = settings;
  await requireNotReplaced(em(), secretKey);
  const before = await secretKeyProgress(em());
  if (keysOf(secretKey).length === 1 && before?.moved === 0 && before.left + before.unreadable === 0) return;
  const counts = [await contentKeys.reseal()];
  for (const column of SEALED_COLUMNS) counts.push(await resealColumn(em(), column, secretKey));
  const foreignMails = await countForeignMails(em(), secretKey);
  const sum = counts.reduce((left, right) => ({
    total: left.total + right.total,
    moved: left.moved + right.moved,
    left: left.left + right.left,
    unreadable: left.unreadable + right.unreadable,
  }));
  const progress = { ...sum, total: sum.total + foreignMails, left: sum.left + foreignMails };
  if (progress.moved + progress.left + progress.unreadable === 0) await moveCanary(em(), secretKey);
  const value = JSON.stringify({ ...progress, checkedAt: new Date().toISOString() });
  await query(
    em(),
    sql`insert into installation (name, value) values (${PROGRESS}, ${value})
      on conflict (name) do update set value = excluded.value`,
  );
}

/** The result of the last pass; undefined before the first one. */
export async function secretKeyProgress(em: EntityManager): Promise<SecretKeyProgress | undefined> {
  const row = await queryOne<{ value: string }>(
    em,
    sql`select value from installation where name = ${PROGRESS}`,
  );
  return row && (JSON.parse(row.value) as SecretKeyProgress);
}

async function resealColumn(
  em: EntityManager,
  column: SealedColumn,
  secretKey: string,
): Promise<SealedCount> {
  const { table, id, value, locate } = column;
  const count = { ...NONE_SEALED };
  for (let last = ''; ;) {
    const text = `select ${id}::text as id, ${value} as sealed from ${table}
      where ${value} is not null and ${id}::text > $1 order by ${id}::text limit ${ROWS_AT_ONCE}`;
    const rows = await query<{ id: string; sealed: string }>(em, { text, values: [last] });
    for (const row of rows) {
      count.total += 1;
      const fresh = resealed(secretKey, row.sealed, locate(row.id));
      if (fresh === 'UNREADABLE') count.unreadable += 1;
      else if (fresh !== 'CURRENT') {
        // A value that was changed meanwhile is left to the next pass.
        const update = `update ${table} set ${value} = $1
          where ${id}::text = $2 and ${value} = $3 returning 1`;
        const done = await query(em, { text: update, values: [fresh.sealed, row.id, row.sealed] });
        count[done.length > 0 ? 'moved' : 'left'] += 1;
      }
    }
    if (rows.length < ROWS_AT_ONCE) return count;
    last = rows.at(-1)?.id ?? '';
  }
}
