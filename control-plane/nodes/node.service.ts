/** Data-plane nodes: creating them, their tokens, and their state for administrators. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { splitWorkerToken } from '@gateway/shared/worker-token';
import type { Lookup } from '../database/batches.ts';
import type { NodeIdentity } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { writeOffNode } from '../pools/permit.service.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { viewOfNode, viewOfWorker } from './node.view.ts';
import type { NodeView, WorkerRow } from './node.view.ts';

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
    update data_plane_node set token_digest = ${digestOf(token)}
      where id = ${nodeId} and worker_of is null returning id`,
  );
  if (!changed) throw noSuchNode();
  return token;
}

/**
 * Asks all workers of a node to finish their requests and exit. They learn of it with their next heartbeat,
 * and serve again after a restart. A node that is offline counts as gone for good. Throws NOT_FOUND for an
 * unknown id.
 */
export async function drainNode(em: EntityManager, nodeId: string): Promise<void> {
  const ids = await workerIds(em, nodeId);
  await query(em, sql`update data_plane_node set draining = true where id = any(${ids}::text[])`);
  for (const id of ids) await writeOffNode(em, id);
  await publish(em, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
}

/** Ids of the rows of a node: its own, and its further workers'. Throws NOT_FOUND for an unknown id. */
export async function workerIds(em: EntityManager, nodeId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    sql`select w.id from data_plane_node n join data_plane_node w on w.id = n.id or w.worker_of = n.id
      where n.id = ${nodeId} and n.worker_of is null order by w.worker`,
  );
  if (rows.length === 0) throw noSuchNode();
  return rows.map(({ id }) => id);
}

/**
 * The node or the worker that a `gnt_…` token belongs to; null for an unknown token. Stores a worker that it
 * meets for the first time.
 */
export async function findNodeByToken(em: EntityManager, token: string): Promise<NodeIdentity | null> {
  const { nodeToken, worker } = splitWorkerToken(token);
  const node = await queryOne<NodeIdentity>(
    em,
    sql`
    select id, name from data_plane_node where token_digest = ${digestOf(nodeToken)}`,
  );
  if (!node || worker === 1) return node ?? null;
  return (await findWorker(em, node.id, worker)) ?? (await addWorker(em, node, worker));
}

async function findWorker(em: EntityManager, nodeId: string, worker: number): Promise<NodeIdentity | null> {
  const found = await queryOne<NodeIdentity>(
    em,
    sql`select id, name from data_plane_node where worker_of = ${nodeId} and worker = ${worker}`,
  );
  return found ?? null;
}

/** Stores a worker. It signs in with the token of its node, so its own digest is that of no token. */
async function addWorker(
  em: EntityManager,
  node: NodeIdentity,
  worker: number,
): Promise<NodeIdentity | null> {
  await query(
    em,
    sql`
    insert into data_plane_node (id, name, token_digest, worker_of, worker)
    values (${newId('nod')}, ${`${node.name}#${worker}`}, ${digestOf(issueSecret('gnt'))}, ${node.id},
      ${worker})
    on conflict do nothing`,
  );
  return findWorker(em, node.id, worker);
}

/** All nodes, or those to which the given ids of nodes and workers belong, sorted by name. */
export async function listNodes(em: EntityManager, ids?: readonly string[]): Promise<NodeView[]> {
  const rows = await readWorkers(
    em,
    ids
      ? sql`coalesce(n.worker_of, n.id) in
          (select coalesce(worker_of, id) from data_plane_node where id = any(${[...ids]}::text[]))`
      : sql`true`,
  );
  const workers = Map.groupBy(rows, (row) => row.worker_of);
  return (workers.get(null) ?? []).map((node) => viewOfNode(node, workers.get(node.id) ?? []));
}

/** Nodes by the ids of nodes and workers; see batches.ts. */
export const nodesByIds: Lookup<NodeView> = async (em, ids) => {
  const nodes = new Map((await listNodes(em, ids)).map((node) => [node.id, node]));
  const rows = await query<{ id: string; node_id: string }>(
    em,
    sql`select id, coalesce(worker_of, id) as node_id from data_plane_node
      where id = any(${[...ids]}::text[])`,
  );
  return new Map(
    rows.flatMap((row) => {
      const node = nodes.get(row.node_id);
      return node ? [[row.id, node] as const] : [];
    }),
  );
};

/** The node with this id, or of the worker with this id. Throws NOT_FOUND for an unknown id. */
export async function nodeById(em: EntityManager, id: string): Promise<NodeView> {
  const [node] = await listNodes(em, [id]);
  if (!node) throw noSuchNode();
  return node;
}

/** One worker by itself, under its own id. Throws NOT_FOUND for an unknown id. */
export async function workerById(em: EntityManager, id: string): Promise<NodeView> {
  const [row] = await readWorkers(em, sql`n.id = ${id}`);
  if (!row) throw noSuchNode();
  return viewOfWorker(row);
}

function readWorkers(em: EntityManager, condition: Statement): Promise<WorkerRow[]> {
  return query<WorkerRow>(
    em,
    sql`
    select n.*, h.revision as latest_revision,
      (extract(epoch from clock_timestamp() - coalesce(n.applied_at, n.created_at)) * 1000)::bigint::text as
        applied_age,
      (extract(epoch from clock_timestamp() - n.last_seen_at) * 1000)::bigint::text as seen_age
    from data_plane_node n cross join config_head h
    where ${condition} order by n.name`,
  );
}

function noSuchNode(): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such node. Choose one of the list of nodes.', 'id');
}
