/**
 * Pure rules of settlement: which records of a usage report are refused, and which leases pay the charges.
 */
import { isIP } from 'node:net';
import type { Family, Group } from '@gateway/shared/catalog';
import { AMOUNT_MAX, chargeFor, parseRatio } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { AttemptList, UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import type { Lease } from '../wallet/lease.rows.ts';
import { giftFirst } from '../wallet/lease.rules.ts';

/** One finished request as a node reports it: metadata only. */
export interface ReportedUsage {
  requestId: string;
  /** Position of the charge in a journal, and its lease; all null exactly for requests that cost nothing. */
  journalId: string | null;
  seq: number | null;
  leaseId: string | null;
  at: Date;
  keyId: string;
  walletId: string;
  poolId: string | null;
  group: Group;
  source: UsageSource;
  modelName: string;
  family: Family;
  routeId: string | null;
  basePrice: Micros;
  ratio: string;
  cost: Micros;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  status: UsageStatus;
  outcome: UsageOutcome;
  httpStatus: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  ttftMs: number | null;
  ip: string | null;
  lossesInAnswer: number;
  /** Attempts; absent if the only one is described by the record itself. */
  tried?: AttemptList | undefined;
  /** Number of other refusals that the record stands for; absent for 0. */
  repeats?: number | undefined;
}

/** The answer to a report. */
export interface ReportAnswer {
  /** Number of records settled now. */
  accepted: number;
  /** Number of records that were settled before. */
  duplicates: number;
  /** Ids of refused requests. Each has a row in `settlement_alarm` with the reason; a retry cannot help. */
  rejected: string[];
}

/** The objects that the records of a batch reference, without unknown ones. */
export interface References {
  /** Ids of journals of the reporting node. */
  journals: ReadonlySet<string>;
  leases: ReadonlyMap<string, Lease>;
  /** Ids of requests that were settled before with the same charge. */
  settled: ReadonlySet<string>;
  wallets: Pick<ReadonlySet<string>, 'has'>;
  walletsOfKeys: ReadonlyMap<string, string>;
}

/** The position of a charge: its journal, and its number there. */
export interface JournalPosition {
  journalId: string;
  seq: number;
}

/** Consecutive positions of a journal, with the first and the last number. */
export interface JournalRun {
  journalId: string;
  first: number;
  last: number;
}

/** A reported request that cost money; `amount` is in micro-USD. */
export interface Charge {
  requestId: string;
  journalId: string;
  seq: number;
  leaseId: string;
  walletId: string;
  amount: Micros;
}

/** Balances of a lease at the moment of settlement, in micro-USD; `open` if it has not ended. */
export interface LeaseHolding {
  cash: Micros;
  gift: Micros;
  open: boolean;
}

/** How charges are paid. */
export interface SettlementPlan {
  /** Charges that their leases pay. */
  covered: Charge[];
  /** Charges that their leases cannot pay, because a lease has ended or has too little credit. */
  late: Charge[];
  /** Sum and number of the covered charges per lease, by lease id. Amounts are in micro-USD. */
  leaseDebits: Map<string, { cash: Micros; gift: Micros; count: number }>;
}

const ID_LENGTH_MAX = 128;
const NAME_LENGTH_MAX = 256;
/** Maximum characters of an invalid ratio quoted in the rejection. */
const RATIO_QUOTED_MAX = 16;
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

/**
 * Decides which charges are paid by their leases. Charges with lower sequence numbers are paid first, and a
 * lease pays from gift credit before cash.
 */
export function planSettlement(
  charges: readonly Charge[],
  holdings: ReadonlyMap<string, LeaseHolding>,
): SettlementPlan {
  const left = new Map([...holdings].map(([id, { cash, gift, open }]) => [id, open ? cash + gift : 0n]));
  const plan: SettlementPlan = { covered: [], late: [], leaseDebits: new Map() };
  const sums = new Map<string, { amount: Micros; count: number }>();
  for (const charge of [...charges].sort((one, other) => one.seq - other.seq)) {
    const room = left.get(charge.leaseId) ?? 0n;
    if (room < charge.amount) {
      plan.late.push(charge);
      continue;
    }
    left.set(charge.leaseId, room - charge.amount);
    plan.covered.push(charge);
    const sum = sums.get(charge.leaseId) ?? { amount: 0n, count: 0 };
    sums.set(charge.leaseId, { amount: sum.amount + charge.amount, count: sum.count + 1 });
  }
  for (const [leaseId, { amount, count }] of sums) {
    plan.leaseDebits.set(leaseId, { ...giftFirst(amount, holdings.get(leaseId)?.gift ?? 0n), count });
  }
  return plan;
}

/** The positions as the fewest runs that contain no other position. */
export function runsOf(positions: readonly JournalPosition[]): JournalRun[] {
  const runs: JournalRun[] = [];
  for (const [journalId, list] of Map.groupBy(positions, (position) => position.journalId)) {
    let run: JournalRun | undefined;
    for (const seq of list.map((position) => position.seq).sort((one, other) => one - other)) {
      if (run && seq <= run.last + 1) run.last = seq;
      else runs.push((run = { journalId, first: seq, last: seq }));
    }
  }
  return runs;
}

/**
 * Request ids of charges that exceed the grant of their lease, in the order of sequence numbers. `remaining`
 * is the grant of each lease minus all its charges, before and after its end; an unknown lease has 0. Charges
 * of a correct node never exceed the grant.
 */
export function beyondGrant(charges: readonly Charge[], remaining: ReadonlyMap<string, Micros>): Set<string> {
  const left = new Map(remaining);
  const beyond = new Set<string>();
  for (const { requestId, leaseId, amount } of [...charges].sort((one, other) => one.seq - other.seq)) {
    const room = left.get(leaseId) ?? 0n;
    if (room < amount) beyond.add(requestId);
    else left.set(leaseId, room - amount);
  }
  return beyond;
}

/**
 * Why a well-formed record can never be settled; undefined if it can. An unknown key is no reason, because
 * keys are deleted and the lease says who pays.
 */
export function refusalReason(usage: ReportedUsage, known: References): string | undefined {
  if (!known.wallets.has(usage.walletId)) return 'unknown wallet';
  if ((known.walletsOfKeys.get(usage.keyId) ?? usage.walletId) !== usage.walletId)
    return 'key of another wallet';
  const charge = chargeOf(usage);
  if (!charge) return undefined;
  if (!known.journals.has(charge.journalId)) return 'journal of another node';
  const lease = known.leases.get(charge.leaseId);
  // The lease of a charge that was settled long ago may be folded.
  if (!lease) return known.settled.has(usage.requestId) ? undefined : 'unknown lease, or closed long ago';
  if (lease.journalId !== charge.journalId) return 'lease of another journal';
  if (lease.walletId !== charge.walletId) return 'lease of another wallet';
  if (lease.keyId !== null && lease.keyId !== usage.keyId) return 'lease of another key';
  return undefined;
}

/** The charge of a reported request; undefined if it cost nothing. */
export function chargeOf(usage: ReportedUsage): Charge | undefined {
  const { requestId, journalId, seq, leaseId, walletId, cost } = usage;
  if (cost === 0n || journalId === null || seq === null || leaseId === null) return undefined;
  return { requestId, journalId, seq, leaseId, walletId, amount: cost };
}

/** The address if PostgreSQL can store it as `inet`, else null. */
export function storableIp(ip: string | null): string | null {
  return ip !== null && isIP(ip) !== 0 && !ip.includes('%') ? ip : null;
}

/** The text as PostgreSQL can store it: without NUL and unpaired surrogates. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** The number rounded and bounded to 0 … `most`; 0 for NaN. */
export function storableCount(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(most, Math.max(0, Math.round(value)));
}

/** The time. Times outside 1970 … 9999 become 1970, which `claimRequests` replaces by now. */
export function storableTime(at: Date): Date {
  const isStorable = at.getTime() >= 0 && at.getTime() < YEAR_10000_MS;
  return isStorable ? at : new Date(0);
}

/**
 * Why a record is malformed; undefined if it is well-formed. Checked before any query, because a malformed
 * value would fail the whole batch. Other metadata is no reason; it is stored as far as possible.
 */
export function malformedReason(usage: ReportedUsage): string | undefined {
  const placed = [usage.journalId, usage.seq, usage.leaseId].filter((part) => part !== null).length;
  if (placed !== (usage.cost > 0n ? 3 : 0))
    return 'a charge needs journal, seq and lease; a free request has none';
  if ([usage.cost, usage.basePrice].some((amount) => amount < 0n || amount > AMOUNT_MAX))
    return 'amount out of bounds';
  if (usage.seq !== null && (!Number.isSafeInteger(usage.seq) || usage.seq < 1)) return 'seq out of bounds';
  const ids = [usage.requestId, usage.keyId, usage.walletId, usage.poolId ?? 'none', usage.routeId ?? 'none'];
  ids.push(usage.journalId ?? 'none', usage.leaseId ?? 'none');
  if (ids.some((id) => id.length === 0 || id.length > ID_LENGTH_MAX)) return 'id out of bounds';
  if (ids.some((id) => id.includes('\0') || !id.isWellFormed())) return 'id is not valid text';
  if (usage.modelName.length > NAME_LENGTH_MAX || (usage.errorCode ?? '').length > ID_LENGTH_MAX)
    return 'text out of bounds';
  return priceMismatch(usage);
}

/** The cost of a charge has to be its own price × ratio. Free requests may have any price. */
function priceMismatch({ cost, basePrice, ratio }: ReportedUsage): string | undefined {
  if (cost === 0n) return undefined;
  const known = parseRatio(ratio);
  if (known !== undefined && cost === chargeFor(basePrice, known)) return undefined;
  return `cost ${cost} is not price ${basePrice} × ratio ${storableText(ratio).slice(0, RATIO_QUOTED_MAX)}`;
}
