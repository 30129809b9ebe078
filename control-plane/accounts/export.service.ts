/** Personal data as a file: asked for by its owner, good for one download, written as it is read. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../context.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import { beginAttempt } from './attempts.ts';
import { CHAPTERS } from './export.chapters.ts';
import type { Chapter } from './export.chapters.ts';
import { notify } from './notices.ts';

/** How long a download may wait to be begun, in ms. */
const WAIT_MS = 15 * 60_000;
const FORMAT = 'gateway-personal-data-1';

/** A download that may be begun once, by its owner's browser. */
export interface ExportTicket {
  id: string;
  expiresAt: Date;
}

/** Allows one download; audited, and told to the owner. Throws RATE_LIMITED. */
export async function requestExport(em: EntityManager, userId: string, actor: Actor): Promise<ExportTicket> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  await beginAttempt(em, { purpose: 'export', email: user.email, ip: actor.ip });
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
      reason: 'Asked for by the owner.',
    });
    await notify(inner, user, { kind: 'DATA_EXPORTED', ip: actor.ip });
    return { id, expiresAt };
  });
}

/** Takes the download out of use; false where it is somebody else's, was begun or is too old. */
export async function beginExport(em: EntityManager, userId: string, id: string): Promise<boolean> {
  const begun = await queryOne(
    em,
    sql`update data_export set fetched_at = now()
    where id = ${id} and user_id = ${userId} and fetched_at is null and expires_at > now() returning id`,
  );
  return begun !== undefined;
}

/**
 * The file as JSON, in pieces: never more than a page of rows is in memory. `fork` gives a session a page.
 */
export async function* writeExport(
  fork: () => EntityManager,
  userId: string,
): AsyncGenerator<string, void, undefined> {
  const cut: string[] = [];
  yield `{"format":${JSON.stringify(FORMAT)},"writtenAt":${JSON.stringify(new Date().toISOString())}`;
  for (const chapter of CHAPTERS) {
    yield `,\n${JSON.stringify(chapter.name)}:[`;
    const isWhole = yield* writeChapter(fork, userId, chapter);
    if (!isWhole) cut.push(chapter.name);
    yield ']';
  }
  yield `,\n"cutAtTheLimit":${JSON.stringify(cut)}}\n`;
}

/** Returns whether all rows were written. */
async function* writeChapter(
  fork: () => EntityManager,
  userId: string,
  chapter: Chapter,
): AsyncGenerator<string, boolean, undefined> {
  let after: string | null = null;
  for (let written = 0; written < chapter.rowsMax;) {
    const statement = chapter.page({ userId, after });
    const rows: { key: string; item: string }[] = await query(fork(), statement);
    for (const [at, { item }] of rows.entries()) yield `${written + at === 0 ? '' : ','}\n${item}`;
    written += rows.length;
    after = rows.at(-1)?.key ?? after;
    if (rows.length < chapter.pageSize) return true;
  }
  return chapter.rowsMax === chapter.pageSize;
}
