/** Health of the whole gateway, for administrators and monitoring. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import type { Context } from '../graphql/context.ts';
import { HealthStatus } from '../graphql/enums.ts';
import { listJobs } from '../process/jobs.ts';
import { DateTime } from '../graphql/scalars.ts';
import { queryOne, sql } from '../database/sql.ts';
import { intelligenceHealth } from '../intelligence/personal.health.ts';
import { chainsHealth } from '../payments/crypto/chain.jobs.ts';
import { processorHealth } from '../payments/health.service.ts';
import { secretKeyProgress } from '../secret-key/rotation.ts';
import { archiveHealth } from '../usage/archive/health.ts';
import { JOB_NAMES } from '../job-list.ts';
import { listNodes } from './node.service.ts';
import type { NodeView } from './node.view.ts';
import { DataPlaneNode } from './node.types.ts';

type Status = keyof typeof HealthStatus;

/** The database counts as slow if a trivial query takes longer than this. */
const DATABASE_SLOW_MS = 500;

/** A job that control planes run at intervals, with its last run. */
@ObjectType({
  description:
    'A job that control planes run at intervals, with its last run. Null fields: it has not run yet.',
})
export class ScheduledJob {
  @Field(() => String, { description: 'Name of the job.' })
  name!: string;

  @Field(() => DateTime, { nullable: true, description: 'When its last run began.' })
  lastRunAt!: Date | null;

  @Field(() => Int, { nullable: true, description: 'Duration of the last run, in milliseconds.' })
  lastDurationMs!: number | null;

  @Field(() => String, { nullable: true, description: 'Why the last run failed; null if it succeeded.' })
  lastError!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When a run last failed.' })
  lastFailedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the same process runs the job again; other processes may run it sooner.',
  })
  nextRunAt!: Date | null;
}

/** Secrets that are encrypted under SECRET_KEY. */
@ObjectType({ description: 'Secrets that are encrypted under SECRET_KEY, as the last pass over them found.' })
export class SecretsHealth {
  @Field(() => HealthStatus, {
    description: 'DEGRADED if a secret is unreadable; UNKNOWN before the first pass.',
  })
  status!: Status;

  @Field(() => Int, { description: 'All secrets.' })
  total!: number;

  @Field(() => Int, { description: 'Secrets that may still need SECRET_KEY_SECOND. At 0 it can be removed.' })
  remaining!: number;

  @Field(() => Int, { description: 'Secrets that no key opens. Enter them again.' })
  unreadable!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the last pass ended.' })
  checkedAt!: Date | null;
}

/** The archive of the usage log. */
@ObjectType({ description: 'The archive of the usage log, into which expired partitions are written.' })
export class UsageArchiveHealth {
  @Field(() => HealthStatus, {
    description: 'DEGRADED if the last run failed; UNKNOWN if partitions are dropped without an archive.',
  })
  status!: Status;

  @Field(() => String, { nullable: true, description: 'Folder or bucket of the archive; null without one.' })
  target!: string | null;

  @Field(() => Int, { description: 'Expired partitions that are kept until their archive is complete.' })
  pending!: number;

  @Field(() => Int, { description: 'Files that were compared with the log and recorded.' })
  files!: number;

  @Field(() => DateTime, { nullable: true, description: 'When a file was last recorded.' })
  archivedAt!: Date | null;
}

/** Health of the whole gateway. */
@ObjectType({ description: 'Health of the whole gateway.' })
export class SystemHealth {
  @Field(() => HealthStatus, { description: 'The worst status of all parts.' })
  status!: Status;

  @Field(() => HealthStatus, { description: 'DEGRADED if the database answers slowly.' })
  database!: Status;

  @Field(() => HealthStatus, {
    description: 'Status of the nodes that have started and are not retired; UNKNOWN before the first one.',
  })
  dataPlane!: Status;

  @Field(() => HealthStatus, {
    description: 'Status of the card processor; UNKNOWN if payments by card are not offered.',
  })
  paymentProvider!: Status;

  @Field(() => HealthStatus, {
    description:
      'Status of the blockchains: DEGRADED if one is frozen or cannot be read; UNKNOWN if none is watched.',
  })
  chains!: Status;

