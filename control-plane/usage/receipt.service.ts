/** What became of one request and its money: the log, the charge, and the entries of the ledger behind it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AttemptRecord, Tried } from '@gateway/shared/records';
import { queryOne, sql } from '../sql.ts';
import { allTried } from './attempt.rules.ts';
import { usageOfRequest } from './usage.service.ts';
import type { UsageView } from './usage.service.ts';

export interface Receipt {
  entry: UsageView;
  tried: Tried;
  charge: ReceiptCharge | null;
  /** For administrators alone: where the charge stands. */
  place: ReceiptPlace | null;
}

export interface ReceiptCharge {
  settlement: 'LEASE' | 'WALLET' | 'WRITEOFF';
  amount: bigint;
  transactionId: string;
  settledAt: Date;
}

export interface ReceiptPlace {
  nodeId: string;
  journalId: string;
  seq: number;
  leaseId: string;
}

/** The receipt of a request; undefined where there is none, or where it is not the given user's. */
export async function receiptOf(
  em: EntityManager,
  requestId: string,
  userId: string | null,
): Promise<Receipt | undefined> {
  const entry = await usageOfRequest(em, requestId, userId);
  if (!entry) return undefined;
  const [tried, row] = [await triedFor(em, entry), await chargeRow(em, requestId)];
  if (!row) return { entry, tried, charge: null, place: null };
  return {
    entry,
    tried,
    charge: {
      settlement: row.settlement,
      amount: BigInt(row.amount),
      transactionId: row.transaction_id,
      settledAt: new Date(row.at),
    },
    place: {
      nodeId: row.node_id ?? '',
      journalId: row.journal_id,
      seq: Number(row.seq),
      leaseId: row.lease_id,
    },
  };
}

async function triedFor(em: EntityManager, entry: UsageView): Promise<Tried> {
  const row = await queryOne<{ attempts: AttemptRecord[] | null; omitted: number | null }>(
    em,
    sql`
    select attempts, attempts_omitted as omitted from usage_entry
    where request_id = ${entry.requestId}
      and at = (select at from usage_request where request_id = ${entry.requestId})`,
  );
  const listed = row?.attempts ? { attempts: row.attempts, omitted: row.omitted ?? 0 } : null;
  return allTried(listed, entry);
}

function chargeRow(em: EntityManager, requestId: string): Promise<ChargeRow | undefined> {
  return queryOne<ChargeRow>(
    em,
    sql`
    select c.settlement, c.amount, c.transaction_id, c.journal_id, c.seq, c.lease_id, j.node_id, t.at
    from usage_charge c join ledger_transaction t on t.id = c.transaction_id
      left join node_journal j on j.id = c.journal_id
    where c.request_id = ${requestId}`,
  );
}

interface ChargeRow {
  settlement: ReceiptCharge['settlement'];
  amount: string;
  transaction_id: string;
  journal_id: string;
  seq: string;
  lease_id: string;
  node_id: string | null;
  at: string | Date;
}
