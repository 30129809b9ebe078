/** How a batch of charges meets the leases it names: pure decisions, no database. */
import { isIP } from 'node:net';
import type { Family, Group } from '@gateway/shared/catalog';
import { AMOUNT_MAX, chargeFor, parseRatio } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Tried, UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import type { Lease } from '../wallet/lease.rows.ts';
import { giftFirst } from '../wallet/lease.rules.ts';

/** One finished request as a node reports it: metadata only. */
export interface ReportedUsage {
  requestId: string;
  /** The place of a charge; null exactly for requests that cost nothing. */
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
  /** Absent where the entry's route says it all. */
  tried?: Tried | undefined;
}

/** What the node that reports may name, of what it names. */
export interface KnownToSettlement {
  journals: ReadonlySet<string>;
  leases: ReadonlyMap<string, Lease>;
  wallets: ReadonlySet<string>;
  walletsOfKeys: ReadonlyMap<string, string>;
}

/** A reported request that cost money, with its place. */
export interface Charge {
  requestId: string;
  journalId: string;
  seq: number;
  leaseId: string;
  walletId: string;
  amount: Micros;
}

/** What a lease holds at the moment of settlement. */
export interface LeaseHolding {
  cash: Micros;
  gift: Micros;
  open: boolean;
}

export interface SettlementPlan {
  /** Charges that their lease covers. */
  covered: Charge[];
  /** Charges of leases that ended, or that are used up: the wallet pays if it can. */
  late: Charge[];
  /** What leaves each lease. */
  drains: Map<string, { cash: Micros; gift: Micros; count: number }>;
}

const ID_LENGTH_MAX = 128;
const NAME_LENGTH_MAX = 256;
/** So much of a ratio is told that is none. */
const RATIO_SHOWN = 16;
const YEAR_10000_MS = Date.UTC(10_000, 0, 1);

/**
 * Decides which charges their leases cover, in the order of their sequence numbers; gift is drained first.
 */
export function planSettlement(
  charges: readonly Charge[],
  holdings: ReadonlyMap<string, LeaseHolding>,
): SettlementPlan {
  const left = new Map([...holdings].map(([id, { cash, gift, open }]) => [id, open ? cash + gift : 0n]));
  const plan: SettlementPlan = { covered: [], late: [], drains: new Map() };
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
    plan.drains.set(leaseId, { ...giftFirst(amount, holdings.get(leaseId)?.gift ?? 0n), count });
  }
  return plan;
}

/**
 * The charges that are more than their leases were granted, of those without an entry more than nothing; in
 * the order of their sequence numbers the first that fit have the room. `rooms`: what each lease was granted
 * less all that was ever charged to it, before its end or after. An honest node's charges always fit.
 */
export function beyondGrant(charges: readonly Charge[], rooms: ReadonlyMap<string, Micros>): Set<string> {
  const left = new Map(rooms);
  const beyond = new Set<string>();
  for (const { requestId, leaseId, amount } of [...charges].sort((one, other) => one.seq - other.seq)) {
    const room = left.get(leaseId) ?? 0n;
    if (room < amount) beyond.add(requestId);
    else left.set(leaseId, room - amount);
  }
  return beyond;
}

/**
 * Why a well-formed record can never be settled, or undefined. A key that nobody knows any more is no reason.
 */
export function refusalOf(usage: ReportedUsage, known: KnownToSettlement): string | undefined {
  if (!known.wallets.has(usage.walletId)) return 'unknown wallet';
  if ((known.walletsOfKeys.get(usage.keyId) ?? usage.walletId) !== usage.walletId)
    return 'key of another wallet';
  const charge = chargeOf(usage);
  if (!charge) return undefined;
  if (!known.journals.has(charge.journalId)) return 'journal of another node';
  const lease = known.leases.get(charge.leaseId);
  if (!lease || lease.journalId !== charge.journalId) return 'lease of another journal';
  if (lease.walletId !== charge.walletId) return 'lease of another wallet';
  if (lease.keyId !== null && lease.keyId !== usage.keyId) return 'lease of another key';
  return undefined;
}

/** The charge in a report; undefined where the request cost nothing. */
export function chargeOf(usage: ReportedUsage): Charge | undefined {
  const { requestId, journalId, seq, leaseId, walletId, cost } = usage;
  if (cost === 0n || journalId === null || seq === null || leaseId === null) return undefined;
  return { requestId, journalId, seq, leaseId, walletId, amount: cost };
}

/** An address PostgreSQL can store, else null. */
export function storableIp(ip: string | null): string | null {
  return ip !== null && isIP(ip) !== 0 && !ip.includes('%') ? ip : null;
}

/** The text as PostgreSQL can store it: without NUL, in whole characters. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** The number as a column can hold it that takes whole numbers from 0 to `most`. */
export function storableCount(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(most, Math.max(0, Math.round(value)));
}

/** The time in RFC 3339; one that no calendar of the database has is long ago, which it does not believe. */
export function storableTime(at: Date): string {
  const isCommon = at.getTime() >= 0 && at.getTime() < YEAR_10000_MS;
  return isCommon ? at.toISOString() : new Date(0).toISOString();
}

/**
 * Why a record cannot be looked at, or undefined: asked before any of it gets near the database, so that it
 * spoils no other. Metadata never is a reason; it is stored as far as it can be.
 */
export function malformation(usage: ReportedUsage): string | undefined {
  const placed = [usage.journalId, usage.seq, usage.leaseId].filter((part) => part !== null).length;
  if (placed !== (usage.cost > 0n ? 3 : 0))
    return 'a charge needs journal, seq and lease; a free request has none';
  if ([usage.cost, usage.basePrice].some((amount) => amount < 0n || amount > AMOUNT_MAX))
    return 'amount out of bounds';
  if (usage.seq !== null && (!Number.isSafeInteger(usage.seq) || usage.seq < 1)) return 'seq out of bounds';
  const ids = [usage.requestId, usage.keyId, usage.walletId, usage.poolId ?? 'none', usage.routeId ?? 'none'];
  ids.push(usage.journalId ?? 'none', usage.leaseId ?? 'none');
  if (ids.some((id) => id.length === 0 || id.length > ID_LENGTH_MAX)) return 'id out of bounds';
  if (ids.some((id) => id !== storableText(id))) return 'id is no text';
  if (usage.modelName.length > NAME_LENGTH_MAX || (usage.errorCode ?? '').length > ID_LENGTH_MAX)
    return 'text out of bounds';
  return contradiction(usage);
}

/** What cost something must cost what its own price and ratio make; free requests may be of any price. */
function contradiction({ cost, basePrice, ratio }: ReportedUsage): string | undefined {
  if (cost === 0n) return undefined;
  const known = parseRatio(ratio);
  if (known !== undefined && cost === chargeFor(basePrice, known)) return undefined;
  return `cost ${cost} is not price ${basePrice} × ratio ${storableText(ratio).slice(0, RATIO_SHOWN)}`;
}