  @Field(() => HealthStatus, {
    description:
      'Status of Personal Intelligence: DEGRADED if chats could not be read, or the oldest is overdue ' +
      'for more than 10 minutes; UNKNOWN while no model reads chats.',
  })
  personalIntelligence!: Status;

  @Field(() => Int, {
    description: 'Usage records of the last 24 hours that were rejected, late or written off; 0 is healthy.',
  })
  settlementAlarms24h!: number;

  @Field(() => SecretsHealth, { description: 'Secrets that are encrypted under SECRET_KEY.' })
  secrets!: SecretsHealth;

  @Field(() => UsageArchiveHealth, { description: 'The archive of the usage log.' })
  usageArchive!: UsageArchiveHealth;

  @Field(() => [DataPlaneNode], { description: 'All nodes, sorted by name.' })
  nodes!: DataPlaneNode[];

  @Field(() => [ScheduledJob], { description: 'All scheduled jobs with their last runs.' })
  jobs!: ScheduledJob[];
}

/** The health field of administrators. */
@Resolver(() => AdminQuery)
export class SystemHealthResolver {
  @FieldResolver(() => SystemHealth, { description: 'Health of the whole gateway.' })
  async systemHealth(@Ctx() { em, settings }: Context): Promise<SystemHealth> {
    const startedAt = performance.now();
    const row = await queryOne<{ count: number }>(
      em,
      sql`select count(*)::integer as count from settlement_alarm where at > now() - interval '24 hours'`,
    );
    const database = performance.now() - startedAt > DATABASE_SLOW_MS ? 'DEGRADED' : 'OK';
    const settlementAlarms24h = row?.count ?? 0;
    const nodes = await listNodes(em);
    const jobs = await listJobs(em, JOB_NAMES);
    const isFailing = jobs.some(({ lastError }) => lastError !== null);
    const dataPlane = dataPlaneStatus(nodes);
    const paymentProvider = await processorHealth(em);
    const chains = await chainsHealth(em);
    const secrets = await secretsHealth(em);
    const personalIntelligence = await intelligenceHealth(em);
    // Requests are served while payments are down, and while no chats are read.
    const areWorking = [paymentProvider, chains, personalIntelligence].every(
      (part) => part === 'OK' || part === 'UNKNOWN',
    );
    const status = worst([
      database,
      dataPlane,
      settlementAlarms24h > 0 || isFailing || !areWorking || secrets.unreadable > 0 ? 'DEGRADED' : 'OK',
    ]);
    const usageArchive = await archiveHealth(em, settings, jobs);
    const others = { paymentProvider, chains, personalIntelligence, usageArchive };
    return { status, database, dataPlane, ...others, secrets, settlementAlarms24h, nodes, jobs };
  }
}

async function secretsHealth(em: Context['em']): Promise<SecretsHealth> {
  const found = await secretKeyProgress(em);
  if (!found) return { status: 'UNKNOWN', total: 0, remaining: 0, unreadable: 0, checkedAt: null };
  const { total, moved, left, unreadable, checkedAt } = found;
  // The next pass confirms the rows that this pass has moved.
  const remaining = moved + left;
  const status = unreadable > 0 ? 'DEGRADED' : 'OK';
  return { status, total, remaining, unreadable, checkedAt: new Date(checkedAt) };
}

/**
 * UNKNOWN before the first node starts; DOWN if no node serves; DEGRADED if a node does not serve or lags
 * behind; OK otherwise. Retired nodes are ignored.
 */
export function dataPlaneStatus(nodes: readonly Pick<NodeView, 'state' | 'retired'>[]): Status {
  const started = nodes.filter(({ state }) => state !== 'JOINING');
  if (started.length === 0) return 'UNKNOWN';
  const serving = started.filter(({ state }) => state === 'IN_SYNC' || state === 'LAGGING');
  if (serving.length === 0) return 'DOWN';
  return started.every(({ state, retired }) => retired || state === 'IN_SYNC') ? 'OK' : 'DEGRADED';
}

function worst(states: readonly Status[]): Status {
  const order: readonly Status[] = ['DOWN', 'DEGRADED', 'UNKNOWN', 'OK'];
  return order.find((status) => states.includes(status)) ?? 'UNKNOWN';
}
