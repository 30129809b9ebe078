/**
 * The contract between the planes: what a node is told (records) and what it reports back (settlements).
 * Money travels as decimal strings of micro-USD inside records, because JSON has no bigint.
 */
import type { DialectName, Family, Group } from './catalog.ts';

/** Amount of micro-USD as a decimal string, e.g. "250000". */
export type MicrosText = string;

/** A key as a node knows it: by digest only, with everything that decides whether a request may pass. */
export interface KeyRecord {
  kind: 'API_KEY';
  id: string;
  /** SHA-256 hex of the secret. */
  digest: string;
  /** Digest of the secret that a rotation replaced, good until `previousUntil` (ms since the epoch). */
  previousDigest: string | null;
  previousUntil: number | null;
  walletId: string;
  group: Group;
  enabled: boolean;
  disabledReason: string | null;
  poolId: string | null;
  /** Catalog names; null allows every model of the group. */
  allowedModels: string[] | null;
  /** CIDR blocks; empty allows every address. */
  allowedIps: string[];
  /** ms since the epoch. */
  expiresAt: number | null;
  /** Such a key has leases of its own, cut from wallet and limit in one statement. */
  hasSpendLimit: boolean;
  /** True for the derived keys of the Playground: accepted only with the control plane's signed header. */
  hidden: boolean;
}

/**
 * What a success costs in one group: base × ratio, computed by the control plane; a node never multiplies.
 */
export interface GroupPriceRecord {
  base: MicrosText;
  ratio: string;
  price: MicrosText;
}

/** What one flat price may buy at most. */
export interface ModelLimitsRecord {
  maxChoices: number;
  maxInputs: number;
  maxBodyBytes: number;
  serviceTiers: string[];
}

export interface ModelRecord {
  kind: 'MODEL';
  id: string;
  /** The exact catalog name that clients send. */
  name: string;
  displayName: string;
  description: string;
  contextTokens: number;
  traits: string[];
  families: Family[];
  /** Only the groups that may use the model are named. */
  prices: Partial<Record<Group, GroupPriceRecord>>;
  limits: ModelLimitsRecord;
  /** ms since the epoch. */
  createdAt: number;
}

/** Timeouts of one upstream, in ms. */
export interface TimeoutsRecord {
  connectMs: number;
  headersMs: number;
  firstContentMs: number;
  idleMs: number;
  totalMs: number;
}

export interface ProviderRecord {
  kind: 'PROVIDER';
  id: string;
  name: string;
  protocols: DialectName[];
  /** Ends without a slash, includes the version path: https://api.example.com/v1 */
  baseUrl: string;
  timeouts: TimeoutsRecord;
  concurrencyLimit: number | null;
  /** Private addresses are refused at connect time unless this is set (demo, tests, in-house models). */
  allowPrivate: boolean;
}

export interface CredentialRecord {
  kind: 'CREDENTIAL';
  id: string;
  providerId: string;
  /** The only origin this credential is ever sent to. */
  origin: string;
  /** The secret, sealed for the public key of the node that this record was sent to (shared/sealing). */
  sealed: string;
}

export interface RouteRecord {
  kind: 'ROUTE';
  id: string;
  modelId: string;
  providerId: string;
  /** The name the upstream knows the model by. */
  upstreamModel: string;
  /** What the upstream offers under that name; any chat family serves every chat format. */
  families: Family[];
  /** Lower is asked first. */
  priority: number;
  /** Share among routes of one priority. */
  weight: number;
}

/** A pool's own copy of a model, taken at purchase: later changes of the catalog do not reach it. */
export type FrozenModelRecord = Omit<ModelRecord, 'kind'>;

export interface PoolRecord {
  kind: 'POOL';
  id: string;
  /** What its owner calls it. */
  name: string;
  /** First label of the pool's host. */
  subdomain: string;
  /** Routes are found by a copy's id, which is that of the catalog model it was taken from. */
  models: FrozenModelRecord[];
  /** Requests that all nodes together admit in any 60 s, at most. */
  rpmCap: number;
  /** ms since the epoch. */
  paidUntil: number;
}

