/** Reads the receipt of a request: its usage row, attempts, charge and journal position. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AttemptRecord, AttemptList } from '@gateway/shared/records';
import { queryOne, sql } from '../database/sql.ts';
import { allTried } from './attempt.rules.ts';
import { usageOfRequest } from './usage.service.ts';
import type { UsageView } from './usage.service.ts';

/** A receipt; `charge` and `place` are null for a request that was not charged. */
export interface Receipt {
  entry: UsageView;
  tried: AttemptList;
  charge: ReceiptCharge | null;
  /** Only administrators may see it. */
  place: ReceiptPlace | null;
}

/** The charge of a request. */
export interface ReceiptCharge {
  settlement: 'LEASE' | 'WALLET' | 'WRITEOFF';
  /** Micro-USD. */
  amount: bigint;
  transactionId: string;
  settledAt: Date;
}

/** The position of a charge in a journal. */
export interface ReceiptPlace {
  /** '' if the node is unknown. */
  nodeId: string;
  journalId: string;
  seq: number;
  leaseId: string;
}

/** The receipt of a request; undefined if it is unknown, or not the given user's (null for any user). */
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

async function triedFor(em: EntityManager, entry: UsageView): Promise<AttemptList> {
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
