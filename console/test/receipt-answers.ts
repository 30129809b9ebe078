/** What the fake control plane answers about the receipt of a request. */
import { makeRow } from './sample.ts';

const RECEIPT_ROWS = 200;

/** The receipt of a line; null for an id that no line has. */
export function receiptOf(requestId: string) {
  const row = Array.from({ length: RECEIPT_ROWS }, (_, index) => makeRow(index)).find(
    (candidate) => candidate.requestId === requestId,
  );
  if (!row) return null;
  const more = { family: 'MESSAGES', basePrice: '0.30', ratio: '0.8', group: 'SVIP', errorCode: null };
  const paid = { settlement: 'LEASE', transactionId: 'txn_01KAGX', settledAt: row.createdAt };
  return {
    entry: { ...row, ...more, outcome: 'DELIVERED', streamed: true },
    explanation: 'The whole answer was delivered.',
    amount: row.cost,
    ...paid,
  };
}
