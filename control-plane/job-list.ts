/** The list of scheduled jobs, which every control plane runs beside requests. */
import { Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { deleteExpired } from './accounts/expired.ts';
import { stopAbandonedExport } from './clickhouse/state.ts';
import { pruneBudgets } from './budget/budget.ts';
import { retireDueModels } from './catalog/retirement.ts';
import { pruneIdempotencyKeys } from './graphql/idempotency.ts';
import type { Job } from './process/jobs.ts';
import { revokeUnrevealed } from './keys/key.unrevealed.ts';
import { registry } from './process/metrics.ts';
import type { CardSettings } from './payments/card/checkout.service.ts';
import { runChains } from './payments/crypto/chain.jobs.ts';
import type { WatcherParts } from './payments/crypto/pass.ts';
import { comparePayments, runPayments } from './payments/payment.jobs.ts';
import type { ContentKeys } from './intelligence/content-keys.ts';
import { deriveItems } from './intelligence/deriving/derive.ts';
import { pruneItems } from './intelligence/learned.service.ts';
import { pruneShares } from './intelligence/personal.settings.ts';
import type { DerivingParts } from './intelligence/deriving/derive.ts';
import type { NodeFeed } from './database/config-log.ts';
import { moveUsedLines } from './playground/move-lines.ts';
import { destroyKeysOfClosedAccounts, sealPlainChats } from './playground/seal-chats.ts';
import { prunePermits } from './pools/permit.service.ts';
import { runPoolJobs } from './pools/pool.jobs.ts';
import { query, sql } from './database/sql.ts';
import { rotateSecrets } from './secret-key/rotation.ts';
import { pruneDeliveries } from './webhooks/delivery.rows.ts';
import { reportUpstreams } from './webhooks/upstream-events.ts';
import { rollUpAll, rollUpRecent } from './status/roll-up.service.ts';
import { probeDue } from './upstreams/probing.ts';
import { pruneIdempotencyRecords } from './usage/idempotency.service.ts';
import { sumUpAllDays, sumUpDays } from './usage/day-times.service.ts';
import { sumUpAllHours, sumUpHours } from './usage/hour-sums.service.ts';
import { runArchive } from './usage/archive/archive.job.ts';
import { requireArchive } from './usage/archive/state.ts';
import { dropPartitions, makePartitions } from './usage/retention.service.ts';
import type { PartitionWidth } from './process/settings.ts';
import type { ArchiveSettings } from './process/archive-settings.ts';
import { sweepLeases } from './wallet/lease.end.ts';
import { FOLD_LEASES, foldLeases } from './wallet/lease.fold.ts';
import { pruneRefusals } from './wallet/lease.refusals.ts';
import { warnLowBalances } from './wallet/notice.service.ts';
import { sendSpendAlerts } from './wallet/spend-alert.service.ts';
import { sumUpUsageDays } from './wallet/usage-days.ts';
import { CHECK_LEDGER, checkLedger } from './wallet/scheduled-check.ts';
import type { UptimeClock } from './database/uptime-clock.ts';
import { readFigures } from './figures.ts';
import { pruneTombstones } from './nodes/tombstones.ts';

const SWEEP_LEASES_MS = 10_000;
const CHECK_POOLS_MS = 10_000;
const PAYMENTS_MS = 5000;
const WARN_OWNERS_MS = 30_000;
const RETIRE_MODELS_MS = 10_000;
const DERIVE_MS = 5000;
const CLOSE_KEYS_MS = 60_000;
const ROTATE_SECRETS_MS = 60_000;
const PROBE_MS = 20_000;
const REPORT_UPSTREAMS_MS = 10_000;
const FIGURES_MS = 15_000;
const SUM_UP_MS = 60_000;
const PRUNE_MS = 60 * 60 * 1000;
const ARCHIVE_MS = 5 * 60 * 1000;

const alarms = new Gauge({
  name: 'gateway_settlement_alarms',
  help: 'Rejected, late and written-off settlements so far, by kind.',
  labelNames: ['kind'],
  registers: [registry],
});

/** Services and settings that jobs use. */
interface JobContext {
  /** A new database session. */
  em(): EntityManager;
  uptimeClock: UptimeClock;
  log?: ((line: Record<string, unknown>) => void) | undefined;
  /** Days for which a month of the usage log is kept after its end; null keeps all. */
  usageRetentionDays: number | null;
  /** How much time a new partition of the usage log covers. */
  usagePartition: PartitionWidth;
  /** Where partitions are written before they are dropped; null for nowhere. */
  usageArchive: ArchiveSettings | null;
  /** Aborted when this process stops. */
  signal: AbortSignal;
  /** Keys under which chats are encrypted. */
  contentKeys: ContentKeys;
  /** Settings of the payment and intelligence jobs. */
  settings: CardSettings & WatcherParts['settings'] & DerivingParts['settings'];
  /** Delivers configuration to nodes. */
  nodeFeed: NodeFeed;
}

type JobPlan = Omit<Job, 'name' | 'work'> & { work(context: JobContext): Promise<unknown> };

/** The jobs by name, in the order in which the console shows them. The database stores the names. */
const PLANS = {
  leases: { everyMs: SWEEP_LEASES_MS, work: sweepMoney },
  'closed leases': { ...FOLD_LEASES, work: ({ em }) => foldLeases(em()) },
  ledger: { ...CHECK_LEDGER, work: ({ em, log }) => checkLedger(em(), log) },
  pools: { everyMs: CHECK_POOLS_MS, work: ({ em }) => runPoolJobs(em()) },
  payments: { everyMs: PAYMENTS_MS, work: runPayments },
  chains: { everyMs: PAYMENTS_MS, work: runChains },
  'payment balances': { everyMs: PRUNE_MS, work: comparePayments },
  'low balances': { everyMs: WARN_OWNERS_MS, work: ({ em }) => warnLowBalances(em()) },
  'spend alerts': { everyMs: WARN_OWNERS_MS, work: ({ em }) => sendSpendAlerts(em()) },
  'usage of days': { everyMs: PRUNE_MS, work: ({ em }) => sumUpUsageDays(em()) },
  'retirement of models': { everyMs: RETIRE_MODELS_MS, work: ({ em }) => retireDueModels(em()) },
  'unrevealed keys': { everyMs: CLOSE_KEYS_MS, work: ({ em }) => revokeUnrevealed(em()) },
  tombstones: { everyMs: PRUNE_MS, work: ({ em }) => pruneTombstones(em()) },
  claims: { everyMs: PRUNE_MS, work: ({ em }) => pruneIdempotencyRecords(em()) },
  repeats: { everyMs: PRUNE_MS, work: ({ em }) => pruneIdempotencyKeys(em()) },
  accounts: { everyMs: PRUNE_MS, work: ({ em }) => deleteExpired(em()) },
  permits: { everyMs: PRUNE_MS, work: ({ em }) => prunePermits(em()) },
  'personal intelligence': { everyMs: DERIVE_MS, work: deriveItems },
  'expired items': { everyMs: PRUNE_MS, work: pruneLearned },
  'sealing of chats': { everyMs: PRUNE_MS, work: sealChats },
  'keys of closed accounts': { everyMs: PRUNE_MS, work: destroyKeysOfClosedAccounts },
  'upstream probes': { everyMs: PROBE_MS, work: ({ em, settings }) => probeDue(em(), settings) },
  'upstreams for webhooks': { everyMs: REPORT_UPSTREAMS_MS, work: ({ em }) => reportUpstreams(em()) },
  'webhook deliveries': { everyMs: PRUNE_MS, work: ({ em }) => pruneDeliveries(em()) },
  'secret key': { everyMs: ROTATE_SECRETS_MS, work: rotateSecrets },
  figures: { everyMs: FIGURES_MS, work: ({ em }) => readFigures(em()) },
  uptime: { everyMs: SUM_UP_MS, work: ({ em }) => rollUpRecent(em()) },
  'uptime of late reports': { everyMs: PRUNE_MS, work: ({ em }) => rollUpAll(em()) },
  'hours of usage': { everyMs: SUM_UP_MS, work: sumUpRecentTimes },
  'old hours of usage': { everyMs: PRUNE_MS, work: sumUpAllTimes },
  budgets: { everyMs: PRUNE_MS, work: ({ em }) => pruneBudgets(em()) },
  'usage export': { everyMs: PRUNE_MS, work: ({ em }) => stopAbandonedExport(em()) },
  'usage archive': { everyMs: ARCHIVE_MS, work: runArchive },
  // A usage row can only be inserted if the partition of its month exists.
  'usage months': { everyMs: PRUNE_MS, atStart: true, work: keepMonths },
} satisfies Record<string, JobPlan>;

/** The names of this release's jobs, in the order in which the console shows them. */
export const JOB_NAMES: readonly string[] = Object.keys(PLANS);

/** The jobs, ready to be scheduled. */
export function createJobs(context: JobContext): Job[] {
  return Object.entries<JobPlan>(PLANS).map(([name, plan]) => ({
    ...plan,
    name,
    work: () => plan.work(context),
  }));
}

async function keepMonths(context: JobContext): Promise<void> {
  const { em, log, usageRetentionDays, usagePartition, usageArchive } = context;
  await makePartitions(em(), usagePartition);
  if (usageArchive !== null) await requireArchive(em());
  const dropped = await dropPartitions(em(), usageRetentionDays);
  if (dropped.length > 0)
    log?.({ level: 'info', message: 'Dropped expired months of the usage log.', dropped });
}

async function sumUpRecentTimes({ em }: JobContext): Promise<void> {
  await sumUpHours(em());
  await sumUpDays(em());
}

async function sumUpAllTimes({ em }: JobContext): Promise<void> {
  await sumUpAllHours(em());
  await sumUpAllDays(em());
}

async function pruneLearned({ em }: JobContext): Promise<void> {
  await pruneItems(em());
  await pruneShares(em());
}

async function sealChats(context: JobContext): Promise<void> {
  await sealPlainChats(context);
  await moveUsedLines(context);
}

async function sweepMoney({ em, uptimeClock }: JobContext): Promise<void> {
  await sweepLeases(em(), await uptimeClock.advance(em()));
  await pruneRefusals(em());
  const counts = await query<{ kind: string; count: number }>(
    em(),
    sql`select kind, count(*)::integer as count from settlement_alarm group by kind`,
  );
  for (const { kind, count } of counts) alarms.set({ kind }, count);
}
