/**
 * The life of a top-up as a reducer over facts: what was paid, refunded and disputed. Facts only grow, so
 * that events may arrive in any order and any number of times.
 */
import type { Micros } from '@gateway/shared/money';

export type TopUpMethod = 'CARD' | 'CRYPTO';

/** Progress before the money arrives. SEEN, CONFIRMING and ORPHANED are of a blockchain. */
export type Stage =
  | 'CREATED'
  | 'AWAITING_PAYMENT'
  | 'SEEN'
  | 'CONFIRMING'
  | 'ORPHANED'
  | 'EXPIRED'
  | 'FAILED';

export type TopUpState = Stage | 'CREDITED' | 'PARTIALLY_REFUNDED' | 'REFUNDED' | 'DISPUTED';

/**
 * REQUESTED: by an administrator, and the processor does not know it yet. FAILED: the money stays with us.
 */
export type RefundStatus = 'REQUESTED' | 'PENDING' | 'SUCCEEDED' | 'FAILED';

/** NOTICE: an inquiry that moves no money. OPEN: the amount is withdrawn until the dispute is decided. */
export type DisputeStatus = 'NOTICE' | 'OPEN' | 'LOST' | 'WON';

/** A refund or a dispute of a payment; the amount in micro-USD is above zero and never changes. */
export interface TakenBack<Status> {
  amount: Micros;
  status: Status;
}

/** Everything that is known of a top-up. */
export interface TopUpLife {
  method: TopUpMethod;
  stage: Stage;
  /** Micro-USD that arrived; null before. */
  paid: Micros | null;
  /** Whether `paid` is on the chain now. Always true for a paid card. */
  settled: boolean;
  /** Number of credits so far. More than one only if a chain took one back. */
  credits: number;
  refunds: ReadonlyMap<string, TakenBack<RefundStatus>>;
  disputes: ReadonlyMap<string, TakenBack<DisputeStatus>>;
}

/**
 * PROGRESS: a stage of a card payment. PAID: the processor has the money. CHAIN: the present state of a
 * deposit; CREDITED once it is final.
 */
export type TopUpEvent =
  | { type: 'PROGRESS'; stage: 'CREATED' | 'AWAITING_PAYMENT' | 'EXPIRED' | 'FAILED' }
  | { type: 'PAID'; amount: Micros }
  | { type: 'REFUND'; id: string; amount: Micros; status: RefundStatus }
  | { type: 'DISPUTE'; id: string; amount: Micros; status: DisputeStatus }
  | { type: 'CHAIN'; state: ChainState; amount: Micros };

/** The states of a deposit that move money or are shown. */
export type ChainState = 'SEEN' | 'CONFIRMING' | 'CREDITED' | 'ORPHANED';

/** A credit (positive) or debit (negative) of the wallet. */
export interface TopUpMovement {
  /** Part of the ledger reference; unique within the top-up. */
  name: string;
  kind: 'TOP_UP_CARD' | 'TOP_UP_CRYPTO' | 'REFUND' | 'DISPUTE_HOLD' | 'DISPUTE_RELEASE';
  /** Micro-USD, never zero. */
  amount: Micros;
}

/** The next life of a top-up, and the movements of money that bring the wallet there, credits first. */
export interface TopUpStep {
  life: TopUpLife;
  movements: TopUpMovement[];
}

/** A higher rank replaces a lower one. Money that arrived counts whatever the stage says. */
const STAGES: Readonly<Record<Stage, number>> = {
  CREATED: 0,
  AWAITING_PAYMENT: 1,
  SEEN: 1,
  CONFIRMING: 1,
  ORPHANED: 1,
  EXPIRED: 2,
  FAILED: 3,
};
const REFUNDS: Readonly<Record<RefundStatus, number>> = { REQUESTED: 0, PENDING: 1, SUCCEEDED: 2, FAILED: 3 };
/** A won dispute is the highest: its money can come back after it was reported as lost. */
const DISPUTES: Readonly<Record<DisputeStatus, number>> = { NOTICE: 0, OPEN: 1, LOST: 2, WON: 3 };

/** A top-up of which only its method is known. */
export function newLife(method: TopUpMethod): TopUpLife {
  const stage = method === 'CARD' ? 'CREATED' : 'SEEN';
  return { method, stage, paid: null, settled: false, credits: 0, refunds: new Map(), disputes: new Map() };
}

/** The next step. An event that is known already changes nothing. */
export function step(life: TopUpLife, event: TopUpEvent): TopUpStep {
  const next = learn(life, event);
  const movements = movementsBetween(life, next);
  const isCredited = movements.some(({ kind, amount }) => amount > 0n && kind === creditKind(life.method));
  return { life: isCredited ? { ...next, credits: next.credits + 1 } : next, movements };
}

