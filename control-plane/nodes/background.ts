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
import { every } from '../schedule.ts';
import { scheduleLedgerCheck } from '../wallet/scheduled-check.ts';
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
  const startedAt = performance.now();
  const em = (): EntityManager => parts.orm.em.fork();
  await keepMonths(em, parts).catch(trouble('usage months'));
  const tasks = [
    every(SWEEP_LEASES_MS, () => watchMoney(em(), startedAt), trouble('leases')),
    scheduleLedgerCheck({ em, log: parts.log, onTrouble: trouble('ledger') }),
    every(WATCH_POOLS_MS, () => watchPools(em()), trouble('pools')),
    every(WARN_OWNERS_MS, () => warnLowBalances(em()), trouble('low balances')),
    every(RETIRE_MODELS_MS, () => retireDue(em()), trouble('retirement of models')),
    every(PRUNE_MS, () => pruneTombstones(em()), trouble('tombstones')),
    every(PRUNE_MS, () => pruneClaims(em()), trouble('claims')),
    every(PRUNE_MS, () => forgetExpired(em()), trouble('accounts')),
    every(PRUNE_MS, () => prunePermits(em()), trouble('permits')),
    every(PRUNE_MS, () => pruneBudgets(em()), trouble('budgets')),
    every(PRUNE_MS, () => keepMonths(em, parts), trouble('usage months')),
  ];
  return {
    feed,
    stop: async () => {
      setAckWaiter(undefined);
      setRunningFeed(undefined);
      await Promise.all([feed.stop(), ...tasks.map((task) => task.stop())]);
    },
  };
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
