/**
 * What runs beside requests: the configuration feed, the watch over leases, the check of the ledger,
 * tidying the log.
 */
import { Counter, Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetExpired } from '../accounts/expired.ts';
import { setAckWaiter } from '../config-log.ts';
import { retireDue } from '../catalog/retirement.ts';
import { registry } from '../metrics.ts';
import { pruneBudgets } from '../budget/budget.ts';
import { query, sql } from '../sql.ts';
import { runJob, schedule } from '../jobs.ts';
import type { Job } from '../jobs.ts';
import { ledgerCheck } from '../wallet/scheduled-check.ts';
import { prunePermits } from '../pools/permit.service.ts';
import { pruneClaims } from '../usage/claim.service.ts';
import { dropMonths, makeMonths } from '../usage/retention.service.ts';
import { watchPools } from '../pools/pool.jobs.ts';
import { warnLowBalances } from '../wallet/notice.service.ts';
import { sweepLeases } from '../wallet/lease.end.ts';
import { ConfigFeed } from './config-feed.ts';
import type { FeedParts } from './config-feed.ts';
import { setRunningFeed } from './running-feed.ts';
import { pruneTombstones } from './tombstones.ts';

const SWEEP_LEASES_MS = 10_000;
const WATCH_POOLS_MS = 10_000;
const WARN_OWNERS_MS = 30_000;
const RETIRE_MODELS_MS = 10_000;
const PRUNE_MS = 60 * 60 * 1000;
/** Leases are reclaimed only when nodes had this long to reach this process again, in ms. */
const SETTLE_IN_MS = 10 * 60 * 1000;

const alarms = new Gauge({
  name: 'gateway_settlement_alarms',
  help: 'Rejected, late and written-off settlements so far, by kind.',
  labelNames: ['kind'],
  registers: [registry],
});
const failures = new Counter({
  name: 'gateway_background_failures_total',
  help: 'Failures of background work that will be tried again.',
  labelNames: ['task'],
  registers: [registry],
});

export interface BackgroundParts extends Omit<FeedParts, 'onTrouble'> {
  log?: (line: Record<string, unknown>) => void;
  /** How long months of the usage log are kept after their end, in days; null for ever. */
  usageRetentionDays?: number | null;
}

/** Starts all of it; `stop` ends it and waits for what is under way. */
export async function startBackground(
  parts: BackgroundParts,
): Promise<{ feed: ConfigFeed; stop(): Promise<void> }> {
  const trouble =
    (task: string) =>
    (error: unknown): void => {
      failures.inc({ task });
      parts.log?.({ level: 'warn', task, message: 'Background work failed.', reason: messageOf(error) });
    };
  const feed = await ConfigFeed.start({ ...parts, onTrouble: trouble('config feed') });
  setAckWaiter((revision, timeoutMs) => feed.waitForAcks(revision, timeoutMs));
  setRunningFeed(feed);
  const em = (): EntityManager => parts.orm.em.fork();
  const months: Job = { name: 'usage months', everyMs: PRUNE_MS, work: () => keepMonths(em, parts) };
  await runJob(months, { em }).catch(trouble(months.name));
  const tasks = [...jobsOf(parts, em), months].map((job) =>
    schedule(job, { em, onTrouble: trouble(job.name) }),
  );
  return {
    feed,
    stop: async () => {
      setAckWaiter(undefined);
      setRunningFeed(undefined);
      await Promise.all([feed.stop(), ...tasks.map((task) => task.stop())]);
    },
  };
}

function jobsOf(parts: BackgroundParts, em: () => EntityManager): Job[] {
  const startedAt = performance.now();
  return [
    { name: 'leases', everyMs: SWEEP_LEASES_MS, work: () => watchMoney(em(), startedAt) },
    ledgerCheck({ em, log: parts.log }),
    { name: 'pools', everyMs: WATCH_POOLS_MS, work: () => watchPools(em()) },
    { name: 'low balances', everyMs: WARN_OWNERS_MS, work: () => warnLowBalances(em()) },
    { name: 'retirement of models', everyMs: RETIRE_MODELS_MS, work: () => retireDue(em()) },
    { name: 'tombstones', everyMs: PRUNE_MS, work: () => pruneTombstones(em()) },
    { name: 'claims', everyMs: PRUNE_MS, work: () => pruneClaims(em()) },
    { name: 'accounts', everyMs: PRUNE_MS, work: () => forgetExpired(em()) },
    { name: 'permits', everyMs: PRUNE_MS, work: () => prunePermits(em()) },
    { name: 'budgets', everyMs: PRUNE_MS, work: () => pruneBudgets(em()) },
  ];
}

async function keepMonths(em: () => EntityManager, parts: BackgroundParts): Promise<void> {
  await makeMonths(em());
  const dropped = await dropMonths(em(), parts.usageRetentionDays ?? null);
  if (dropped.length > 0)
    parts.log?.({ level: 'info', message: 'Months of the usage log are past their time.', dropped });
}

async function watchMoney(em: EntityManager, startedAt: number): Promise<void> {
  await sweepLeases(em, { mayReclaim: performance.now() - startedAt > SETTLE_IN_MS });
  const counts = await query<{ kind: string; count: number }>(
    em,
    sql`select kind, count(*)::integer as count from settlement_alarm group by kind`,
  );
  for (const { kind, count } of counts) alarms.set({ kind }, count);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
