/** Moves lines about the user, which an earlier release kept in the text of replies, to rows of their own. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ContentKey, ContentKeys } from '../intelligence/content-keys.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { sealTexts, textsOf } from './sealed-rows.ts';
import { insertLines, lockForLines } from './used-lines.ts';

/** Replies that are looked up at once. */
const REPLIES_AT_ONCE = 200;
/** A reply that is being written for longer was interrupted, because its process ended. */
const ENDED_AFTER_HOURS = 1;

/** Dependencies of the job. */
interface MovingParts {
  em(): EntityManager;
  contentKeys: ContentKeys;
}

/** Moves the lines of all replies that have ended. Skips locked rows until the next run. */
export async function moveUsedLines({ em, contentKeys }: MovingParts): Promise<void> {
  for (let last = ''; ;) {
    const replies = await query<{ id: string; userId: string }>(
      em(),
      sql`select m.id, c.user_id as "userId"
        from conversation_message m join conversation c on c.id = m.conversation_id
        where m.role = 'ASSISTANT' and not m.lines_moved and m.sealed is not null and m.id > ${last}
          and (m.state <> 'STREAMING' or m.created_at < now() - ${ENDED_AFTER_HOURS} * interval '1 hour')
        order by m.id limit ${REPLIES_AT_ONCE}`,
    );
    for (const [userId, own] of Map.groupBy(replies, (reply) => reply.userId)) {
      const key = await contentKeys.find(userId);
      await moveLines(em(), { userId, key, ids: own.map(({ id }) => id) });
    }
    const end = replies.at(-1);
    if (!end) return;
    last = end.id;
  }
}

interface Replies {
  userId: string;
  /** Undefined if the key was destroyed or lost. Then there is nothing to move. */
  key: ContentKey | undefined;
  ids: readonly string[];
}

async function moveLines(em: EntityManager, { userId, key, ids }: Replies): Promise<void> {
  await inTransaction(em, async (inner) => {
    const rows = await query<{ id: string; sealed: Buffer }>(
      inner,
      sql`select id, sealed from conversation_message where id = any(${[...ids]}::text[])`,
    );
    const replies = rows.map(({ id, sealed }) => ({ id, ...textsOf({ id, sealed, ...NO_TEXTS }, key) }));
    const lines = replies.flatMap(({ usedItems = [] }) => usedItems);
    await lockForLines(inner, { userId, lines });
    const free = await query<{ id: string }>(
      inner,
      sql`select id from conversation_message where id = any(${[...ids]}::text[]) and not lines_moved
        order by id for update skip locked`,
    );
    for (const { id } of free) {
      const reply = replies.find((one) => one.id === id);
      const used = reply?.usedItems ?? [];
      if (key && reply && used.length > 0) {
        await insertLines(inner, { userId, messageId: id, lines: used, key });
        const sealed = sealTexts(key, reply);
        await query(inner, sql`update conversation_message set sealed = ${sealed} where id = ${id}`);
      }
      await query(inner, sql`update conversation_message set lines_moved = true where id = ${id}`);
    }
  });
}

const NO_TEXTS = { content: '', reasoning: null, error: null };
