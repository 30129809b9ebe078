/** Reads and writes deposits, and applies their changes to the top-ups. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { publishMany } from '../../database/events.ts';
import { query, queryOne, queryRow, sql } from '../../database/sql.ts';
import { ensureWallet } from '../../wallet/wallet.service.ts';
import { recordCryptoTopUp } from '../topup.service.ts';
import type { Address } from './address.rules.ts';
import { step } from './deposit.rules.ts';
import type { DepositEvent, DepositLife, DepositState } from './deposit.rules.ts';
import type { BlockRange } from './scan.rules.ts';
import type { Transfer } from './transfers.ts';

/** Maximum number of deposits in one notification of further confirmations. */
const FOLLOWED_MAX = 500;

/** Only this file changes these rows, with SQL. */
export const DepositSchema = defineEntity({
  name: 'Deposit',
  tableName: 'crypto_deposit',
  properties: {
    /** Identity for all time: chain, transaction, token, recipient, units, place among equal transfers. */
    reference: p.text().primary(),
    chainId: p.bigint('number'),
    contract: p.text().$type<Address>(),
    address: p.text().$type<Address>(),
    txHash: p.text(),
    place: p.integer(),
    logIndex: p.integer(),
    /** Micro-USD. */
    amount: p.bigint('bigint'),
    state: p.text().$type<DepositState>(),
    blockNumber: p.bigint('number'),
    blockHash: p.text(),
    reversals: p.integer(),
  },
});
export type DepositRow = InferEntity<typeof DepositSchema>;

/** Deposits of a range of blocks that a reorganisation would take away. */
export function depositsIn(em: EntityManager, chainId: number, range: BlockRange): Promise<DepositRow[]> {
  return em.find(DepositSchema, {
    chainId,
    blockNumber: { $gte: range.from, $lte: range.to },
    state: { $in: ['SEEN', 'CONFIRMING', 'CREDITED'] },
  });
}

/** Stores that the chain holds this transfer; inserts the deposit if it is new. Call it in a transaction. */
export async function sight(em: EntityManager, chainId: number, transfer: Transfer): Promise<void> {
  const { reference, block } = transfer;
  await query(
    em,
    sql`insert into crypto_deposit (reference, chain_id, contract, address, tx_hash, place, log_index, sender,
      units, amount, state, block_number, block_hash)
    values (${reference}, ${chainId}, ${transfer.token}, ${transfer.to}, ${transfer.txHash},
      ${transfer.place}, ${transfer.logIndex}, ${transfer.from}, ${transfer.units}::numeric,
      ${transfer.amount}, 'SEEN', ${block.number}, ${block.hash})
    on conflict (reference) do update set log_index = excluded.log_index`,
  );
  const row = await lockDeposit(em, reference);
  // A new row equals the event, but its top-up does not exist yet.
  const isKnown = await queryOne(em, sql`select 1 from top_up where reference = ${reference}`);
  if (!isKnown) await report(em, row);
  await apply(em, row, { type: 'SIGHTED', block });
}

/** Locks the deposit until the transaction ends, and returns its present row. */
export async function lockDeposit(em: EntityManager, reference: string): Promise<DepositRow> {
  await query(em, sql`select 1 from crypto_deposit where reference = ${reference} for update`);
  return em.findOneOrFail(DepositSchema, { reference }, { refresh: true });
}

/** Applies an event to a locked deposit, and moves the money that moves with it. Returns the next state. */
export async function apply(em: EntityManager, row: DepositRow, event: DepositEvent): Promise<DepositState> {
  const before = lifeOf(row);
  const { life } = step(before, event);
  if (life === before) return life.state;
  await query(
    em,
    sql`update crypto_deposit set state = ${life.state}, block_number = ${life.block.number},
      block_hash = ${life.block.hash}, reversals = ${life.reversals}, updated_at = clock_timestamp()
    where reference = ${row.reference}`,
  );
  if (life.state !== row.state) await report(em, { ...row, state: life.state });
  return life.state;
}

/** Moves deposits on that have blocks after them. Call it in a transaction. */
export async function bury(em: EntityManager, chainId: number, head: number): Promise<void> {
  const rows = await query<{ reference: string }>(
    em,
    sql`select reference from crypto_deposit
    where chain_id = ${chainId} and state = 'SEEN' and block_number < ${head} order by reference`,
  );
  for (const { reference } of rows)
    await apply(em, await lockDeposit(em, reference), { type: 'BURIED', head });
}

/** Tells the owners of open deposits that the number of confirmations has changed. */
export async function tellOwners(em: EntityManager, chainId: number): Promise<void> {
  const rows = await query<{ id: string; user_id: string }>(
    em,
    sql`select top_up.id, top_up.user_id from crypto_deposit deposit
    join top_up on top_up.reference = deposit.reference
    where deposit.chain_id = ${chainId} and deposit.state in ('SEEN', 'CONFIRMING')
    order by deposit.block_number desc limit ${FOLLOWED_MAX}`,
  );
  const events = rows.map(({ id, user_id: audience }) => ({ audience, id }));
  await publishMany(em, 'topUpUpdated', events);
}

/** The life of a stored deposit. */
export function lifeOf(row: DepositRow): DepositLife {
  const { state, reversals, blockNumber: number, blockHash: hash } = row;
  return { state, reversals, block: { number, hash } };
}

/** Tells the top-up. A deposit that was reversed left the chain, as an orphaned one did. */
async function report(em: EntityManager, row: DepositRow): Promise<void> {
  const owner = await queryRow<{ user_id: string }>(
    em,
    sql`select user_id from crypto_address where address = ${row.address}`,
  );
  await recordCryptoTopUp(em, {
    walletId: await ensureWallet(em, owner.user_id),
    reference: row.reference,
    amount: row.amount,
    state: row.state === 'REVERSED' ? 'ORPHANED' : row.state,
    actor: SYSTEM_ACTOR,
  });
}
