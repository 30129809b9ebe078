/** Dependencies of one pass over a chain. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ClaimedChain } from './chain.rows.ts';
import type { Chain } from './rpc.pair.ts';
import type { TokenTerms } from './transfers.ts';

/** Dependencies of the watcher. */
export interface WatcherParts {
  /** A new database session. */
  em(): EntityManager;
  settings: { secretKey: string; allowPrivateUpstreams: boolean };
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

/** A chain during one pass. */
export interface Pass extends WatcherParts {
  claimed: ClaimedChain;
  chain: Chain;
  terms: TokenTerms;
}
