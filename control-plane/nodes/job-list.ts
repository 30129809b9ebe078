/** The one list of what every control plane does again and again beside requests. */
import { Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetExpired } from '../accounts/expired.ts';
import { pruneBudgets } from '../budget/budget.ts';
import { retireDue } from '../catalog/retirement.ts';
import { pruneIdempotencyKeys } from '../idempotency.ts';
import type { Job } from '../jobs.ts';
import { closeUnrevealed } from '../keys/key.unrevealed.ts';
import { registry } from '../metrics.ts';
import { prunePermits } from '../pools/permit.service.ts';
import { watchPools } from '../pools/pool.jobs.ts';
import { query, sql } from '../sql.ts';
import { pruneClaims } from '../usage/claim.service.ts';
import { dropMonths, makeMonths } from '../usage/retention.service.ts';
import { sweepLeases } from '../wallet/lease.end.ts';
import { forgetRefusals } from '../wallet/lease.refusals.ts';
import { warnLowBalances } from '../wallet/notice.service.ts';
import { CHECK_LEDGER, checkLedger } from '../wallet/scheduled-check.ts';
import type { Watch } from '../watch.ts';
import { pruneTombstones } from './tombstones.ts';

const SWEEP_LEASES_MS = 10_000;
const WATCH_POOLS_MS = 10_000;
const WARN_OWNERS_MS = 30_000;
const RETIRE_MODELS_MS = 10_000;
const CLOSE_KEYS_MS = 60_000;
const PRUNE_MS = 60 * 60 * 1000;

const alarms = new Gauge({
  name: 'gateway_settlement_alarms',
  help: 'Rejected, late and written-off settlements so far, by kind.',
  labelNames: ['kind'],
  registers: [registry],
});

/** What jobs work with. */
export interface Workshop {
  em(): EntityManager;
  watch: Watch;
  log?: ((line: Record<string, unknown>) => void) | undefined;
  /** How long months of the usage log are kept after their end, in days; null for ever. */
  usageRetentionDays: number | null;
}

type JobPlan = Omit<Job, 'name' | 'work'> & { work(shop: Workshop): Promise<unknown> };

/** In the order in which they are shown. */
const PLANS = {
  leases: { everyMs: SWEEP_LEASES_MS, work: watchMoney },
  ledger: { ...CHECK_LEDGER, work: ({ em, log }) => checkLedger(em(), log) },
  pools: { everyMs: WATCH_POOLS_MS, work: ({ em }) => watchPools(em()) },
  'low balances': { everyMs: WARN_OWNERS_MS, work: ({ em }) => warnLowBalances(em()) },
  'retirement of models': { everyMs: RETIRE_MODELS_MS, work: ({ em }) => retireDue(em()) },
  'unrevealed keys': { everyMs: CLOSE_KEYS_MS, work: ({ em }) => closeUnrevealed(em()) },
  tombstones: { everyMs: PRUNE_MS, work: ({ em }) => pruneTombstones(em()) },
  claims: { everyMs: PRUNE_MS, work: ({ em }) => pruneClaims(em()) },
  repeats: { everyMs: PRUNE_MS, work: ({ em }) => pruneIdempotencyKeys(em()) },
  accounts: { everyMs: PRUNE_MS, work: ({ em }) => forgetExpired(em()) },
  permits: { everyMs: PRUNE_MS, work: ({ em }) => prunePermits(em()) },
  budgets: { everyMs: PRUNE_MS, work: ({ em }) => pruneBudgets(em()) },
  // Without its month a record that settles has no place.
  'usage months': { everyMs: PRUNE_MS, atStart: true, work: keepMonths },
} satisfies Record<string, JobPlan>;

/** The names of the jobs that this release has, in the order in which they are shown. */
export const JOB_NAMES: readonly string[] = Object.keys(PLANS);

/** The jobs, ready to be scheduled. */
export function jobsIn(shop: Workshop): Job[] {
  return Object.entries<JobPlan>(PLANS).map(([name, plan]) => ({
    ...plan,
    name,
    work: () => plan.work(shop),
  }));
}

async function keepMonths({ em, log, usageRetentionDays }: Workshop): Promise<void> {
  await makeMonths(em());
  const dropped = await dropMonths(em(), usageRetentionDays);
  if (dropped.length > 0)
    log?.({ level: 'info', message: 'Months of the usage log are past their time.', dropped });
}

async function watchMoney({ em, watch }: Workshop): Promise<void> {
  await sweepLeases(em(), await watch.advance(em()));
  await forgetRefusals(em());
  const counts = await query<{ kind: string; count: number }>(
    em(),
    sql`select kind, count(*)::integer as count from settlement_alarm group by kind`,
  );
  for (const { kind, count } of counts) alarms.set({ kind }, count);
}
