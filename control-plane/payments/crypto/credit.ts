/** Credits deposits that are deep enough, after their receipts were read again from both RPC services. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, sql } from '../../database/sql.ts';
import type { Address } from './address.rules.ts';
import type { ChainRow } from './chain.entity.ts';
import { holdClaim } from './chain.rows.ts';
import { apply, DepositSchema, lockDeposit } from './deposit.rows.ts';
import type { DepositRow } from './deposit.rows.ts';
import type { BlockId, Terms } from './deposit.rules.ts';
import type { Pass } from './pass.ts';
import type { Receipt } from './rpc.client.ts';
import type { ChainHead } from './rpc.pair.ts';
import { holds } from './transfers.ts';

/** Addresses that are credited in one pass. */
const ADDRESSES_PER_PASS = 100;
/** Deposits of one address that are credited at once, the largest first. */
const DEPOSITS_AT_ONCE = 100;

/** An address with deposits of one token that may be credited. */
interface Due {
  address: Address;
  contract: Address;
  /** Smallest sum that is credited, in micro-USD. */
  minimum: bigint;
  /** Sum of these deposits, in micro-USD. */
  sum: bigint;
}

/** Credits what is deep enough. A frozen chain credits nothing. */
export async function creditDeposits(pass: Pass, head: ChainHead): Promise<void> {
  const { em, claimed } = pass;
  if (claimed.row.frozenAt) return;
  const terms = { confirmations: claimed.row.confirmations, finalized: head.finalized };
  // The newest block that is deep enough.
  const deepest = Math.min(head.number - terms.confirmations + 1, terms.finalized ?? Number.MAX_SAFE_INTEGER);
  for (const due of await dueAddresses(em(), claimed.row, deepest))
    await creditAddress(pass, due, { head: head.number, deepest, terms });
}

interface Depth {
  head: number;
  deepest: number;
  terms: Terms;
}

/** The addresses whose deep deposits together reach the minimum of their token. */
async function dueAddresses(em: EntityManager, { chainId }: ChainRow, deepest: number): Promise<Due[]> {
  const rows = await query<{ address: Address; contract: Address; minimum: string; sum: string }>(
    em,
    sql`select deposit.address, deposit.contract, token.minimum::text, sum(deposit.amount)::text as sum
    from crypto_deposit deposit
    join crypto_token token on token.chain_id = deposit.chain_id and token.contract = deposit.contract
    where deposit.chain_id = ${chainId} and deposit.state in ('SEEN', 'CONFIRMING')
      and deposit.block_number <= ${deepest}
    group by deposit.address, deposit.contract, token.minimum having sum(deposit.amount) >= token.minimum
    order by min(deposit.created_at) limit ${ADDRESSES_PER_PASS}`,
  );
  return rows.map((row) => ({ ...row, minimum: BigInt(row.minimum), sum: BigInt(row.sum) }));
}

async function creditAddress(pass: Pass, due: Due, { head, deepest, terms }: Depth): Promise<void> {
  const { em, claimed } = pass;
  const { chainId } = claimed.row;
  const { address, contract } = due;
  const deep = await em().find(
    DepositSchema,
    { chainId, address, contract, state: { $in: ['SEEN', 'CONFIRMING'] }, blockNumber: { $lte: deepest } },
    { orderBy: { amount: 'desc', reference: 'asc' }, limit: DEPOSITS_AT_ONCE },
  );
  const verified: DepositRow[] = [];
  let { sum } = due;
  for (const row of deep) {
    const receipt = await receiptOf(pass, row);
    if (receipt && isIn(row, receipt.block)) verified.push(row);
    else {
      sum -= row.amount;
      await follow(pass, row, receipt?.block ?? null);
    }
  }
  // More deposits than are credited at once count for the minimum, or many small ones would wait forever.
  if (sum < due.minimum) return;
  await inTransaction(em(), async (inner) => {
    const { frozenAt } = await holdClaim(inner, claimed);
    if (frozenAt) return;
    for (const { reference, blockNumber: number, blockHash: hash } of verified) {
      const row = await lockDeposit(inner, reference);
      await apply(inner, row, { type: 'VERIFIED', block: { number, hash }, head, terms });
    }
  });
}

/** The receipt, if both services say that the transaction succeeded and holds the transfer; else null. */
async function receiptOf({ chain, terms }: Pass, row: DepositRow): Promise<Receipt | null> {
  const receipt = await chain.receipt(row.txHash);
  return receipt?.succeeded && holds(receipt, row.reference, terms) ? receipt : null;
}

function isIn({ blockNumber, blockHash }: DepositRow, { number, hash }: BlockId): boolean {
  return number === blockNumber && hash === blockHash;
}

/**
 * Follows a deposit whose stored block left the chain: to the block of its receipt, or out of the chain. A
 * scan misses that if both services answered with transfers of an older chain. Leaves it if its block is
 * still there.
 */
async function follow({ em, claimed, chain }: Pass, row: DepositRow, block: BlockId | null): Promise<void> {
  if ((await chain.hashAt(row.blockNumber)) === row.blockHash) return;
  await inTransaction(em(), async (inner) => {
    await holdClaim(inner, claimed);
    const event = block ? { type: 'SIGHTED' as const, block } : { type: 'MISSING' as const };
    await apply(inner, await lockDeposit(inner, row.reference), event);
  });
}
