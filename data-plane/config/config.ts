/**
 * The compiled configuration of a node: immutable, swapped as a whole. A request pins the one it started
 * with.
 */
import type { Family } from '@gateway/shared/catalog';
import type {
  AccountRecord,
  CredentialRecord,
  FrozenModelRecord,
  KeyRecord,
  ModelRecord,
  PoolRecord,
  ProviderRecord,
  RouteRecord,
  SettingsRecord,
} from '@gateway/shared/records';

/** A model as it is sold on a host: one of the catalog, or the copy that was frozen for a pool. */
export type SoldModel = FrozenModelRecord;

/** A route with the provider it leads to. */
export interface CompiledRoute {
  route: RouteRecord;
  provider: ProviderRecord;
  credentials: readonly CompiledCredential[];
}

/** A credential whose secret was unsealed with this node's private key. Bound to one origin. */
export interface CompiledCredential {
  id: string;
  origin: CredentialRecord['origin'];
  secret: string;
}

export interface Config {
  readonly revision: number;
  /** When the control plane last confirmed that this is current, in ms of the wall clock. */
  readonly confirmedAt: number;
  readonly settings: SettingsRecord;
  keyByDigest(digest: string): KeyRecord | undefined;
  modelByName(name: string): ModelRecord | undefined;
  models(): Iterable<ModelRecord>;
  /**
   * Routes of a model that can serve the family: for a chat family every chat route, else those that name it.
   */
  routesFor(modelId: string, family: Family): readonly CompiledRoute[];
  poolBySubdomain(subdomain: string): PoolRecord | undefined;
  /** Whether there is any pool. */
  readonly hasPools: boolean;
  poolById(id: string): PoolRecord | undefined;
  accountByWallet(walletId: string): AccountRecord | undefined;
}

/** Who stopped a key: its owner, who pays for what was relayed by then, or the operator, who has it free. */
export type StoppedBy = 'OWNER' | 'OPERATOR';

/** Holds the current configuration; only the feed writes it. */
export interface ConfigStore {
  /** Undefined until a first configuration came from the file or from the control plane. */
  readonly current: Config | undefined;
  /**
   * Called after each swap with the ids of the keys that stopped being valid, so that their streams are cut,
   * and who stopped each.
   */
  onKeysStopped(listener: (keys: ReadonlyMap<string, StoppedBy>) => void): void;
}