/** The state that the API shows. */
export function stateOf(life: TopUpLife): TopUpState {
  if (life.paid === null || !life.settled) return life.stage;
  const disputes = [...life.disputes.values()];
  if (disputes.some(({ status }) => status === 'OPEN' || status === 'LOST')) return 'DISPUTED';
  const refunded = refundedOf(life);
  if (refunded === 0n) return 'CREDITED';
  return refunded >= life.paid ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
}

/** Micro-USD of all refunds that have not failed. */
export function refundedOf({ refunds }: Pick<TopUpLife, 'refunds'>): Micros {
  return sumOf(refunds, ({ status }) => status !== 'FAILED');
}

/** Micro-USD that disputes hold or have taken. */
export function disputedOf({ disputes }: Pick<TopUpLife, 'disputes'>): Micros {
  return sumOf(disputes, isHeld);
}

/**
 * Micro-USD that the top-up contributes to the wallet, with refunds and disputes; below zero if both took.
 */
export function contributionOf(life: TopUpLife): Micros {
  const credit = life.settled ? (life.paid ?? 0n) : 0n;
  return life.paid === null ? 0n : credit - refundedOf(life) - disputedOf(life);
}

function learn(life: TopUpLife, event: TopUpEvent): TopUpLife {
  switch (event.type) {
    case 'PROGRESS':
      return STAGES[event.stage] > STAGES[life.stage] ? { ...life, stage: event.stage } : life;
    case 'PAID':
      return life.paid === null ? { ...life, paid: event.amount, settled: true } : life;
    case 'REFUND':
      return { ...life, refunds: merge(life.refunds, event, REFUNDS) };
    case 'DISPUTE':
      return { ...life, disputes: merge(life.disputes, event, DISPUTES) };
    case 'CHAIN':
      return event.state === 'CREDITED'
        ? { ...life, paid: life.paid ?? event.amount, settled: true }
        : { ...life, stage: event.state, settled: life.settled && event.state !== 'ORPHANED' };
  }
}

function merge<Status extends string>(
  known: ReadonlyMap<string, TakenBack<Status>>,
  { id, amount, status }: TakenBack<Status> & { id: string },
  ranks: Readonly<Record<Status, number>>,
): ReadonlyMap<string, TakenBack<Status>> {
  const before = known.get(id);
  if (before && ranks[before.status] >= ranks[status]) return known;
  return new Map([...known, [id, { amount: before?.amount ?? amount, status }]]);
}

/** The movements from one life to a later one. A movement that was taken back already is left out. */
function movementsBetween(before: TopUpLife, after: TopUpLife): TopUpMovement[] {
  const { paid } = after;
  if (paid === null) return [];
  const movements: TopUpMovement[] = [];
  if (before.settled !== after.settled) movements.push(creditOrReversal(after, paid));
  // Before the credit nothing was taken back from the wallet.
  const was = before.paid === null ? newLife(before.method) : before;
  for (const [id, refund] of after.refunds) {
    const [from, to] = [isPaidBack(was.refunds.get(id)), isPaidBack(refund)];
    if (!from && to) movements.push({ name: `refund:${id}`, kind: 'REFUND', amount: -refund.amount });
    if (from && !to) movements.push({ name: `refund:${id}:failed`, kind: 'REFUND', amount: refund.amount });
  }
  for (const [id, dispute] of after.disputes) {
    const { amount } = dispute;
    const [from, to] = [isHeld(was.disputes.get(id)), isHeld(dispute)];
    if (!from && to) movements.push({ name: `dispute:${id}`, kind: 'DISPUTE_HOLD', amount: -amount });
    if (from && !to) movements.push({ name: `dispute:${id}:won`, kind: 'DISPUTE_RELEASE', amount });
  }
  return movements;
}

/** The first credit has no number, so that a card has one reference for its credit. */
function creditOrReversal({ method, settled, credits }: TopUpLife, paid: Micros): TopUpMovement {
  const kind = creditKind(method);
  if (!settled) return { name: `reversal:${credits}`, kind, amount: -paid };
  return { name: credits === 0 ? 'credit' : `credit:${credits + 1}`, kind, amount: paid };
}

function creditKind(method: TopUpMethod): 'TOP_UP_CARD' | 'TOP_UP_CRYPTO' {
  return method === 'CARD' ? 'TOP_UP_CARD' : 'TOP_UP_CRYPTO';
}

function isPaidBack(refund: TakenBack<RefundStatus> | undefined): boolean {
  return refund !== undefined && refund.status !== 'FAILED';
}

function isHeld(dispute: TakenBack<DisputeStatus> | undefined): boolean {
  return dispute?.status === 'OPEN' || dispute?.status === 'LOST';
}

function sumOf<Status>(
  items: ReadonlyMap<string, TakenBack<Status>>,
  counts: (item: TakenBack<Status>) => boolean,
): Micros {
  return [...items.values()].filter(counts).reduce((sum, { amount }) => sum + amount, 0n);
}
