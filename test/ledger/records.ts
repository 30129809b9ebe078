/** Keys, usage records and charges for tests. */
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import { TimestampFormatter } from '@gateway/shared/timestamps';
import type { NodeUsageRecordInput, UsageReport } from '@gateway/shared/usage-report';
import type { BookkeepingRecord, ChargeRecord } from '../../data-plane/ledger/journal-state.ts';
import type { Journal } from '../../data-plane/ledger/journal.ts';
import { chargeAt } from '../../data-plane/ledger/lines.ts';
import { chargesIn } from '../../data-plane/ledger/pages.ts';

/** A key of the wallet, without a spend limit. */
export function keyOf(walletId: string, more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    kind: 'API_KEY',
    id: `key_of_${walletId}`,
    digest: '0'.repeat(64),
    previousDigest: null,
    previousUntil: null,
    walletId,
    group: 'default',
    enabled: true,
    disabledReason: null,
    poolId: null,
    allowedModels: null,
    allowedIps: [],
    expiresAt: null,
    hasSpendLimit: false,
    hidden: false,
    ...more,
  };
}

/** The usage record of a delivered request that cost this many micro-USD. */
export function usageOf(requestId: string, cost: bigint, walletId = 'wallet_a'): UsageRecord {
  return {
    requestId,
    at: 1_795_000_000_000,
    keyId: `key_of_${walletId}`,
    walletId,
    poolId: null,
    group: 'default',
    source: 'API_KEY',
    model: 'swift',
    family: 'chat_completions',
    routeId: 'route_1',
    basePrice: String(cost),
    ratio: '1',
    cost: String(cost),
    tokens: { input: 1, output: 2, cached: null, reasoning: null },
    status: 'SUCCEEDED',
    outcome: 'DELIVERED',
    httpStatus: 200,
    errorCode: null,
    streamed: false,
    latencyMs: 1,
    firstContentMs: 1,
    ip: '127.0.0.1',
    lossesInAnswer: 0,
  };
}

/** The charge of a delivered request in the journal `journal_1`. */
export function chargeOf(
  requestId: string,
  cost: bigint,
  place: { leaseId: string; seq: number },
): ChargeRecord {
  return chargeAt(
    { journalId: 'journal_1', ...place, cost },
    usageOf(requestId, cost),
    new TimestampFormatter(),
  );
}

/** The journal record of lease request `no` of a wallet. */
export function requestedRecord(no: number, walletId = 'wallet_a'): BookkeepingRecord {
  return { type: 'requested', no, walletId, keyId: null, want: '1000', need: '1' };
}

/** The records of a report in the form of the API. */
export function recordsIn({ pieces }: UsageReport): NodeUsageRecordInput[] {
  return pieces.flatMap((piece) => JSON.parse(`[${piece}]`) as NodeUsageRecordInput[]);
}

/** The oldest unsettled charges of a journal, parsed. */
export async function unsettledIn(journal: Journal, limit: number): Promise<ChargeRecord[]> {
  const pages = await journal.unsettled(limit);
  return pages.flatMap((page) => chargesIn(page, journal.journalId));
}
