/** Processes that announce themselves as a node: one at a time is it, and a late word changes nothing. */
import { createPublicKey } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { UserFailure } from '../errors.ts';
import { EVERYBODY, publish } from '../events.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { judgeStart } from './start.rules.ts';
import type { ProcessStart, Standing, StartVerdict } from './start.rules.ts';

const TEXT_LENGTH_MAX = 500;

const REFUSED = {
  FOREIGN: 'This journal belongs to another node. Start with a new one.',
  OLD:
    'A later process, or one on a copy of this DATA_DIR, has gone on with this journal, or another one has ' +
    'taken the place of this one. Let each process have a node, a token and a DATA_DIR of its own.',
  OTHER_LIVES:
    'Another process has served with this token in the last 20 seconds. Give each process a node, a token ' +
    'and a DATA_DIR of its own. If the other one is gone, wait: this one is let in by itself.',
};

/** What a starting process says of itself. */
export interface Registration {
  version: string;
  region: string | null;
  publicKey: string;
  journalId: string;
  /** Absent where the process is of a release that does not number its starts. */
  process?: ProcessStart | undefined;
}

/**
 * Makes the process the node, or says why it is not; said again by the same process it changes nothing. A
 * journal belongs to the node that named it first. Throws INVALID for a key that is not X25519, and CONFLICT
 * for another node's journal, a process that a later one has followed, and while another process is the node.
 */
export async function registerNode(
  em: EntityManager,
  nodeId: string,
  registration: Registration,
): Promise<void> {
  checkTexts(registration);
  await inTransaction(em, async (inner) => {
    const verdict = await judge(inner, nodeId, registration);
    if (verdict === 'OLD' || verdict === 'OTHER_LIVES') throw refused(verdict);
    if (verdict === 'BEGINS') await begin(inner, nodeId, registration);
  });
}

function refused(why: keyof typeof REFUSED): UserFailure {
  return new UserFailure('CONFLICT', REFUSED[why], 'journalId');
}

/** Locks node and journal, so that of two processes the second sees the first. */
async function judge(em: EntityManager, nodeId: string, announced: Registration): Promise<StartVerdict> {
  const { journalId, process = null } = announced;
  const node = await queryOne<{ journal_id: string | null; heard: boolean }>(
    em,
    sql`
    select journal_id, coalesce(
        last_seen_at > clock_timestamp() - ${OFFLINE_AFTER_MS} * interval '1 millisecond', false) as heard
    from data_plane_node where id = ${nodeId} for update`,
  );
  const journal = await queryOne<{ start: number; instance_id: string | null }>(
    em,
    sql`
    insert into node_journal (id, node_id) values (${journalId}, ${nodeId})
    on conflict (id) do update set node_id = node_journal.node_id where node_journal.node_id = ${nodeId}
    returning start, instance_id`,
  );
  if (!journal) throw refused('FOREIGN');
  const standing: Standing = {
    start: journal.start,
    instanceId: journal.instance_id,
    nodeJournalId: node?.journal_id ?? null,
    isHeard: node?.heard ?? false,
  };
  return judgeStart(standing, { journalId, process });
}

async function begin(em: EntityManager, nodeId: string, registration: Registration): Promise<void> {
  const { version, region, publicKey, journalId, process } = registration;
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
      journal_id = ${journalId}, started_at = now(), last_seen_at = now(), draining = false,
      last_ack_error = null
    where id = ${nodeId}`,
  );
  await publish(em, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
}

function checkTexts({ version, region, publicKey, journalId, process }: Registration): void {
  if (!isX25519(publicKey)) {
    throw new UserFailure(
      'INVALID',
      'publicKey must be an X25519 key: SPKI in DER form, as base64url.',
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
      `Texts have at most ${TEXT_LENGTH_MAX} characters, and journalId at least one.`,
    );
  }
  if (process && process.start < 1) throw new UserFailure('INVALID', 'Starts are counted from 1.', 'start');
}

function isX25519(publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'x25519';
  } catch {
    return false;
  }
}
