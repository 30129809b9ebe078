/** Builds the objects that all requests of a node share. */
import { RefusedWork } from '@gateway/shared/refused-work';
import type { Tracing } from '@gateway/shared/tracing';
import { Bulkhead, FreeRequests, Sessions, StreamsByKey } from '../admission/bulkhead.ts';
import type { IdempotencyStore } from '../admission/idempotency.ts';
import { RepeatedRefusals } from '../admission/repeated-refusals.ts';
import { RotatedKeys } from '../admission/rotated-keys.ts';
import { Strangers } from '../admission/strangers.ts';
import { WalletConnections } from '../admission/wallet-connections.ts';
import type { ProtocolName } from '@gateway/shared/catalog';
import type { BodyParts } from '../call/body.ts';
import { SharedBudget } from '../call/shared-budget.ts';
import { SlowBodies } from '../call/slow-bodies.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import { replaceMembers, scanMembers } from '../exchange/json-members.ts';
import { textOf } from '../exchange/json-scan.ts';
import { Spool } from '../exchange/spool.ts';
import { BODY_FLOOR_BYTES, BODY_MEMORY_BYTES, BODY_RESERVE_BYTES, DEFAULT_CONCURRENCY } from '../limits.ts';
import { Metrics } from '../metrics.ts';
import type { Vitals } from '../metrics.ts';
import type { Log } from '../log.ts';
import type { Services } from '../services.ts';
import type { Stage } from '../node/departure.ts';
import type { ServerSettings } from '../settings.ts';
import { Upstreams } from '../upstreams/ask.ts';
import { identityTokens } from '../upstreams/clouds/identity-tokens.ts';
import type { IdentityTokenFiles } from '../upstreams/clouds/identity-tokens.ts';
import { UpstreamStates } from '../upstreams/states.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';

/** The node that a worker belongs to. */
export interface WholeNode {
  worker: Worker;
  /** Whether all other workers are ready. */
  othersReady(): boolean;
  /** The metrics of all workers together, in the text format. */
  scrape(): Promise<string>;
}

/** The parts from which a node's server is built. */
export interface ServerDependencies extends Pick<
  Services,
  'store' | 'ledger' | 'permits' | 'dialects' | 'completions'
> {
  /** The formats of upstreams. */
  upstreamDialects: Partial<Record<ProtocolName, UpstreamDialect>>;
  idempotency?: IdempotencyStore;
  settings: ServerSettings;
  /** The stage of the node's shutdown. */
  stage?: () => Stage;
  /** The clock that determines the age of the configuration, in ms. By default the wall clock. */
  configClock?: () => number;
  /** The state of the node for readiness and metrics. */
  vitals?: () => Vitals;
  /** The metrics of the process. By default the server creates its own. */
  metrics?: Metrics;
  /** The other workers of the node; absent if the node is one process. */
  node?: WholeNode;
  /** Health of the upstreams. By default the server creates its own. */
  upstreamStates?: UpstreamStates;
  /** Uses of secrets that a rotation has replaced. By default the server creates its own. */
  rotatedKeys?: RotatedKeys;
  /** A monotonic clock in ms, for limits per minute and realtime sessions. */
  now?: () => number;
  /** The wall clock in ms, for the dates in signatures. */
  wallNow?: () => number;
  /** Files with the identity tokens that the platform gives this node. By default there are none. */
  identityTokenFiles?: IdentityTokenFiles;
  /** Limit of all request bodies in memory together, in bytes. By default BODY_MEMORY_BYTES. */
  bodyMemoryBytes?: number;
  /** Release of the node, for `GET /openapi.json`. */
  version?: string;
  /** Traces of requests; by default none. */
  tracing?: Tracing | undefined;
  log: Log;
}

/** Builds the services of one server. Cuts the requests in progress of keys that become unusable. */
export function buildServices(dependencies: ServerDependencies): Services {
  const { store, ledger, idempotency, permits, dialects, completions, vitals } = dependencies;
  const now = dependencies.now ?? (() => performance.now());
  const states = dependencies.upstreamStates ?? new UpstreamStates({ now, random: Math.random });
  const { trustedProxies } = dependencies.settings;
  const concurrency = () => store.current?.settings.concurrentRequests ?? DEFAULT_CONCURRENCY;
  const worker = dependencies.node?.worker ?? ONLY_WORKER;
  const streams = new StreamsByKey();
  store.onKeysStopped((keys) => streams.stop(keys));
  return {
    now,
    store,
    ledger,
    idempotency,
    permits,
    dialects,
    completions,
    streams,
    upstreams: new Upstreams({
      dialects: dependencies.upstreamDialects,
      random: Math.random,
      now,
      states,
      wallNow: dependencies.wallNow ?? Date.now,
      identityToken: identityTokens(dependencies.identityTokenFiles ?? {}),
      editBody: (body, edits) => replaceMembers(body, scanMembers(textOf(body)).members, { edits }),
      log: dependencies.log,
    }),
    wallets: new Bulkhead(() => partOf(concurrency().perWallet, worker)),
    keys: new Bulkhead(() => partOf(concurrency().perKey, worker)),
    sessions: new Sessions(worker),
    strangers: new Strangers({ now, trustedProxies, worker }),
    walletConnections: new WalletConnections(trustedProxies, worker),
    refusals: new RepeatedRefusals({ now, ledger }),
    freeRequests: new FreeRequests(now, worker),
    metrics: dependencies.metrics ?? new Metrics(vitals, states),
    tracing: dependencies.tracing,
    rotatedKeys: dependencies.rotatedKeys ?? new RotatedKeys(now),
    spool: new Spool({ worker }),
  };
}

/** Builds what all request bodies of one server share: the memory budget and the tracker of slow bodies. */
export function buildBodies(
  { bodyMemoryBytes, node }: Pick<ServerDependencies, 'bodyMemoryBytes' | 'node'>,
  { now }: Pick<Services, 'now'>,
): BodyParts {
  const worker = node?.worker ?? ONLY_WORKER;
  const total = partOf(bodyMemoryBytes ?? BODY_MEMORY_BYTES, worker);
  const reserve = partOf(BODY_RESERVE_BYTES, worker);
  const memory = new SharedBudget({ total, reserve, floor: BODY_FLOOR_BYTES });
  return { memory, slow: new SlowBodies(now), refusedWork: new RefusedWork(now) };
}
