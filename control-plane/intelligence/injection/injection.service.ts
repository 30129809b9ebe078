/** Chooses what is sent about the user with a message, and builds the block. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ModelRow } from '../../catalog/model.entity.ts';
import { query, queryRow, sql } from '../../database/sql.ts';
import type { ContentKey, ContentKeys } from '../content-keys.ts';
import { itemsOf } from '../item.rows.ts';
import type { ItemView } from '../item.rows.ts';
import type { PersonalKind } from '../switch.entity.ts';
import { enabledKinds } from '../switch.service.ts';
import { budgetOf, buildBlock } from './block.rules.ts';
import type { Block } from './block.rules.ts';
import { rankSummaries } from './ranking.ts';

/** Items of each kind that may be sent. */
const SENT_MAX: Record<PersonalKind, number> = {
  PREFERENCE_PROFILE: 12,
  DURABLE_ROUTINE: 8,
  WORKING_ON: 3,
  CONVERSATION_SUMMARY: 3,
};
/** A learned routine is sent once a second chat has confirmed it. */
const ROUTINE_CONFIDENCE_MIN = 0.8;

/** The database session and the keys of injection. */
export interface InjectionSource {
  em: EntityManager;
  keys: ContentKeys;
}

/** A message before it is sent. */
export interface InjectionRequest {
  userId: string;
  model: Pick<ModelRow, 'id' | 'contextTokens'>;
  /** The text of the message. */
  draft: string;
  /** The chat, whose own summary is not sent; null for a draft without a chat. */
  conversationId: string | null;
  /** Whether it is the first message. Only then, open tasks are sent. */
  isFirst: boolean;
}

/** The block with its budget, and the items in it. */
export interface Injection extends Block {
  budgetTokens: number;
  items: ItemView[];
  /** The only upstreams that may get the block; null for all. */
  providerIds: readonly string[] | null;
}

/** The block for a message. Empty if all switches are off, or if the model's upstreams may not get items. */
export async function injectionFor(
  { em, keys }: InjectionSource,
  request: InjectionRequest,
): Promise<Injection> {
  const budgetTokens = budgetOf(request.model.contextTokens);
  const key = await keys.find(request.userId);
  const kinds = await enabledKinds(em, request.userId);
  const none = { text: '', lines: [], tokens: 0, omitted: 0, budgetTokens, items: [], providerIds: null };
  if (!key || kinds.size === 0) return none;
  const { maySee, providerIds } = await upstreamsWithItems(em, request.model.id);
  if (!maySee) return none;
  const chosen = await chooseItems({ em, key, kinds }, request);
  const block = buildBlock(chosen, budgetTokens);
  const used = new Set(block.lines.map(({ itemId }) => itemId));
  return { ...block, budgetTokens, items: chosen.filter(({ id }) => used.has(id)), providerIds };
}

/** Counts that these items were sent. */
export async function countUse(em: EntityManager, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return;
  await query(
    em,
    sql`update personal_item set times_used = times_used + 1 where id = any(${[...itemIds]}::text[])`,
  );
}

interface Choice {
  em: EntityManager;
  key: ContentKey;
  kinds: ReadonlySet<PersonalKind>;
}

async function chooseItems({ em, key, kinds }: Choice, request: InjectionRequest): Promise<ItemView[]> {
  const { userId, draft, conversationId, isFirst } = request;
  const lasting = [...kinds].filter(
    (kind) => kind !== 'CONVERSATION_SUMMARY' && (isFirst || kind !== 'WORKING_ON'),
  );
  const items = (await itemsOf(em, key, { userId, kinds: lasting })).filter(isUsable);
  const best = lasting.flatMap((kind) =>
    items
      .filter((item) => item.kind === kind)
      .toSorted((left, right) => weightOf(right) - weightOf(left))
      .slice(0, SENT_MAX[kind]),
  );
  if (!kinds.has('CONVERSATION_SUMMARY')) return best;
  const limit = SENT_MAX.CONVERSATION_SUMMARY;
  const ids = await rankSummaries(em, key, { userId, text: draft, exceptChat: conversationId, limit });
  const summaries = await itemsOf(em, key, { userId, ids });
  return [...best, ...summaries.toSorted((left, right) => ids.indexOf(left.id) - ids.indexOf(right.id))];
}

function isUsable(item: ItemView): boolean {
  if (item.suppressed) return false;
  const isSure =
    item.origin !== 'DERIVED' || item.pinned || Number(item.confidence) >= ROUTINE_CONFIDENCE_MIN;
  return item.kind !== 'DURABLE_ROUTINE' || isSure;
}

/** Pinned items first, then the surest, then the most recently seen. */
function weightOf({ pinned, confidence, lastSeenAt }: ItemView): number {
  const days = (Date.now() - lastSeenAt.getTime()) / (24 * 60 * 60_000);
  return (pinned ? 10 : 0) + Number(confidence ?? 1) / (1 + Math.max(0, days) / 30);
}

/** The upstreams that may get items. */
export interface UpstreamsWithItems {
  /** Whether every route of the model leads to one of them. */
  maySee: boolean;
  /** Their ids; null for all. Nodes get them with the request, because routes may change until then. */
  providerIds: readonly string[] | null;
}

/** Reads which upstreams may get items, and whether the model has only those. */
export async function upstreamsWithItems(em: EntityManager, modelId: string): Promise<UpstreamsWithItems> {
  return queryRow<UpstreamsWithItems>(
    em,
    sql`select provider_ids as "providerIds", not exists (
        select from route r where r.model_id = ${modelId} and s.provider_ids is not null
          and not r.provider_id = any(s.provider_ids)) as "maySee"
      from personal_settings s`,
  );
}
