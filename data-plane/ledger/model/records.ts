/** Keys and usage records as tests need them. */
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import { TimeTexts } from '@gateway/shared/time-texts';
import type { NodeUsageRecordInput, UsageReport } from '@gateway/shared/usage-report';
import type { ChargeRecord } from '../book.ts';
import type { Journal } from '../journal.ts';
import { chargeAt } from '../lines.ts';
import { chargesIn } from '../pages.ts';

/** A key of the wallet; with a spend limit it has leases of its own. */
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

/** A delivered request that cost so many micro-dollars. */
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
  return chargeAt({ journalId: 'journal_1', ...place, cost }, usageOf(requestId, cost), new TimeTexts());
}

/** The records of a report, as the API has them. */
export function recordsIn({ pieces }: UsageReport): NodeUsageRecordInput[] {
  return pieces.flatMap((piece) => JSON.parse(`[${piece}]`) as NodeUsageRecordInput[]);
}

/** The oldest unsettled charges of a journal, read again. */
export async function unsettledIn(journal: Journal, limit: number): Promise<ChargeRecord[]> {
  const pages = await journal.unsettled(limit);
  return pages.flatMap((page) => chargesIn(page, journal.journalId));
}
