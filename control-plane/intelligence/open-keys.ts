/** Opens the keys of content where this installation stores them. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { query } from '../database/sql.ts';
import type { Settings } from '../process/settings.ts';
import { ContentKeys } from './content-keys.ts';
import { openKeyDatabase, requireNoKeyDatabase } from './key-database.ts';

/** The keys of content, and how to close their database. */
export interface OpenedKeys {
  contentKeys: ContentKeys;
  close(): Promise<void>;
}

interface Installation {
  orm: MikroORM;
  settings: Pick<Settings, 'secretKey' | 'contentKeysUrl'>;
}

/** Opens the keys at CONTENT_KEYS_URL, or else in the main database. Throws as `openKeyDatabase`. */
export async function openContentKeys({ orm, settings }: Installation): Promise<OpenedKeys> {
  if (settings.contentKeysUrl === null) {
    await requireNoKeyDatabase(orm);
    return { contentKeys: contentKeysOf({ orm, settings }), close: async () => undefined };
  }
  const database = await openKeyDatabase(orm, settings.contentKeysUrl);
  return { contentKeys: new ContentKeys(settings.secretKey, database.run), close: database.close };
}

/** The keys of content in the main database, read and written outside of any transaction. */
export function contentKeysOf(parts: { orm: MikroORM; settings: Pick<Settings, 'secretKey'> }): ContentKeys {
  return new ContentKeys(parts.settings.secretKey, (statement) => query(parts.orm.em.fork(), statement));
}
