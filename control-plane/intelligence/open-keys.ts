/** Opens the keys of content in the database of this installation. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { query } from '../database/sql.ts';
import type { Settings } from '../process/settings.ts';
import { ContentKeys } from './content-keys.ts';

/** The keys of content, read and written outside of any transaction. */
export function contentKeysOf(parts: { orm: MikroORM; settings: Pick<Settings, 'secretKey'> }): ContentKeys {
  return new ContentKeys(parts.settings.secretKey, (statement) => query(parts.orm.em.fork(), statement));
}
