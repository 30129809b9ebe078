/** The objects that all requests of a node share. */
import type { DialectName } from '@gateway/shared/catalog';
import type { Bulkhead, FreeRequests, Sessions, StreamsByKey } from './admission/bulkhead.ts';
import type { IdempotencyStore } from './admission/idempotency.ts';
import type { Tracing } from '@gateway/shared/tracing';
import type { ConfigStore } from './config/config.ts';
import type { Dialect, Inbound } from './dialects/dialect.ts';
import type { Spool } from './exchange/spool.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { RepeatedRefusals } from './admission/repeated-refusals.ts';
import type { Strangers } from './admission/strangers.ts';
import type { WalletConnections } from './admission/wallet-connections.ts';
import type { RotatedKeys } from './admission/rotated-keys.ts';
import type { Permits } from './permits/permits.ts';
import type { Metrics } from './metrics.ts';
import type { Upstreams } from './upstreams/ask.ts';

/** Built once, together with the server. */
export interface Services {
  /** A monotonic clock in ms. */
  now(): number;
  store: ConfigStore;
  ledger: Ledger;
  /** Undefined without a control plane: requests with an Idempotency-Key are then refused. */
  idempotency: IdempotencyStore | undefined;
  permits: Permits;
  dialects: Partial<Record<DialectName, Dialect>>;
  /** The format of legacy completions, which upstreams get as chat completions. */
  completions: Inbound;
  upstreams: Upstreams;
  /** Concurrent requests per wallet. */
  wallets: Bulkhead;
  /** Concurrent requests per key. */
  keys: Bulkhead;
  /** Concurrent realtime sessions. */
  sessions: Sessions;
  /** Connections and failures without a valid key. */
  strangers: Strangers;
  /** Connections that sent a valid key, by wallet. */
  walletConnections: WalletConnections;
  /** Reports free requests, repeated refusals as one. */
  refusals: RepeatedRefusals;
  freeRequests: FreeRequests;
  /** Requests in progress by key, so that stopping a key cuts them. */
  streams: StreamsByKey;
  metrics: Metrics;
  /** Undefined if no traces are sent. */
  tracing: Tracing | undefined;
  /** Uses of previous secrets after a rotation. */
  rotatedKeys: RotatedKeys;
  /** Keeps uploaded files until an upstream has taken them. */
  spool: Spool;
}
