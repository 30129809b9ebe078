/** How the whole gateway does, for administrators and their monitoring. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import type { Context } from '../context.ts';
import { HealthStatus } from '../enums.ts';
import { listJobs } from '../jobs.ts';
import { DateTime } from '../scalars.ts';
import { queryOne, sql } from '../sql.ts';
import { JOB_NAMES } from './job-list.ts';
import { listNodes } from './node.service.ts';
import type { NodeView } from './node.service.ts';
import { DataPlaneNode } from './node.types.ts';

type Status = keyof typeof HealthStatus;

/** A database that takes longer for a trivial question is slow, in ms. */
const DATABASE_SLOW_MS = 500;

/** Work that control planes do again and again beside requests. */
@ObjectType({
  description:
    'Work that control planes do again and again beside requests. All is null before its first run.',
})
export class ScheduledJob {
  @Field(() => String, { description: 'What it looks after.' })
  name!: string;

  @Field(() => DateTime, { nullable: true, description: 'When its last run began.' })
  lastRunAt!: Date | null;

  @Field(() => Int, { nullable: true, description: 'How long that took, in ms.' })
  lastDurationMs!: number | null;

  @Field(() => String, { nullable: true, description: 'Why that run failed; null where it ended well.' })
  lastError!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When a run failed last.' })
  lastFailedAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the process that ran it runs it again; others may do so sooner.',
  })
  nextRunAt!: Date | null;
}

/** How the whole gateway does. */
@ObjectType({ description: 'How the whole gateway does.' })
export class SystemHealth {
  @Field(() => HealthStatus, { description: 'The worst of all parts.' })
  status!: Status;

  @Field(() => HealthStatus, { description: 'Whether the database answers in good time.' })
  database!: Status;

  @Field(() => HealthStatus, {
    description: 'Whether every node serves that ever started and did not retire.',
  })
  dataPlane!: Status;

  @Field(() => Int, {
    description:
      'Records of nodes in the last day that did not settle as they should have; 0 when all is well.',
  })
  settlementAlarms24h!: number;

  @Field(() => [DataPlaneNode], { description: 'All nodes, by name.' })
  nodes!: DataPlaneNode[];

  @Field(() => [ScheduledJob], { description: 'Work beside requests, and how it went last.' })
  jobs!: ScheduledJob[];
}

/** What monitoring asks for. */
@Resolver(() => AdminQuery)
export class SystemHealthResolver {
  @FieldResolver(() => SystemHealth, { description: 'How the whole gateway does.' })
  async systemHealth(@Ctx() { em }: Context): Promise<SystemHealth> {
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
    const status = worst([database, dataPlane, settlementAlarms24h > 0 || isFailing ? 'DEGRADED' : 'OK']);
    return { status, database, dataPlane, settlementAlarms24h, nodes, jobs };
  }
}

/**
 * UNKNOWN before the first node starts; DOWN when none serves; DEGRADED when some do not, or lag behind. A
 * node that retired is not missed.
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
