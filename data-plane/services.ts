/** What the steps of the pipeline share: built once, when the server is. */
import type { DialectName } from '@gateway/shared/catalog';
import type { Bulkhead, FreeRequests, StreamsByKey } from './bulkhead.ts';
import type { ClaimOffice } from './claim.ts';
import type { ConfigStore } from './config/config.ts';
import type { Dialect, Inbound } from './dialects/dialect.ts';
import type { Uploads } from './exchange/parked.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { OldSecrets } from './old-secrets.ts';
import type { Permits } from './permits/permits.ts';
import type { Metrics } from './metrics.ts';
import type { Upstreams } from './upstreams.ts';

/** What the steps share: built once when the server is. */
export interface Services {
  /** A monotonic clock in ms. */
  now(): number;
  store: ConfigStore;
  ledger: Ledger;
  /** Undefined where no control plane is connected: requests with an Idempotency-Key are then refused. */
  claims: ClaimOffice | undefined;
  permits: Permits;
  dialects: Partial<Record<DialectName, Dialect>>;
  /** Legacy completions: a second inbound half over the chat dialect. */
  completions: Inbound;
  upstreams: Upstreams;
  wallets: Bulkhead;
  keys: Bulkhead;
  /** Realtime sessions per key. */
  sessions: Bulkhead;
  freeRequests: FreeRequests;
  streams: StreamsByKey;
  metrics: Metrics;
  oldSecrets: OldSecrets;
  /** Uploaded files until an upstream has taken them. */
  uploads: Uploads;
}
