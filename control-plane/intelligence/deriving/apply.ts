/** Writes accepted operations to the items of a user. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../../database/sql.ts';
import type { ContentKey } from '../content-keys.ts';
import { addSources, insertItem, itemsOf, macOf, writeText } from '../item.rows.ts';
import type { ItemView } from '../item.rows.ts';
import { ITEMS_MAX } from '../item.service.ts';
import { noteLearned } from '../learned.service.ts';
import type { PersonalKind } from '../switch.entity.ts';
import { similarity, wordsOf } from '../words.rules.ts';
import type { Operation } from './operations.rules.ts';
import { PROMPT_VERSION } from './prompt.ts';

const DAY_MS = 24 * 60 * 60_000;
/** How long an item is kept after it was seen last, in ms; null for ever. */
const KEPT_MS: Record<PersonalKind, number | null> = {
  DURABLE_ROUTINE: 90 * DAY_MS,
  PREFERENCE_PROFILE: null,
  WORKING_ON: 14 * DAY_MS,
  CONVERSATION_SUMMARY: null,
};
/** Confidence of a new item, and how much a further chat adds to it. */
const CONFIDENCE_FIRST = 0.6;
const CONFIDENCE_STEP = 0.2;
/** Items whose words are so similar are the same. */
const SAME_SIMILARITY = 0.75;
/** Items whose words are so similar to those of a deleted item are not learned again. */
const FORGOTTEN_SIMILARITY = 0.6;

/** Where the operations come from. */
export interface ApplyContext {
  key: ContentKey;
  userId: string;
  conversationId: string;
}

/** Applies the operations in order. Call it in a transaction that holds the lock of the user's items. */
export async function applyOperations(
  em: EntityManager,
  context: ApplyContext,
  operations: readonly Operation[],
): Promise<void> {
  const forgotten = await forgottenTexts(em, context.userId);
  for (const operation of operations) {
    const { kind } = operation;
    const items = await itemsOf(em, context.key, { userId: context.userId, kinds: [kind] });
    if ('text' in operation && isForgotten(operation.text, forgotten, context.key)) continue;
    if (operation.op === 'ADD') await add(em, context, { operation, items });
    else {
      // The item may have been deleted or edited since the model read it.
      const item = items.find(({ id }) => id === operation.id);
      if (item) await change(em, context, { operation, item });
    }
  }
}

interface Addition {
  operation: Extract<Operation, { op: 'ADD' }>;
  items: readonly ItemView[];
}

async function add(em: EntityManager, context: ApplyContext, { operation, items }: Addition): Promise<void> {
  const { key, userId, conversationId } = context;
  const { kind, text, evidence } = operation;
  const isSummary = kind === 'CONVERSATION_SUMMARY';
  const known = isSummary
    ? items.find((item) => item.conversationId === conversationId)
    : items.find(
        (item) => similarity(new Set(wordsOf(item.text)), new Set(wordsOf(text))) >= SAME_SIMILARITY,
      );
  if (known) {
    const op = isSummary ? { op: 'UPDATE' as const, text } : { op: 'REINFORCE' as const };
    return change(em, context, { operation: { ...op, id: known.id, kind, evidence }, item: known });
  }
  if (items.length >= ITEMS_MAX[kind]) return;
  const id = await insertItem(em, key, {
    userId,
    kind,
    text,
    origin: 'DERIVED',
    confidence: CONFIDENCE_FIRST.toFixed(2),
    expiresAt: expiryOf(kind),
    promptVersion: PROMPT_VERSION,
    conversationId: isSummary ? conversationId : null,
  });
  if (!id) return;
  await addSources(em, id, { conversationId, messageIds: evidence });
  await noteLearned(em, key, { id, userId, replaced: null });
}

interface Change {
  operation: Exclude<Operation, { op: 'ADD' }>;
  item: ItemView;
}

async function change(em: EntityManager, context: ApplyContext, { operation, item }: Change): Promise<void> {
  const { key, conversationId } = context;
  // Deriving changes no text that the user wrote.
  if (item.origin !== 'DERIVED' && operation.op !== 'REINFORCE') return;
  if (operation.op === 'EXPIRE')
    return void (await query(em, sql`delete from personal_item where id = ${item.id} and not pinned`));
  if (operation.op === 'UPDATE' && operation.text !== item.text) {
    const isWritten = await writeText(em, key, { ...item, text: operation.text });
    // A summary changes whenever its chat continues, so its changes create no notice.
    if (isWritten && item.kind !== 'CONVERSATION_SUMMARY')
      await noteLearned(em, key, { id: item.id, userId: item.userId, replaced: item.text });
  }
  await query(
    em,
    sql`update personal_item set last_seen_at = now(), version = version + 1,
        expires_at = case when origin = 'DERIVED' then ${expiryOf(item.kind)}::timestamptz end,
        confidence = case when confidence is null then null
          when exists (select from personal_item_source s where s.item_id = ${item.id}
            and s.conversation_id = ${conversationId}) then confidence
          else least(1, confidence + ${CONFIDENCE_STEP}) end
      where id = ${item.id}`,
  );
  await addSources(em, item.id, { conversationId, messageIds: operation.evidence });
}

function expiryOf(kind: PersonalKind): Date | null {
  const kept = KEPT_MS[kind];
  return kept === null ? null : new Date(Date.now() + kept);
}

interface Forgotten {
  mac: Buffer;
  terms: string[];
}

function forgottenTexts(em: EntityManager, userId: string): Promise<Forgotten[]> {
  return query(
    em,
    sql`select text_mac as mac, terms::text[] as terms from personal_forgotten where user_id = ${userId}`,
  );
}

function isForgotten(text: string, forgotten: readonly Forgotten[], key: ContentKey): boolean {
  if (forgotten.length === 0) return false;
  const mac = macOf(key, text);
  const terms = new Set(wordsOf(text).map((word) => key.term(word)));
  return forgotten.some(
    (one) => one.mac.equals(mac) || similarity(terms, new Set(one.terms)) >= FORGOTTEN_SIMILARITY,
  );
}
