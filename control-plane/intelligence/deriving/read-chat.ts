/** Reads what is new in a chat, for the model that learns from it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ModelRow } from '../../catalog/model.entity.ts';
import { query, sql } from '../../database/sql.ts';
import { textsOf } from '../../playground/sealed-rows.ts';
import type { ContentKey } from '../content-keys.ts';
import { upstreamsWithItems } from '../injection/injection.service.ts';
import type { InjectionSource } from '../injection/injection.service.ts';
import { itemsOf } from '../item.rows.ts';
import type { PersonalKind } from '../switch.entity.ts';
import { enabledKinds } from '../switch.service.ts';
import type { KnownItem, SeenMessage } from './operations.rules.ts';
import type { DerivingJob } from './queue.ts';

const MESSAGES_MAX = 100;
/** Characters of all messages of one reading. */
const CHARACTERS_MAX = 60_000;
/** Characters of one message. Replies help to understand the questions, and are no evidence. */
const LENGTH_MAX: Record<SeenMessage['role'], number> = { USER: 4_000, ASSISTANT: 1_000 };
/** Items of one kind that the model gets to read. */
const ITEMS_READ_MAX = 40;

/** The part of a chat that the model reads. */
export interface ChatReading {
  key: ContentKey;
  kinds: ReadonlySet<PersonalKind>;
  messages: SeenMessage[];
  items: KnownItem[];
  /** The only upstreams that may get the items; null for all. */
  providerIds: readonly string[] | null;
  /** The last message that was read. */
  through: string;
}

/**
 * Collects the new messages and the items for the model, without items if its upstreams may not get them.
 * Undefined if no switch is on or nothing is new.
 */
export async function readChat(
  { em, keys }: InjectionSource,
  job: DerivingJob,
  model: Pick<ModelRow, 'id'>,
): Promise<ChatReading | undefined> {
  const kinds = await enabledKinds(em, job.userId);
  const key = await keys.find(job.userId);
  if (kinds.size === 0 || !key) return undefined;
  const messages = await newMessages(em, key, job);
  const through = messages.at(-1)?.id;
  if (through === undefined || !messages.some(({ role }) => role === 'USER')) return undefined;
  const { maySee, providerIds } = await upstreamsWithItems(em, model.id);
  const items = maySee ? await knownItems(em, key, { job, kinds }) : [];
  return { key, kinds, messages, items, providerIds: items.length > 0 ? providerIds : null, through };
}

/** The messages after the last one that was read, in the order of their creation. */
async function newMessages(
  em: EntityManager,
  key: ContentKey,
  { conversationId, userId }: DerivingJob,
): Promise<SeenMessage[]> {
  const rows = await query<{ id: string; role: SeenMessage['role']; sealed: Buffer | null; content: string }>(
    em,
    sql`select m.id, m.role, m.sealed, m.content
      from conversation_message m join conversation c on c.id = m.conversation_id
        left join conversation_message r on r.id = c.derived_through
      where c.id = ${conversationId} and c.user_id = ${userId} and m.state in ('COMPLETE', 'STOPPED')
        and (coalesce(m.position, 0), m.id) > (coalesce(r.position, 0), coalesce(c.derived_through, ''))
      order by coalesce(m.position, 0) desc, m.id desc limit ${MESSAGES_MAX}`,
  );
  let left = CHARACTERS_MAX;
  const read: SeenMessage[] = [];
  for (const row of rows) {
    const texts = textsOf({ ...row, reasoning: null, error: null }, key);
    // Only what the model reads can be evidence.
    const content = texts.content.slice(0, LENGTH_MAX[row.role]);
    left -= content.length;
    if (left < 0 && read.length > 0) break;
    read.unshift({ id: row.id, role: row.role, content, name: '' });
  }
  return read.map((message, at) => ({ ...message, name: `m${at + 1}` }));
}

/** Existing items of the kinds that are on; of summaries only that of this chat. */
async function knownItems(
  em: EntityManager,
  key: ContentKey,
  { job, kinds }: { job: DerivingJob; kinds: ReadonlySet<PersonalKind> },
): Promise<KnownItem[]> {
  const { userId, conversationId } = job;
  const items = await itemsOf(em, key, { userId, kinds: [...kinds] });
  const counts = new Map<PersonalKind, number>();
  const read = items.filter(({ kind, conversationId: chat }) => {
    if (kind === 'CONVERSATION_SUMMARY') return chat === conversationId;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return (counts.get(kind) ?? 0) <= ITEMS_READ_MAX;
  });
  return read.map(({ id, kind, text, origin }, at) => ({
    id,
    kind,
    text,
    name: `i${at + 1}`,
    isOwn: origin !== 'DERIVED',
  }));
}
