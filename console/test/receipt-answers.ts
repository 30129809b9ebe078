/** Answers of the fake control plane about the receipt of a request. */
import { makeRow } from './sample.ts';

const RECEIPT_ROWS = 200;

/** Two upstreams that could not, one that lost, and one that answered: their names are for administrators. */
function attemptsSeenBy(isAdmin: boolean) {
  const to = (name: string) => ({
    id: `rte_${name}`,
    upstreamModel: 'vendor-large-2',
    provider: { id: `prv_${name}`, name },
  });
  return [
    { outcome: 'SKIPPED', errorCode: 'unavailable', ms: 0, httpStatus: null, name: 'east' },
    { outcome: 'FAILED', errorCode: 'upstream_busy', ms: 412, httpStatus: 429, name: 'north' },
    {
      outcome: 'CUT',
      errorCode: 'lost_race',
      ms: 1_900,
      httpStatus: null,
      extraCost: '0.0125',
      name: 'south',
    },
    { outcome: 'ANSWERED', errorCode: null, ms: 2_300, httpStatus: null, name: 'west' },
  ].map(({ name, httpStatus, extraCost = null, ...turn }) =>
    isAdmin
      ? { ...turn, httpStatus, extraCost, route: to(name) }
      : { ...turn, httpStatus: null, extraCost: null, route: null },
  );
}

/** The receipt of a line as somebody sees it; null for an id that no line has. */
export function receiptOf(requestId: string, isAdmin: boolean) {
  const row = Array.from({ length: RECEIPT_ROWS }, (_, index) => makeRow(index)).find(
    (candidate) => candidate.requestId === requestId,
  );
  if (!row) return null;
  const attempts = attemptsSeenBy(isAdmin);
  const more = { family: 'MESSAGES', basePrice: '0.30', ratio: '0.8', group: 'SVIP', errorCode: null };
  const paid = { settlement: 'LEASE', transactionId: 'txn_01KAGX', settledAt: row.createdAt };
  return {
    entry: { ...row, ...more, outcome: 'DELIVERED', streamed: true },
    explanation: 'The whole answer was delivered.',
    amount: row.cost,
    attempts,
    attemptsOmitted: 0,
    ...paid,
  };
}
