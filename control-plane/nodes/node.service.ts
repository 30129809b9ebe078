/** Data-plane nodes: creating them, their tokens, and their state for administrators. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import type { Lookup } from '../database/batches.ts';
import type { NodeIdentity } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { writeOffNode } from '../pools/permit.service.ts';
import { query, queryOne, sql, toDate } from '../database/sql.ts';

export type NodeState = 'JOINING' | 'IN_SYNC' | 'LAGGING' | 'OFFLINE' | 'DRAINING';

/** A node as administrators see it. */
export interface NodeView {
  id: string;
  name: string;
  region: string | null;
  version: string;
  state: NodeState;
  /** Whether the node is offline after an administrator drained it; health checks ignore it. */
  retired: boolean;
  appliedRevision: number;
  latestRevision: number;
  /** Time since the node last applied a revision, in ms; 0 in sync. */
  lagMs: number;
  lastSeenAt: Date | null;
  lastAckError: string | null;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
  startedAt: Date;
}

const NAME = /^[\w][\w .:-]{0,63}$/;

/**
 * Creates a node and its token. Only a digest of the token is stored. Throws INVALID for a malformed name,
 * TAKEN if another node has it.
 */
export async function createNode(
  em: EntityManager,
  name: string,
): Promise<{ node: NodeIdentity; token: string }> {
  if (!NAME.test(name))
    throw new UserFailure(
      'INVALID',
      'Use a name of 1 to 64 letters, digits, spaces or . : - _ that starts with a letter, a digit or _.',
      'name',
    );
  const token = issueSecret('gnt');
  const created = await queryOne<NodeIdentity>(
    em,
    sql`
    insert into data_plane_node (id, name, token_digest) values (${newId('nod')}, ${name}, ${digestOf(token)})
    on conflict (name) do nothing returning id, name`,
  );
  if (!created) throw new UserFailure('TAKEN', 'Another node has this name. Choose another one.', 'name');
  return { node: created, token };
}

/** Replaces a node's token; the old one stops working at once. Throws NOT_FOUND for an unknown id. */
export async function rotateNodeToken(em: EntityManager, nodeId: string): Promise<string> {
  const token = issueSecret('gnt');
  const changed = await queryOne(
    em,
    sql`
    update data_plane_node set token_digest = ${digestOf(token)} where id = ${nodeId} returning id`,
  );
  if (!changed) throw noSuchNode();
  return token;
}

/**
 * Asks a node to finish its requests and exit. The node learns of it with its next heartbeat, and serves
 * again after a restart. A node that is offline counts as gone for good. Throws NOT_FOUND for an unknown id.
 */
export async function drainNode(em: EntityManager, nodeId: string): Promise<void> {
  const changed = await queryOne(
    em,
    sql`update data_plane_node set draining = true where id = ${nodeId} returning id`,
  );
  if (!changed) throw noSuchNode();
  await writeOffNode(em, nodeId);
  await publish(em, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
}

/** The node that a `gnt_…` token belongs to; null for an unknown token. */
export async function findNodeByToken(em: EntityManager, token: string): Promise<NodeIdentity | null> {
  const found = await queryOne<NodeIdentity>(
    em,
    sql`
    select id, name from data_plane_node where token_digest = ${digestOf(token)}`,
  );
  return found ?? null;
}

/** All nodes, or those with the given ids, sorted by name. */
export async function listNodes(em: EntityManager, ids?: readonly string[]): Promise<NodeView[]> {
  const rows = await query<NodeRow>(
    em,
    sql`
    select n.*, h.revision as latest_revision,
      (extract(epoch from clock_timestamp() - coalesce(n.applied_at, n.created_at)) * 1000)::bigint::text as
        applied_age,
      (extract(epoch from clock_timestamp() - n.last_seen_at) * 1000)::bigint::text as seen_age
    from data_plane_node n cross join config_head h
    where ${ids ? sql`n.id = any(${[...ids]}::text[])` : sql`true`} order by n.name`,
  );
  return rows.map(toView);
}

/** Nodes by their ids; see batches.ts. */
export const nodesByIds: Lookup<NodeView> = async (em, ids) =>
  new Map((await listNodes(em, ids)).map((node) => [node.id, node]));

/** One node. Throws NOT_FOUND for an unknown id. */
export async function nodeById(em: EntityManager, id: string): Promise<NodeView> {
  const [node] = await listNodes(em, [id]);
  if (!node) throw noSuchNode();
  return node;
}

function noSuchNode(): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such node. Choose one of the list of nodes.', 'id');
}

interface NodeRow {
  id: string;
  name: string;
  region: string | null;
  version: string | null;
  applied_revision: number;
  latest_revision: number;
  applied_age: string;
  seen_age: string | null;
  last_ack_error: string | null;
  rps: string;
  inflight: number;
  event_loop_p99_ms: number;
  usage_backlog: number;
  draining: boolean;
  last_seen_at: string | null;
  started_at: string | null;
  created_at: string;
}

function toView(row: NodeRow): NodeView {
  return {
    id: row.id,
    name: row.name,
    region: row.region,
    version: row.version ?? '',
    state: stateOf(row),
    retired: row.draining && stateOf(row) === 'OFFLINE',
    appliedRevision: row.applied_revision,
    latestRevision: row.latest_revision,
    lagMs: row.applied_revision >= row.latest_revision ? 0 : Math.min(Number(row.applied_age), 2 ** 31 - 1),
    lastSeenAt: row.last_seen_at ? toDate(row.last_seen_at) : null,
    lastAckError: row.last_ack_error,
    rps: row.rps,
    inflight: row.inflight,
    eventLoopP99Ms: row.event_loop_p99_ms,
    usageBacklog: row.usage_backlog,
    startedAt: toDate(row.started_at ?? row.created_at),
  };
}

function stateOf(row: NodeRow): NodeState {
  if (row.seen_age === null) return 'JOINING';
  if (Number(row.seen_age) > OFFLINE_AFTER_MS) return 'OFFLINE';
  if (row.draining) return 'DRAINING';
  return row.applied_revision >= row.latest_revision ? 'IN_SYNC' : 'LAGGING';
}
