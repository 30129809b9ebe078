/**
 * Command to run on a database that was restored from a backup, before the control plane starts on it. It
 * skips configuration revisions that nodes may already know, and reclaims open leases. With `--accept-lost`,
 * run after the nodes have reported their journals, it records the charges that are lost for good.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../database/ids.ts';
import { createOrm } from '../database/orm.ts';
import { readEnvironment } from '../process/environment.ts';
import { runProgram } from '../process/program.ts';
import { inTransaction, query, queryRow, sql } from '../database/sql.ts';
import { reclaimLease } from './lease.end.ts';

/** More configuration changes than any installation makes between a backup and the loss of its database. */
const REVISIONS_SKIPPED = 1_000_000;
const LOST = 'lost with a database that was restored from a backup';

/**
 * Moves the configuration log far ahead and prunes it, because nodes may know revisions made after the
 * backup: no revision number may be reused, and every node has to fetch a snapshot. Reclaims all open leases,
 * because the backup lacks charges that nodes made from them; the wallet pays those charges when nodes report
 * them. Has ClickHouse filled again, if it is used. Returns the new revision and the number of reclaimed
 * leases. Safe to run again.
 */
export async function prepareRestored(em: EntityManager): Promise<{ revision: number; leases: number }> {
  return inTransaction(em, async (inner) => {
    const { revision } = await queryRow<{ revision: number }>(
      inner,
      sql`update config_head set revision = revision + ${REVISIONS_SKIPPED},
        pruned_to = revision + ${REVISIONS_SKIPPED} returning revision`,
    );
    await query(inner, sql`update wallet_lease set state = 'ORPHANED' where state = 'ACTIVE'`);
    const open = await query<{ id: string }>(
      inner,
      sql`select id from wallet_lease where state = 'ORPHANED' order by id`,
    );
    for (const { id } of open) await reclaimLease(inner, id);
    // ClickHouse may have requests that the backup lacks: its table is filled again.
    await query(inner, sql`update usage_export set is_active = false, is_complete = false`);
    return { revision, leases: open.length };
  });
}

/**
 * Inserts a settlement alarm for each sequence number that is missing in a journal, so that the ledger check
 * accepts the gap. Returns how many charges are lost: these requests were served without payment.
 */
export async function acceptLost(em: EntityManager): Promise<number> {
  const missing = await query<{ journal_id: string; node_id: string; seq: number }>(
    em,
    sql`
    with settled as (
      select journal_id, seq from usage_charge
      union select journal_id, seq from settlement_alarm where kind = 'REJECTED' and seq is not null
    )
    select j.id as journal_id, j.node_id, numbers.seq::integer as seq from node_journal j
    join lateral (select max(seq) as last from settled s where s.journal_id = j.id) ends on true
    join lateral generate_series(1, ends.last) as numbers (seq) on true
    where not exists (select from settled s where s.journal_id = j.id and s.seq = numbers.seq)
    order by j.id, numbers.seq`,
  );
  await inTransaction(em, async (inner) => {
    for (const { journal_id: journalId, node_id: nodeId, seq } of missing)
      await query(
        inner,
        sql`insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
          values (${newId('alm')}, 'REJECTED', ${nodeId}, ${`lost:${journalId}:${seq}`}, ${journalId}, ${seq},
            ${LOST})`,
      );
  });
  return missing.length;
}

/** Runs the command on the database at DATABASE_URL and returns the exit code. */
export async function main(
  env: NodeJS.ProcessEnv,
  parameters: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  const databaseUrl = env['DATABASE_URL'];
  if (!databaseUrl) {
    print('DATABASE_URL is not set. Set it to the address of the restored PostgreSQL database.');
    return 1;
  }
  const orm = await createOrm(databaseUrl, { connectionsMax: 1 });
  try {
    if (parameters.includes('--accept-lost')) {
      print(`Recorded ${await acceptLost(orm.em.fork())} lost charges in settlement_alarm.`);
    } else {
      const { revision, leases } = await prepareRestored(orm.em.fork());
      print(`The configuration continues at revision ${revision}. ${leases} open leases were reclaimed.`);
    }
    return 0;
  } finally {
    await orm.close(true);
  }
}

await runProgram('after-restore.js', (parameters, print) => main(readEnvironment(), parameters, print));
