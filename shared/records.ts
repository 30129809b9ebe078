/**
 * The contract between the planes: the configuration records that a node receives, and the usage records
 * that it reports. Amounts of money are decimal strings of micro-USD, because JSON has no bigint.
 */
import type { ProtocolName, Family, Group } from './catalog.ts';
import type { Quirk } from './quirks.ts';
import type { RoutingPolicy } from './routing.ts';
import type { UpstreamAccess } from './clouds/access.ts';

/** An amount in micro-USD as a decimal string, for example "250000". */
export type MicrosText = string;

/** An API key as nodes receive it: its digest, and everything that decides whether a request is admitted. */
export interface KeyRecord {
  kind: 'API_KEY';
  id: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  /** Digest of the secret that a rotation replaced; valid until `previousUntil` (ms since the epoch). */
  previousDigest: string | null;
  previousUntil: number | null;
  walletId: string;
  group: Group;
  enabled: boolean;
  disabledReason: string | null;
  poolId: string | null;
  /** Catalog names of the allowed models; null allows every model of the group. */
  allowedModels: string[] | null;
  /** CIDR blocks of the allowed client addresses; empty allows all. */
  allowedIps: string[];
  /** ms since the epoch. */
  expiresAt: number | null;
  /** Whether the key has a spend limit. Such a key gets leases of its own, instead of its wallet's. */
  hasSpendLimit: boolean;
  /** True for the derived keys of the Playground: accepted only with the pass of playground-pass.ts. */
  hidden: boolean;
}

/** The price of a successful request in one group. The control plane computes base × ratio, a node never. */
export interface GroupPriceRecord {
  base: MicrosText;
  ratio: string;
  price: MicrosText;
}

/** Upper limits of one request at the flat price. */
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
  /** Prices by group; a group without a price may not use the model. */
  prices: Partial<Record<Group, GroupPriceRecord>>;
  limits: ModelLimitsRecord;
  /** Whether members, headers and flags that the gateway does not know pass on a mirror. */
  passUnknown: boolean;
  /** Whether upstreams of the model may keep responses, conversations and cached contents on request. */
  storesState: boolean;
  /** How long they keep them at most, in days. */
  stateRetentionDays: number;
  /** How its routes are chosen, also for pools; absent in records of older control planes. */
  routing?: RoutingPolicy;
  /** Whether a second upstream may be asked while the first one is slow; absent in older records. */
  hedged?: boolean;
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
  protocols: ProtocolName[];
  /** Includes the version path and has no trailing slash: https://api.example.com/v1 */
  baseUrl: string;
  timeouts: TimeoutsRecord;
  concurrencyLimit: number | null;
  /** Allows connections to private addresses (demo, tests, in-house models); else they are refused. */
  allowPrivate: boolean;
  /** How it differs from its formats; absent in records of older control planes. */
  quirks?: Quirk[];
  /** Null for an API key in the header of the request's format, and nothing else that is special. */
  access: UpstreamAccess | null;
}

export interface CredentialRecord {
  kind: 'CREDENTIAL';
  id: string;
  providerId: string;
  /** The only origin that this credential is sent to. */
  origin: string;
  /** Its only use, see `bindingOf`. Null for secrets that are sent in a header. */
  binding: string | null;
  /** The secret, sealed for the public key of the node that receives the record (see sealing.ts). */
  sealed: string;
}

export interface RouteRecord {
  kind: 'ROUTE';
  id: string;
  modelId: string;
  providerId: string;
  /** The upstream's name of the model. */
  upstreamModel: string;
  /** Families that the upstream offers under that name; any chat family implies all of them. */
  families: Family[];
  /** Routes with lower numbers are asked first. */
  priority: number;
  /** Relative share among the routes of one priority. */
  weight: number;
  /** Average cost of a request for the operator; null if unknown, absent in older records. */
  cost?: MicrosText | null;
  /** Further quirks of this model at the upstream; absent in records of older control planes. */
  quirks?: Quirk[];
}

