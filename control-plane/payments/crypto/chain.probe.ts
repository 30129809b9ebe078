/** Asks the RPC services of a chain before its settings are stored. */
import { UserFailure } from '../../graphql/errors.ts';
import type { Address } from './address.rules.ts';
import { openRpc, RpcError } from './rpc.client.ts';
import type { Rpc } from './rpc.client.ts';

/** The newest block of both services. Throws INVALID if one does not answer, or serves another chain. */
export async function readChain(
  addresses: readonly string[],
  chainId: number,
  allowPrivate: boolean,
): Promise<number> {
  const heads = await askAll(addresses, allowPrivate, async (rpc) => {
    const found = await rpc.chainId();
    if (found !== chainId) throw new RpcError('WRONG', `It serves chain ${found} instead of ${chainId}.`);
    return (await rpc.block('latest'))?.number ?? 0;
  });
  return Math.min(...heads);
}

/**
 * The decimals that the contract states; null if it states none, or the services differ. Throws INVALID if a
 * service does not answer.
 */
export async function readDecimals(
  addresses: readonly string[],
  contract: Address,
  allowPrivate: boolean,
): Promise<number | null> {
  const [first = null, ...others] = await askAll(addresses, allowPrivate, (rpc) => rpc.decimals(contract));
  return others.every((other) => other === first) ? first : null;
}

function askAll<T>(
  addresses: readonly string[],
  allowPrivate: boolean,
  question: (rpc: Rpc) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    addresses.map(async (address, at) => {
      const rpc = openRpc(address, allowPrivate);
      try {
        return await question(rpc);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        throw new UserFailure('INVALID', `RPC service ${at + 1}: ${error.message}`, 'rpcAddresses');
      } finally {
        await rpc.close();
      }
    }),
  );
}
