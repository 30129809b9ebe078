/** Exports the personal data of a user as one JSON file, which its owner can download once. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import { countAction } from './rate-limits.ts';
import { CHAPTERS } from './export.chapters.ts';
import type { ContentKeys } from '../intelligence/content-keys.ts';
import type { Chapter, SealedItem } from './export.chapters.ts';
import { notifyOwner } from './notices.ts';

/** How long a requested download can be started, in ms. */
const WAIT_MS = 15 * 60_000;
const FORMAT = 'gateway-personal-data-1';

/** A download that its owner's browser may start once, before `expiresAt`. */
export interface ExportTicket {
  id: string;
  expiresAt: Date;
}

/** Allows one download, writes it to the audit log and notifies the owner. Throws RATE_LIMITED. */
export async function requestExport(em: EntityManager, userId: string, actor: Actor): Promise<ExportTicket> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  await countAction(em, { purpose: 'export', email: user.email, ip: actor.ip });
  return inTransaction(em, async (inner) => {
    const id = newId('exp');
    const expiresAt = new Date(Date.now() + WAIT_MS);
    await query(
      inner,
      sql`insert into data_export (id, user_id, expires_at) values (${id}, ${userId}, ${expiresAt})`,
    );
    await audit(inner, {
      actor,
      action: 'user.export',
      targetType: 'User',
      targetId: userId,
      reason: 'Requested by the owner.',
    });
    await notifyOwner(inner, user, { kind: 'DATA_EXPORTED', ip: actor.ip });
    return { id, expiresAt };
  });
}

/** Marks the download as used. False if it belongs to another user, was used or has expired. */
export async function beginExport(em: EntityManager, userId: string, id: string): Promise<boolean> {
  const begun = await queryOne(
    em,
    sql`update data_export set fetched_at = now()
    where id = ${id} and user_id = ${userId} and fetched_at is null and expires_at > now() returning id`,
  );
  return begun !== undefined;
}

/** Sources of an export. */
export interface ExportSource {
  /** A new EntityManager, for each page. */
  em: () => EntityManager;
  keys: ContentKeys;
}

/** Yields the JSON file in pieces, with at most one page of rows in memory. */
export async function* writeExport(
  source: ExportSource,
  userId: string,
): AsyncGenerator<string, void, undefined> {
  const cut: string[] = [];
  yield `{"format":${JSON.stringify(FORMAT)},"writtenAt":${JSON.stringify(new Date().toISOString())}`;
  for (const chapter of CHAPTERS) {
    yield `,\n${JSON.stringify(chapter.name)}:[`;
    const isWhole = yield* writeChapter(source, userId, chapter);
    if (!isWhole) cut.push(chapter.name);
    yield ']';
  }
  yield `,\n"cutAtTheLimit":${JSON.stringify(cut)}}\n`;
}

/** Yields the rows of one chapter. Returns false if the chapter was cut at `rowsMax`. */
async function* writeChapter(
  { em, keys }: ExportSource,
  userId: string,
  chapter: Chapter,
): AsyncGenerator<string, boolean, undefined> {
  let after: string | null = null;
  const { open } = chapter;
  const key = open && (await keys.find(userId));
  for (let written = 0; written < chapter.rowsMax;) {
    const statement = chapter.page({ userId, after });
    const rows: { key: string; item: string }[] = await query(em(), statement);
    for (const [at, { item }] of rows.entries()) {
      const text = open ? JSON.stringify(open(JSON.parse(item) as SealedItem, key)) : item;
      yield `${written + at === 0 ? '' : ','}\n${text}`;
    }
    written += rows.length;
    after = rows.at(-1)?.key ?? after;
    if (rows.length < chapter.pageSize) return true;
  }
  return chapter.rowsMax === chapter.pageSize;
}
