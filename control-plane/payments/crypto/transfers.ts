/** Transfers of accepted tokens to addresses of users, with identities that survive a reorganisation. */
import type { Address } from './address.rules.ts';
import type { Receipt, TransferLog } from './rpc.client.ts';
import { microsOf } from './scan.rules.ts';

/** A transfer that can become a deposit. */
export interface Transfer extends Omit<TransferLog, 'amount'> {
  /** Identity of the deposit. */
  reference: string;
  /** Place among equal transfers of the transaction: same token, recipient and units. */
  place: number;
  /** Smallest units of the token. */
  units: bigint;
  /** Micro-USD, above zero. */
  amount: bigint;
}

/** The chain, and the decimals of each token that it accepts. */
export interface TokenTerms {
  chainId: number;
  decimals: ReadonlyMap<Address, number>;
}

/**
 * The transfers among the logs, in the order of the chain. Logs of other tokens are left out, as are amounts
 * below one micro-dollar. `logs` holds all wanted logs of each transaction.
 */
export function transfersOf(logs: readonly TransferLog[], { chainId, decimals }: TokenTerms): Transfer[] {
  const ordered = logs.toSorted(
    (left, right) => left.block.number - right.block.number || left.logIndex - right.logIndex,
  );
  const counts = new Map<string, number>();
  return ordered.flatMap(({ amount: units, ...log }) => {
    const digits = decimals.get(log.token);
    if (digits === undefined) return [];
    const amount = microsOf(units, digits);
    if (amount === 0n) return [];
    const equal = [chainId, log.txHash, log.token, log.to, String(units)].join(':');
    const place = counts.get(equal) ?? 0;
    counts.set(equal, place + 1);
    return [{ ...log, reference: `${equal}:${place}`, place, units, amount }];
  });
}

/** Whether the receipt of the transaction holds the deposit with this reference. */
export function holds(receipt: Receipt, reference: string, terms: TokenTerms): boolean {
  const logs = receipt.logs.filter((log) => log !== null);
  return transfersOf(logs, terms).some((transfer) => transfer.reference === reference);
}
