/** Reads chats that are due, and learns from them. One job is one call of the chosen model. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { modelByName, PUBLIC_STATES } from '../../catalog/catalog.service.ts';
import type { ModelRow } from '../../catalog/model.entity.ts';
import type { NodeFeed } from '../../database/config-log.ts';
import { publish } from '../../database/events.ts';
import { inTransaction, query, sql } from '../../database/sql.ts';
import { requestReply } from '../../playground/data-plane.ts';
import { announcedKey, passKeyOf } from '../../playground/hidden-key.ts';
import type { Settings } from '../../process/settings.ts';
import type { ContentKey, ContentKeys } from '../content-keys.ts';
import { lockItems } from '../item.service.ts';
import { personalSettings, spendBudget } from '../personal.settings.ts';
import { enabledKinds } from '../switch.service.ts';
import { applyOperations } from './apply.ts';
import { failures, refusals, reportState } from './metrics.ts';
import { acceptOperations, ANSWER_CHARACTERS_MAX, parseOperations } from './operations.rules.ts';
import type { Operation } from './operations.rules.ts';
import { derivingBody } from './prompt.ts';
import { claimJob, endJob, failJob, holdsJob, postponeJob, queueState } from './queue.ts';
import type { DerivingJob, JobTrouble } from './queue.ts';
import { readChat } from './read-chat.ts';

/** Jobs that one control plane works on at once. */
const AT_ONCE = 8;
/** Maximum duration of a call in ms, shorter than a claim. */
const CALL_MS_MAX = 120_000;

/** The services and settings that deriving uses. */
export interface DerivingParts {
  em(): EntityManager;
  contentKeys: ContentKeys;
  nodeFeed: NodeFeed;
  settings: Pick<Settings, 'dataUrl' | 'secretKey'>;
  /** Receives log lines, which hold no content; without it nothing is logged. */
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

/** Works on all jobs that are due. Does nothing while no model is chosen. */
export async function deriveItems(parts: DerivingParts): Promise<void> {
  const settings = await personalSettings(parts.em());
  reportState(await queueState(parts.em(), null), settings);
  const { modelName } = settings;
  const model = modelName === null ? null : await modelByName(parts.em(), modelName, PUBLIC_STATES);
  if (!model) return;
  const work = async (): Promise<void> => {
    for (let job = await claimJob(parts.em()); job; job = await claimJob(parts.em()))
      await runJob(parts, job, model);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Runs one job to its end, its next try or its quarantine. Never rejects for a reason of this chat. */
async function runJob(parts: DerivingParts, job: DerivingJob, model: ModelRow): Promise<void> {
  try {
    const reading = await readChat({ em: parts.em(), keys: parts.contentKeys }, job, model);
    if (!reading) return await endJob(parts.em(), job);
    const { version } = await personalSettings(parts.em());
    if (!(await spendBudget(parts.em(), job.userId, model.price)))
      return await postponeJob(parts.em(), job, version);
    const body = derivingBody(model.name, reading);
    const answer = await askModel(parts, job, { body, providerIds: reading.providerIds });
    if ('failure' in answer) return await fail(parts, job, { reason: 'MODEL_FAILED', cause: answer.failure });
    const list = parseOperations(answer.text);
    if (!list) return await fail(parts, job, { reason: 'NOT_READABLE', cause: 'NO_OPERATIONS' });
    const { operations, refused } = acceptOperations(list, reading);
    for (const [reason, count] of Object.entries(refused)) refusals.inc({ reason }, count);
    await finish(parts, job, { operations, key: reading.key, through: reading.through });
  } catch (error) {
    await fail(parts, job, { reason: 'INTERNAL', cause: classOf(error) });
  }
}

/** Counts and logs a failed attempt. `cause` is a class of errors: an error's own text may quote the chat. */
async function fail(
  { em, log }: DerivingParts,
  job: DerivingJob,
  { reason, cause }: { reason: JobTrouble; cause: string },
): Promise<void> {
  failures.inc({ reason });
  const message = 'A chat could not be read for Personal Intelligence. It is tried at most three times.';
  log?.({ level: 'warn', task: 'personal intelligence', message, reason, cause });
  await failJob(em(), job, reason);
}

/** Class and code of an error, e.g. "DatabaseError 23505", without anything that may quote a chat. */
function classOf(error: unknown): string {
  const { name, code } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  return [name, code].filter((part) => typeof part === 'string' && /^\w{1,60}$/.test(part)).join(' ');
}

/** The answer of the model, or the code of its failure. The request is free for the user. */
async function askModel(
  { em, settings, nodeFeed }: DerivingParts,
  { userId }: DerivingJob,
  { body, providerIds }: { body: string; providerIds: readonly string[] | null },
): Promise<{ text: string } | { failure: string }> {
  const key = await announcedKey(em(), userId, { settings, nodeFeed });
  const tooLong = new AbortController();
  let text = '';
  const failure = await requestReply(
    {
      dataUrl: settings.dataUrl,
      passKey: passKeyOf(settings),
      key,
      ip: null,
      source: 'PERSONAL_INTELLIGENCE',
      providerIds,
      body,
      signal: AbortSignal.any([AbortSignal.timeout(CALL_MS_MAX), tooLong.signal]),
    },
    {
      onStart: () => undefined,
      onPart: (kind, part) => {
        if (kind === 'text') text += part;
        if (text.length > ANSWER_CHARACTERS_MAX) tooLong.abort();
      },
    },
  ).catch(() => ({ code: 'TIMEOUT' }));
  if (tooLong.signal.aborted) return { failure: 'TOO_LONG' };
  return failure === undefined ? { text } : { failure: failure.code };
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
