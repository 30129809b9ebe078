/** Reads chats that are due, and learns from them. One job is one call of the chosen model. */
import { Counter, Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { modelByName, PUBLIC_STATES } from '../../catalog/catalog.service.ts';
import type { NodeFeed } from '../../database/config-log.ts';
import { publish } from '../../database/events.ts';
import { inTransaction, query, sql } from '../../database/sql.ts';
import { requestReply } from '../../playground/data-plane.ts';
import { announcedKey, passKeyOf } from '../../playground/hidden-key.ts';
import { textsOf } from '../../playground/sealed-rows.ts';
import { registry } from '../../process/metrics.ts';
import type { Settings } from '../../process/settings.ts';
import type { ContentKey, ContentKeys } from '../content-keys.ts';
import { itemsOf } from '../item.rows.ts';
import { lockItems } from '../item.service.ts';
import { personalSettings, spendBudget } from '../personal.settings.ts';
import type { PersonalKind } from '../switch.entity.ts';
import { enabledKinds } from '../switch.service.ts';
import { applyOperations } from './apply.ts';
import { acceptOperations, parseOperations } from './operations.rules.ts';
import type { KnownItem, Operation, SeenMessage } from './operations.rules.ts';
import { derivingBody } from './prompt.ts';
import { claimJob, endJob, failJob, holdsJob, postponeJob, queueState } from './queue.ts';
import type { DerivingJob, JobTrouble } from './queue.ts';

/** Jobs that one control plane works on at once. */
const AT_ONCE = 8;
/** Maximum duration of a call in ms, shorter than a claim. */
const CALL_MS_MAX = 120_000;
const MESSAGES_MAX = 100;
const CHARACTERS_MAX = 60_000;
/** Items of one kind that the model gets to read. */
const ITEMS_READ_MAX = 40;

const failures = new Counter({
  name: 'gateway_personal_failures_total',
  help: 'Failed attempts to learn from a chat, by reason.',
  labelNames: ['reason'],
  registers: [registry],
});
const refusals = new Counter({
  name: 'gateway_personal_refused_total',
  help: 'Operations of the model that were not accepted, by reason.',
  labelNames: ['reason'],
  registers: [registry],
});
const waiting = new Gauge({
  name: 'gateway_personal_jobs',
  help: 'Chats that wait to be read, and chats that could not be read.',
  labelNames: ['state'],
  registers: [registry],
});
const age = new Gauge({
  name: 'gateway_personal_queue_age_seconds',
  help: 'Time since the oldest waiting chat was due.',
  registers: [registry],
});

/** The services and settings that deriving uses. */
export interface DerivingParts {
  em(): EntityManager;
  contentKeys: ContentKeys;
  nodeFeed: NodeFeed;
  settings: Pick<Settings, 'dataUrl' | 'secretKey'>;
}

/** Works on all jobs that are due. Does nothing while no model is chosen. */
export async function deriveItems(parts: DerivingParts): Promise<void> {
  const state = await queueState(parts.em(), null);
  waiting.set({ state: 'waiting' }, state.waiting);
  waiting.set({ state: 'quarantined' }, state.quarantined);
  age.set(state.ageSeconds);
  const { modelName } = await personalSettings(parts.em());
  const model = modelName === null ? null : await modelByName(parts.em(), modelName, PUBLIC_STATES);
  if (!model) return;
  const work = async (): Promise<void> => {
    for (let job = await claimJob(parts.em()); job; job = await claimJob(parts.em()))
      await runJob(parts, job, { name: model.name, price: model.price });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

interface ChosenModel {
  name: string;
  /** List price of a call, in micro-USD. */
  price: Micros;
}

/** Runs one job to its end, its next try or its quarantine. Never rejects for a reason of this chat. */
async function runJob(parts: DerivingParts, job: DerivingJob, model: ChosenModel): Promise<void> {
  try {
    const reading = await readChat(parts, job);
    if (!reading) return await endJob(parts.em(), job);
    if (!(await spendBudget(parts.em(), job.userId, model.price))) return await postponeJob(parts.em(), job);
    const answer = await askModel(parts, job, derivingBody(model.name, reading));
    const list = answer === undefined ? undefined : parseOperations(answer);
    if (!list) return await fail(parts, job, answer === undefined ? 'MODEL_FAILED' : 'NOT_READABLE');
    const { operations, refused } = acceptOperations(list, reading);
    for (const [reason, count] of Object.entries(refused)) refusals.inc({ reason }, count);
    await finish(parts, job, { operations, key: reading.key, through: reading.through });
  } catch {
    // The reason may quote the chat, so it is not logged.
    await fail(parts, job, 'INTERNAL');
  }
}

async function fail({ em }: DerivingParts, job: DerivingJob, reason: JobTrouble): Promise<void> {
  failures.inc({ reason });
  await failJob(em(), job, reason);
}

interface ChatReading {
  key: ContentKey;
  kinds: ReadonlySet<PersonalKind>;
  messages: SeenMessage[];
  items: KnownItem[];
  /** The last message that was read. */
  through: string;
}

/** Collects the new messages and the items for the model; undefined if no switch is on or nothing is new. */
async function readChat(parts: DerivingParts, job: DerivingJob): Promise<ChatReading | undefined> {
  const em = parts.em();
  const kinds = await enabledKinds(em, job.userId);
  const key = await parts.contentKeys.find(job.userId);
  if (kinds.size === 0 || !key) return undefined;
  const messages = await newMessages(em, key, job);
  const through = messages.at(-1)?.id;
  if (through === undefined || !messages.some(({ role }) => role === 'USER')) return undefined;
  return { key, kinds, messages, items: await knownItems(em, key, { job, kinds }), through };
}

async function newMessages(
  em: EntityManager,
  key: ContentKey,
  { conversationId, userId }: DerivingJob,
): Promise<SeenMessage[]> {
  const rows = await query<{ id: string; role: SeenMessage['role']; sealed: Buffer | null; content: string }>(
    em,
    sql`select m.id, m.role, m.sealed, m.content
      from conversation_message m join conversation c on c.id = m.conversation_id
      where c.id = ${conversationId} and c.user_id = ${userId} and m.state in ('COMPLETE', 'STOPPED')
        and m.id > coalesce(c.derived_through, '')
      order by m.id desc limit ${MESSAGES_MAX}`,
  );
  let left = CHARACTERS_MAX;
  const read: SeenMessage[] = [];
  for (const row of rows) {
    const { content } = textsOf({ ...row, reasoning: null, error: null }, key);
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

/** The answer of the model; undefined if it failed. The request is free for the user. */
async function askModel(
  { em, settings, nodeFeed }: DerivingParts,
  { userId }: DerivingJob,
  body: string,
): Promise<string | undefined> {
  const key = await announcedKey(em(), userId, { settings, nodeFeed });
  let answer = '';
  const failure = await requestReply(
    {
      dataUrl: settings.dataUrl,
      passKey: passKeyOf(settings),
      key,
      ip: null,
      source: 'PERSONAL_INTELLIGENCE',
      body,
      signal: AbortSignal.timeout(CALL_MS_MAX),
    },
    {
      onStart: () => undefined,
      onPart: (kind, text) => {
        if (kind === 'text') answer += text;
      },
    },
  ).catch(() => 'aborted');
  return failure === undefined ? answer : undefined;
}

/** Writes what was learned, if the chat still exists and the switches are still on. */
async function finish(
  { em }: DerivingParts,
  job: DerivingJob,
  { operations, key, through }: { operations: readonly Operation[]; key: ContentKey; through: string },
): Promise<void> {
  const { userId, conversationId } = job;
  await inTransaction(em(), async (inner) => {
    await lockItems(inner, userId);
    // The job is gone if its chat was deleted, and belongs to another process if it took too long.
    if (!(await holdsJob(inner, job))) return;
    const kinds = await enabledKinds(inner, userId);
    const allowed = operations.filter(({ kind }) => kinds.has(kind));
    await applyOperations(inner, { key, userId, conversationId }, allowed);
    await query(
      inner,
      sql`update conversation set derived_through = ${through} where id = ${conversationId}`,
    );
    await endJob(inner, job);
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
  });
}
