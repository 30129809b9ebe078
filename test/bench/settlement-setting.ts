/** Nodes, wallets and leases in a database, and the reports that these nodes send to be settled. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { newRequestId } from '../../data-plane/call/timed-id.ts';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { reportBody, usageText } from '@gateway/shared/usage-report';
import type { UsageRecord } from '@gateway/shared/records';
import { newId } from '../../control-plane/database/ids.ts';

/** A node that may report charges of its leases. */
export interface Reporter {
  nodeId: string;
  token: string;
  journalId: string;
  /** The lease of each wallet, in the order of the wallets. */
  leases: { walletId: string; keyId: string; leaseId: string }[];
}

/** One charge costs one micro-dollar, so that no lease is used up. */
const COST = '1';
/** Credit of each wallet, in micro-USD. */
const BALANCE = 1_000_000_000n;
const LEASED = 10_000_000n;
const MODELS = ['swift', 'budget', 'coder', 'balanced', 'flagship'];

/** Creates wallets, each with a key, and nodes that have a lease of every wallet. */
export async function addReporters(
  database: pg.Pool,
  size: { nodes: number; wallets: number },
): Promise<Reporter[]> {
  const wallets: { walletId: string; keyId: string }[] = [];
  for (let at = 0; at < size.wallets; at += 1) wallets.push(await addWallet(database));
  const reporters: Reporter[] = [];
  for (let index = 0; index < size.nodes; index += 1) {
    const node = { nodeId: newId('nod'), journalId: `jnl_${randomUUID()}`, token: issueSecret('gnt') };
    const { nodeId, journalId, token } = node;
    await database.query(
      'insert into data_plane_node (id, name, token_digest, journal_id) values ($1, $1, $2, $3)',
      [nodeId, digestOf(token), journalId],
    );
    await database.query('insert into node_journal (id, node_id) values ($1, $2)', [journalId, nodeId]);
    const leases = wallets.map((wallet) => ({ ...wallet, leaseId: newId('lse') }));
    for (const [at, lease] of leases.entries()) await grant(database, node, { ...lease, requestNo: at + 1 });
    reporters.push({ ...node, leases });
  }
  return reporters;
}

/** Grants a lease, as a node gets it, but an hour ago: before the requests that it pays. */
async function grant(
  database: pg.Pool,
  { nodeId, journalId }: { nodeId: string; journalId: string },
  { walletId, leaseId, requestNo }: { walletId: string; leaseId: string; requestNo: number },
): Promise<void> {
  await database.query(
    `insert into wallet_lease (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift,
        granted_at)
      values ($1, $2, $3, $4, $5, $6, 0, now() - interval '1 hour')`,
    [leaseId, walletId, nodeId, journalId, requestNo, LEASED],
  );
  await database.query('select ledger_open_lease($1, $2)', [walletId, leaseId]);
  await move(database, {
    kind: 'LEASE_GRANT',
    from: `wallet:${walletId}:CASH`,
    to: `lease:${leaseId}:CASH`,
    amount: LEASED,
  });
}

async function move(
  database: pg.Pool,
  { kind, from, to, amount }: { kind: string; from: string; to: string; amount: bigint },
): Promise<void> {
  await database.query(
    `select ledger_post($1, $2, $1, 'SYSTEM', null, 'bench', null, 'bench', array[$3, $4],
      array[-$5::bigint, $5::bigint], array[$6, $7])`,
    [newId('txn'), kind, from, to, amount, newId('led'), newId('led')],
  );
}

/** A wallet that was paid for by card, with one key. */
async function addWallet(database: pg.Pool): Promise<{ walletId: string; keyId: string }> {
  const [userId, walletId, keyId] = [newId('usr'), newId('wal'), newId('key')];
  await database.query("insert into users (id, email) values ($1, lower($1) || '@example.com')", [userId]);
  await database.query('insert into wallet (id, user_id) values ($1, $2)', [walletId, userId]);
  await database.query('select ledger_open_wallet($1)', [walletId]);
  await database.query(
    `insert into api_key (id, owner_id, wallet_id, name, billing_group, state, digest, prefix, suffix)
      values ($1, $2, $3, 'bench', 'default', 'ENABLED', $1, 'sk-aaaa', 'aaaa')`,
    [keyId, userId, walletId],
  );
  await move(database, {
    kind: 'TOP_UP_CARD',
    from: 'funding',
    to: `wallet:${walletId}:CASH`,
    amount: BALANCE,
  });
  return { walletId, keyId };
}

/**
 * Bodies of consecutive reports of a node, which had a request each ms until now. Each charge is of a random
 * wallet; a few wallets have most, as in practice.
 */
export function reportsOf(reporter: Reporter, batches: number, rows: number): Buffer[] {
  const { nodeId, journalId, leases } = reporter;
  const firstAt = Date.now() - batches * rows;
  let seq = 0;
  return Array.from({ length: batches }, () => {
    const pieces = Array.from({ length: rows }, () => {
      const lease = leases[Math.floor(leases.length * Math.random() ** 3)];
      if (!lease) throw new Error('The node has no lease.');
      seq += 1;
      return usageText(charge(firstAt, seq, lease), { journalId, seq, leaseId: lease.leaseId });
    });
    return Buffer.from(reportBody({ nodeId, batchId: randomUUID(), pieces }).join(''));
  });
}

function charge(
  firstAt: number,
  seq: number,
  { walletId, keyId }: { walletId: string; keyId: string },
): UsageRecord {
  const at = firstAt + seq;
  return {
    ...{ requestId: newRequestId(at), at, keyId, walletId, poolId: null },
    ...{ group: 'default', source: 'API_KEY', model: MODELS[seq % MODELS.length] ?? '' },
    ...{ family: 'chat_completions', routeId: 'rte_bench', basePrice: COST, ratio: '1', cost: COST },
    tokens: { input: upTo(4000), output: upTo(900), cached: upTo(800), reasoning: null },
    ...{ status: 'SUCCEEDED', outcome: 'DELIVERED', httpStatus: 200, errorCode: null },
    ...{ streamed: upTo(4) > 1, latencyMs: upTo(5000), firstContentMs: upTo(900) },
    ...{ ip: `192.0.2.${upTo(250)}`, lossesInAnswer: 0 },
  };
}

/** A random number from 1 to `most`: values that differ, as those of real requests. */
function upTo(most: number): number {
  return 1 + Math.floor(most * Math.random());
}