/** A pool's own copy of a model, made at purchase. Later changes of the catalog do not affect the copy. */
export type FrozenModelRecord = Omit<ModelRecord, 'kind'>;

export interface PoolRecord {
  kind: 'POOL';
  id: string;
  /** The name that the owner gave the pool. */
  name: string;
  /** First label of the pool's host name. */
  subdomain: string;
  /** The pool's models. A copy keeps the id of its catalog model, by which its routes are found. */
  models: FrozenModelRecord[];
  /** Maximum number of requests that all nodes together admit in any 60 s. */
  rpmCap: number;
  /** ms since the epoch. */
  paidUntil: number;
}

export interface AccountRecord {
  kind: 'ACCOUNT';
  id: string;
  walletId: string;
  frozen: boolean;
  /** True if the account's keys are refused. */
  suspended: boolean;
  /** True if the owner closed the account for good; it is then suspended, too. */
  closed: boolean;
}

export interface SettingsRecord {
  kind: 'SETTINGS';
  id: 'settings';
  publicUrl: string;
  consoleUrl: string;
  /** True if requests with pool keys cost nothing, because the pool's period is paid. */
  poolRequestsFree: boolean;
  /** HMAC key of playground passes, in base64url. */
  playgroundKey: string | null;
  /**
   * Key of the ids of stored objects in base64url, sealed for the public key of the node that receives the
   * record (see sealing.ts); null if there is none.
   */
  stateKey: string | null;
  /** Ids of the registered nodes, sorted. A pool's cap is divided among them while they are alone. */
  nodeIds: string[];
  /** Requests of one wallet, and of one key, that a node serves at once. Older control planes send none. */
  concurrentRequests?: { perWallet: number; perKey: number };
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

/** Token counts as upstreams report them; null if unknown. Input includes cached, output reasoning tokens. */
export interface TokenCounts {
  input: number | null;
  output: number | null;
  cached: number | null;
  reasoning: number | null;
}

/**
 * Outcome of an attempt. ANSWERED: the answer was relayed. BROKE_OFF: the answer failed while it was
 * relayed. FAILED: the upstream refused or gave no usable answer. CUT: the request was ended meanwhile, not
 * by the upstream, or another upstream answered first. SKIPPED: the upstream was not asked.
 */
export type AttemptOutcome = 'ANSWERED' | 'BROKE_OFF' | 'FAILED' | 'CUT' | 'SKIPPED';

/** One attempt of an upstream: metadata only, no text of the upstream. */
export interface AttemptRecord {
  routeId: string;
  outcome: AttemptOutcome;
  /**
   * Code of the failure, null if there was none; the `SkipCode` of a skipped attempt; LOST_RACE (attempts.ts)
   * if another upstream answered first.
   */
  errorCode: string | null;
  /** HTTP status of an answer that was not relayed; null if the answer was relayed or none came. */
  httpStatus: number | null;
  /** Duration of the attempt in ms; 0 if skipped. */
  ms: number;
  /** Only with LOST_RACE: the operator's cost of a request on this route at that time; absent if unknown. */
  cost?: MicrosText | undefined;
}

/** The attempts of one request in order. A long list keeps only the first ones and the last. */
export interface AttemptList {
  attempts: readonly AttemptRecord[];
  /** Number of attempts that are missing before the last one. */
  omitted: number;
}

/**
 * One finished request: metadata only. A charged request has a cost above zero and a record in the node's
 * journal; other requests are reported on a best-effort basis. Member names are fixed: journals of November
 * 2026 hold charges in this form.
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
  /** Time to the first relayed content, in ms; null if there was none. */
  firstContentMs: number | null;
  ip: string | null;
  /** Number of parts of the answer that the client's format could not carry. */
  lossesInAnswer: number;
  /** Absent if the only attempt was that of `routeId`: the other fields then describe it. */
  tried?: AttemptList | undefined;
  /** Number of other refusals of the same key, code and model that this record stands for; absent for 0. */
  repeats?: number | undefined;
}
