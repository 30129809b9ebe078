/** One request on its way through the pipeline, and what every step may use. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName } from '@gateway/shared/catalog';
import type { Config, ConfigStore } from './config/config.ts';
import type { Cut } from './cut.ts';
import type { Dialect, Inbound } from './dialects/dialect.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Metrics } from './metrics.ts';
import type { Reply } from './reply.ts';
import type { Bulkhead, FreeRequests, StreamsByKey } from './bulkhead.ts';
import type { Upstreams } from './upstreams.ts';

/** A request as the pipeline sees it. Everything in it is fixed when the request arrives. */
export interface Call {
  /** Minted by the node: 128 random bits in hex. */
  id: string;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Address of the client, behind trusted proxies. */
  address: string;
  /** ms of the wall clock. */
  at: number;
  /** ms of a monotonic clock. */
  startedAt: number;
  /** The configuration the request started with. */
  config: Config;
  cut: Cut;
  reply: Reply;
  /** Reads the body; at most once. */
  body(limitBytes: number): Promise<Buffer>;
}

/** What the steps share: built once when the server is. */
export interface Services {
  store: ConfigStore;
  ledger: Ledger;
  dialects: Partial<Record<DialectName, Dialect>>;
  /** Legacy completions: a second inbound half over the chat dialect. */
  completions: Inbound | undefined;
  upstreams: Upstreams;
  wallets: Bulkhead;
  keys: Bulkhead;
  freeRequests: FreeRequests;
  streams: StreamsByKey;
  metrics: Metrics;
}
