/**
 * The life of a deposit as a reducer: which state follows from what the chain shows, and when money moves.
 * A deposit is one transfer, identified by chain, transaction and its place within the transaction.
 */

/**
 * SEEN: in the newest block. CONFIRMING: blocks follow. CREDITED: in the wallet. ORPHANED: its block left the
 * chain before the credit. REVERSED: its block left the chain after the credit, which was taken back.
 */
export type DepositState = 'SEEN' | 'CONFIRMING' | 'CREDITED' | 'ORPHANED' | 'REVERSED';

/** A block by height and hash. */
export interface BlockId {
  number: number;
  hash: string;
}

/** State of a deposit on which decisions depend. */
export interface DepositLife {
  state: DepositState;
  /** The block in which the transfer was last seen. */
  block: BlockId;
  /** How often its credit was taken back. It numbers credits, so that each has a reference of its own. */
  reversals: number;
}

/**
 * SIGHTED: the transfer is in this block of the chain. BURIED: the newest block is `head`. MISSING: the chain
 * has another block at that height and no longer holds the transfer. VERIFIED: the receipt, read again by the
 * hash of the transaction, succeeded in this block.
 */
export type DepositEvent =
  | { type: 'SIGHTED'; block: BlockId }
  | { type: 'BURIED'; head: number }
  | { type: 'MISSING' }
  | { type: 'VERIFIED'; block: BlockId; head: number; terms: Terms };

/** When a deposit of a chain is credited. */
export interface Terms {
  /** Blocks that must hold the deposit or follow it, at least 1. */
  confirmations: number;
  /** Height up to which the chain is final; null if the chain is trusted without finality. */
  finalized: number | null;
}

/** Money that moves, with the number of the credit that is made or taken back. */
export interface DepositMovement {
  type: 'CREDIT' | 'TAKE_BACK';
  round: number;
}

/** The next life of a deposit, and the money that moves with it. */
export interface DepositStep {
  life: DepositLife;
  movement: DepositMovement | null;
}

/** The next step. Events that do not apply to the state change nothing. */
export function step(life: DepositLife, event: DepositEvent): DepositStep {
  switch (event.type) {
    case 'SIGHTED':
      return still(sighted(life, event.block));
    case 'BURIED':
      return still(isSeen(life) && event.head > life.block.number ? { ...life, state: 'CONFIRMING' } : life);
    case 'MISSING':
      return missing(life);
    case 'VERIFIED':
      return verified(life, event);
  }
}

/** Number of blocks that hold the deposit or follow it; 0 if the chain does not reach its block. */
export function confirmationsOf(life: Pick<DepositLife, 'state' | 'block'>, head: number): number {
  if (life.state === 'ORPHANED' || life.state === 'REVERSED') return 0;
  return Math.max(0, head - life.block.number + 1);
}

/** Whether enough blocks follow for a credit: the confirmations, and the finality if the chain has one. */
export function isDeepEnough(block: BlockId, head: number, { confirmations, finalized }: Terms): boolean {
  return head - block.number + 1 >= confirmations && (finalized === null || block.number <= finalized);
}

/** Whether the deposit may still be credited. */
export function isOpen({ state }: Pick<DepositLife, 'state'>): boolean {
  return state === 'SEEN' || state === 'CONFIRMING';
}

function isSeen({ state }: DepositLife): boolean {
  return state === 'SEEN';
}

function sighted(life: DepositLife, block: BlockId): DepositLife {
  const isSame = life.block.hash === block.hash;
  if (isSame && (isOpen(life) || life.state === 'CREDITED')) return life;
  // A credited deposit that was mined again in another block stays credited.
  return { ...life, block, state: life.state === 'CREDITED' ? 'CREDITED' : 'SEEN' };
}

function missing(life: DepositLife): DepositStep {
  if (isOpen(life)) return still({ ...life, state: 'ORPHANED' });
  if (life.state !== 'CREDITED') return still(life);
  const round = life.reversals;
  return {
    life: { ...life, state: 'REVERSED', reversals: round + 1 },
    movement: { type: 'TAKE_BACK', round },
  };
}

function verified(life: DepositLife, event: Extract<DepositEvent, { type: 'VERIFIED' }>): DepositStep {
  const isSame = life.block.hash === event.block.hash && life.block.number === event.block.number;
  if (!isOpen(life) || !isSame || !isDeepEnough(life.block, event.head, event.terms)) return still(life);
  return { life: { ...life, state: 'CREDITED' }, movement: { type: 'CREDIT', round: life.reversals } };
}

function still(life: DepositLife): DepositStep {
  return { life, movement: null };
}