export interface AccountRecord {
  kind: 'ACCOUNT';
  id: string;
  walletId: string;
  frozen: boolean;
  /** Its keys are refused. */
  suspended: boolean;
  /** Its owner closed it for good, and so suspended it. */
  closed: boolean;
}

export interface SettingsRecord {
  kind: 'SETTINGS';
  id: 'settings';
  publicUrl: string;
  consoleUrl: string;
  /** True while pool requests are free because the period is paid. */
  poolRequestsFree: boolean;
  /** HMAC key (base64url) that proves a request comes from the control plane's Playground. */
  playgroundKey: string | null;
  /** The registered nodes, sorted: among them a pool's cap is divided while the control plane is away. */
  nodeIds: string[];
}

export type ConfigRecord =
  | KeyRecord
  | ModelRecord
  | ProviderRecord
  | CredentialRecord
  | RouteRecord
  | PoolRecord
  | AccountRecord
  | SettingsRecord;
export type ConfigKind = ConfigRecord['kind'];
export interface ConfigKey {
  kind: ConfigKind;
  id: string;
}

export type UsageSource = 'API_KEY' | 'POOL_KEY' | 'PLAYGROUND' | 'PERSONAL_INTELLIGENCE';
export type UsageOutcome =
  | 'DELIVERED'
  | 'CLIENT_LEFT'
  | 'KEY_CUT'
  | 'OPERATOR_CUT'
  | 'NO_CONTENT'
  | 'UPSTREAM_FAILED'
  | 'REFUSED'
  | 'THROTTLED';
export type UsageStatus = 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'THROTTLED';

/**
 * Token counts as upstreams report them; null where unknown. Input includes cached, output includes
 * reasoning.
 */
export interface TokenCounts {
  input: number | null;
  output: number | null;
  cached: number | null;
  reasoning: number | null;
}

/**
 * What became of an upstream's turn in a request: its answer was relayed, or broke off while it was; it
 * refused or gave no usable answer; the request was cut meanwhile; or it was passed over without being asked.
 */
export type AttemptOutcome = 'ANSWERED' | 'BROKE_OFF' | 'FAILED' | 'CUT' | 'SKIPPED';

/** One upstream's turn: metadata only, never a word of the upstream. */
export interface AttemptRecord {
  routeId: string;
  outcome: AttemptOutcome;
  /** Code of the failure, null where there was none; of one passed over: why, as a `SkipCode`. */
  errorCode: string | null;
  /** The HTTP status of what could not be relayed; null where its answer was, and where none came. */
  httpStatus: number | null;
  /** How long the turn took, in ms; 0 where it was not asked. */
  ms: number;
}

/** The turns of one request in their order: the first ones and the last. */
export interface Tried {
  attempts: readonly AttemptRecord[];
  /** How many turns before the last one are not listed. */
  omitted: number;
}

/**
 * One finished request: metadata only. Billed ones have a lease, a cost above zero and stand in the node's
 * journal;
 * the others are reported on a best-effort basis.
 */
export interface UsageRecord {
  requestId: string;
  /** ms since the epoch. */
  at: number;
  keyId: string;
  walletId: string;
  poolId: string | null;
  group: Group;
  source: UsageSource;
  model: string;
  family: Family;
  routeId: string | null;
  basePrice: MicrosText;
  ratio: string;
  cost: MicrosText;
  tokens: TokenCounts;
  status: UsageStatus;
  outcome: UsageOutcome;
  httpStatus: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  /** Time to first relayed content; null when there was none. */
  firstContentMs: number | null;
  ip: string | null;
  /** Parts of the answer that the client's format could not carry. */
  lossesInAnswer: number;
  /** Absent where no upstream had its turn but the one of `routeId`: the record says it all. */
  tried?: Tried | undefined;
}
