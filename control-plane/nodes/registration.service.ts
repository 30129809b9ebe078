/**
 * Registers processes as nodes: one process at a time is a node, and late messages of others change nothing.
 */
import { createPublicKey } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { writeOffNode } from '../pools/permit.service.ts';
import { decideRegistration } from './registration.rules.ts';
import type { ProcessStart, RegistrationState, RegistrationVerdict } from './registration.rules.ts';

const TEXT_LENGTH_MAX = 500;

/** MAX_CONFIG_AGE of nodes that do not report it. */
const MAX_CONFIG_AGE_DEFAULT_MS = 24 * 60 * 60_000;

const REFUSALS = {
  FOREIGN: 'This journal belongs to another node. Start the process with an empty DATA_DIR.',
  OUTDATED:
    'A later process, or a process on a copy of this DATA_DIR, uses this journal, or another process has ' +
    'replaced this one. Give each process its own node, token and DATA_DIR.',
  OCCUPIED:
    'Another process has served with this token in the last 20 seconds. Give each process its own node, ' +
    'token and DATA_DIR. If the other process is gone, wait: this one retries and is then accepted.',
};

/** Report of a starting node process about itself. */
export interface Registration {
  version: string;
  region: string | null;
  publicKey: string;
  journalId: string;
  /** Absent for releases that do not count their starts. */
  process?: ProcessStart | undefined;
  /** How long the process serves with an unconfirmed configuration. Absent from earlier releases. */
  maxConfigAgeMs?: number | undefined;
  /** False if the process only settles the journal of a worker that the node no longer has; else absent. */
  serves?: boolean | undefined;
}

/**
 * Registers the process as the node; repeating it changes nothing. A journal belongs to the node that used it
 * first. Throws INVALID for a key that is not X25519 or a text of wrong length, and CONFLICT for another
 * node's journal, an outdated process, and while another process is the node.
 */
export async function registerNode(
  em: EntityManager,
  nodeId: string,
  registration: Registration,
): Promise<void> {
  checkTexts(registration);
  await inTransaction(em, async (inner) => {
    const verdict = await judge(inner, nodeId, registration);
    if (verdict === 'OUTDATED' || verdict === 'OCCUPIED') throw refusal(verdict);
    if (verdict === 'NEW') await replaceProcess(inner, nodeId, registration);
  });
}

function refusal(reason: keyof typeof REFUSALS): UserFailure {
  return new UserFailure('CONFLICT', REFUSALS[reason], 'journalId');
}

/** Locks the rows of node and journal, so that concurrent registrations are serialised. */
async function judge(
  em: EntityManager,
  nodeId: string,
  registration: Registration,
): Promise<RegistrationVerdict> {
  const { journalId, process = null } = registration;
  const node = await queryOne<{ journal_id: string | null; online: boolean }>(
    em,
    sql`
    select journal_id, coalesce(
        last_seen_at > clock_timestamp() - ${OFFLINE_AFTER_MS} * interval '1 millisecond', false) as online
    from data_plane_node where id = ${nodeId} for update`,
  );
  const journal = await queryOne<{ start: number; instance_id: string | null }>(
    em,
    sql`
    insert into node_journal (id, node_id) values (${journalId}, ${nodeId})
    on conflict (id) do update set node_id = node_journal.node_id where node_journal.node_id = ${nodeId}
    returning start, instance_id`,
  );
  if (!journal) throw refusal('FOREIGN');
  const state: RegistrationState = {
    start: journal.start,
    instanceId: journal.instance_id,
    nodeJournalId: node?.journal_id ?? null,
    isOnline: node?.online ?? false,
  };
  return decideRegistration(state, { journalId, process });
}

async function replaceProcess(em: EntityManager, nodeId: string, registration: Registration): Promise<void> {
  const { version, region, publicKey, journalId, process, maxConfigAgeMs } = registration;
  const { serves = true } = registration;
  await query(
    em,
    sql`
    update node_journal set last_contact_at = clock_timestamp(),
      start = coalesce(${process?.start ?? null}, start),
      instance_id = coalesce(${process?.instanceId ?? null}, instance_id)
    where id = ${journalId}`,
  );
  await query(
    em,
    sql`
    update data_plane_node set version = ${version}, region = ${region}, public_key = ${publicKey},
      journal_id = ${journalId}, started_at = now(), last_seen_at = now(), draining = ${!serves},
      last_ack_error = null, max_config_age_ms = ${maxConfigAgeMs ?? MAX_CONFIG_AGE_DEFAULT_MS}
    where id = ${nodeId}`,
  );
  // The process holds the lock of the journal, so no process of this worker can serve pools alone.
  if (!serves) await writeOffNode(em, nodeId);
  await publish(em, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
}

function checkTexts({ version, region, publicKey, journalId, process }: Registration): void {
  if (!isX25519(publicKey)) {
    throw new UserFailure(
      'INVALID',
      'publicKey is not an X25519 key. Send it as SPKI in DER form, encoded as base64url.',
      'publicKey',
    );
  }
  const required = process ? [journalId, process.instanceId] : [journalId];
  if (
    [version, region ?? '', ...required].some((text) => text.length > TEXT_LENGTH_MAX) ||
    required.includes('')
  ) {
    throw new UserFailure(
      'INVALID',
      `Texts have at most ${TEXT_LENGTH_MAX} characters; journalId and instanceId have at least one.`,
    );
  }
  if (process && process.start < 1) throw new UserFailure('INVALID', 'start must be at least 1.', 'start');
}

function isX25519(publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'x25519';
  } catch {
    return false;
  }
}
