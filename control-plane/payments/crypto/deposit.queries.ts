/** Reads what customers see of deposits: the tokens that are offered, their addresses, and their deposits. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Lookup } from '../../database/batches.ts';
import { query, sql } from '../../database/sql.ts';
import { checksummed, paymentRequest } from './address.rules.ts';
import type { Address } from './address.rules.ts';
import type { DepositAddressRow } from './address.service.ts';
import { confirmationsOf } from './deposit.rules.ts';
import type { DepositState } from './deposit.rules.ts';

/** A token that can be paid in, as the API shows it. */
export interface DepositTerms {
  chainId: number;
  chainName: string;
  asset: string;
  tokenContract: string;
  minDeposit: bigint;
  requiredConfirmations: number;
}

/** A deposit as the API shows it. */
export interface DepositView {
  chainId: number;
  chainName: string;
  asset: string;
  address: string;
  txHash: string;
  logIndex: number;
  blockNumber: string;
  amount: bigint;
  confirmations: number;
  requiredConfirmations: number;
  explorerUrl: string | null;
}

interface TermsRow {
  chain_id: string;
  name: string;
  symbol: string;
  contract: Address;
  minimum: string;
  confirmations: number;
  offered: boolean;
}

/** The tokens that are offered now; none without an extended public key. */
export async function depositOptions(em: EntityManager): Promise<DepositTerms[]> {
  return (await allTerms(em)).filter(({ offered }) => offered).map(termsOf);
}

/** The addresses with the terms of their tokens. */
export async function addressViews(em: EntityManager, rows: readonly DepositAddressRow[]) {
  const terms = await allTerms(em);
  return rows.flatMap((row) => {
    const token = terms.find((one) => Number(one.chain_id) === row.chainId && one.contract === row.contract);
    if (!token) return [];
    const { id, createdAt, chainId, contract, address } = row;
    const qrPayload = paymentRequest({ chainId, token: contract, to: address });
    return [{ ...termsOf(token), id, createdAt, address: checksummed(address), qrPayload }];
  });
}

/** Deposits by the references of their top-ups. */
export const depositViews: Lookup<DepositView> = async (em, references) => {
  const rows = await query<DepositViewRow>(
    em,
    sql`select deposit.reference, deposit.chain_id::text, chain.name, token.symbol, deposit.address,
      deposit.tx_hash, deposit.log_index, deposit.block_number::text, deposit.amount::text, deposit.state,
      deposit.block_hash, chain.head::text, chain.confirmations, chain.explorer_url
    from crypto_deposit deposit join crypto_chain chain using (chain_id)
    join crypto_token token using (chain_id, contract)
    where deposit.reference = any(${[...references]}::text[])`,
  );
  return new Map(rows.map((row) => [row.reference, viewOf(row)]));
};

interface DepositViewRow {
  reference: string;
  chain_id: string;
  name: string;
  symbol: string;
  address: Address;
  tx_hash: string;
  log_index: number;
  block_number: string;
  block_hash: string;
  amount: string;
  state: DepositState;
  head: string | null;
  confirmations: number;
  explorer_url: string | null;
}

function viewOf(row: DepositViewRow): DepositView {
  const block = { number: Number(row.block_number), hash: row.block_hash };
  return {
    chainId: Number(row.chain_id),
    chainName: row.name,
    asset: row.symbol,
    address: checksummed(row.address),
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
    amount: BigInt(row.amount),
    confirmations: confirmationsOf({ state: row.state, block }, Number(row.head ?? 0)),
    requiredConfirmations: row.confirmations,
    explorerUrl: row.explorer_url && `${row.explorer_url}/tx/${row.tx_hash}`,
  };
}

function allTerms(em: EntityManager): Promise<TermsRow[]> {
  return query<TermsRow>(
    em,
    sql`select chain_id::text, chain.name, token.symbol, token.contract, token.minimum::text,
      chain.confirmations,
      chain.enabled and token.enabled and exists (select 1 from crypto_key where active) as offered
    from crypto_token token join crypto_chain chain using (chain_id) order by token.chain_id, token.symbol`,
  );
}

function termsOf(row: TermsRow): DepositTerms {
  return {
    chainId: Number(row.chain_id),
    chainName: row.name,
    asset: row.symbol,
    tokenContract: checksummed(row.contract),
    minDeposit: BigInt(row.minimum),
    requiredConfirmations: row.confirmations,
  };
}
