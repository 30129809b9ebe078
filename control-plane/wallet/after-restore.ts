/**
 * Command for a database that was restored from a backup. Before the control plane starts on it: makes what
 * nodes know from later on recognisable, and takes open leases back. With `--accept-lost`, once nodes have
 * reported what their journals still hold: notes the charges that nobody has any more.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../ids.ts';
import { createOrm } from '../orm.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { reclaimLease } from './lease.end.ts';

/** No installation changes its configuration this often between a backup and its loss. */
const REVISIONS_LEAPT = 1_000_000;
const LOST = 'lost with a database that was restored from a backup';

/**
 * Nodes may know revisions that were made after the backup: the same numbers must never mean something else,
 * so the log goes on far above them, and everybody comes back for a snapshot. Open leases go back to their
 * wallets: their nodes count charges in them that the backup does not have. What nodes still report of them
 * comes late and is paid by the wallet. Run twice, it does no harm.
 */
export async function beginAgain(em: EntityManager): Promise<{ revision: number; leases: number }> {
  return inTransaction(em, async (inner) => {
    const head = await queryOne<{ revision: number }>(
      inner,
      sql`update config_head set revision = revision + ${REVISIONS_LEAPT},
        pruned_to = revision + ${REVISIONS_LEAPT} returning revision`,
    );
    await query(inner, sql`update wallet_lease set state = 'ORPHANED' where state = 'ACTIVE'`);
    const open = await query<{ id: string }>(
      inner,
      sql`select id from wallet_lease where state = 'ORPHANED' order by id`,
    );
    for (const { id } of open) await reclaimLease(inner, id);
    return { revision: head?.revision ?? 0, leases: open.length };
  });
}

/**
 * Notes an alarm for each number that is missing in a journal, so that the check of the ledger knows of it.
 * Returns how many charges are lost: served, and paid by nobody.
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

/** Runs the command on the database and returns the exit code. */
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
      print(`${await acceptLost(orm.em.fork())} lost charges are noted in settlement_alarm.`);
    } else {
      const { revision, leases } = await beginAgain(orm.em.fork());
      print(
        `The configuration goes on at revision ${revision}; ${leases} open leases are back in their wallets.`,
      );
    }
    return 0;
  } finally {
    await orm.close(true);
  }
}

if (process.argv[1]?.endsWith('after-restore.js')) {
  const print = (line: string): boolean => process.stdout.write(`${line}\n`);
  process.exitCode = await main(process.env, process.argv.slice(2), print);
}
