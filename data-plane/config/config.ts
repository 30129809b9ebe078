/**
 * The compiled configuration of a node: immutable and replaced as a whole. A request keeps the one it
 * started with.
 */
import type { Family } from '@gateway/shared/catalog';
import type { RoutingPolicy } from '@gateway/shared/routing';
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
import type { SealedIds } from '../state/sealed-ids.ts';

/** A model as it is sold on a host: one of the catalog, or the frozen copy of a pool. */
export type SoldModel = FrozenModelRecord;

/** A route with its provider and the credentials of that provider. */
export interface CompiledRoute {
  route: RouteRecord;
  provider: ProviderRecord;
  credentials: readonly CompiledCredential[];
  /** How the routes of the model are chosen; absent: in proportion to the weights. */
  policy?: Exclude<RoutingPolicy, 'FIXED'> | undefined;
  /** Whether a second upstream may be asked while the first one is slow; absent: it may not. */
  isHedged?: boolean;
  /** The client certificate for TLS: JSON with both parts in PEM. */
  certificate: CompiledCredential | undefined;
}

/** A credential whose secret is unsealed. It may only be sent to its origin. */
export interface CompiledCredential {
  id: string;
  origin: CredentialRecord['origin'];
  binding: CredentialRecord['binding'];
  secret: string;
}

/** Look-ups that are undefined for unknown names. */
export interface Config {
  readonly revision: number;
  /** When the control plane last confirmed that this is current, in ms of its clock. */
  readonly confirmedAt: number;
  readonly settings: SettingsRecord;
  /** Seals and opens ids of stored objects; undefined without a key that this node can read. */
  readonly sealedIds: SealedIds | undefined;
  keyByDigest(digest: string): KeyRecord | undefined;
  modelByName(name: string): ModelRecord | undefined;
  models(): Iterable<ModelRecord>;
  /**
   * Routes of a model that can serve the family: every chat route for a chat family, else those that name
   * it.
   */
  routesFor(modelId: string, family: Family): readonly CompiledRoute[];
  poolBySubdomain(subdomain: string): PoolRecord | undefined;
  /** Whether any pool exists. */
  readonly hasPools: boolean;
  poolById(id: string): PoolRecord | undefined;
  accountByWallet(walletId: string): AccountRecord | undefined;
}

/**
 * The side that stopped a key. A cut stream is charged if the owner stopped it, and free if the operator did.
 */
export type StoppedBy = 'OWNER' | 'OPERATOR';

/** How a key became unusable. */
export interface KeyStop {
  by: StoppedBy;
  /** Digests of the secrets that stopped working while the key works on; undefined: the whole key stopped. */
  secrets?: readonly string[];
}

/** Holds the current configuration. Only the feed changes it. */
export interface ConfigStore {
  /** Undefined until the first configuration arrives from the file or the control plane. */
  readonly current: Config | undefined;
  /**
   * Registers a listener for keys and secrets that became unusable, by key id, so that their streams are cut.
   */
  onKeysStopped(listener: (keys: ReadonlyMap<string, KeyStop>) => void): void;
}
