/** Figures of the whole installation as metrics: nodes, reserved money, and the age of background jobs. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge } from 'prom-client';
import { query, queryOne, sql } from './database/sql.ts';
import { listNodes } from './nodes/node.service.ts';
import { registry } from './process/metrics.ts';

const nodes = new Gauge({
  name: 'gateway_nodes',
  help: 'Nodes by state; retired ones are drained and offline.',
  labelNames: ['state'],
  registers: [registry],
});
const reserved = new Gauge({
  name: 'gateway_reserved_usd',
  help: 'Credit of wallets that open leases hold, in USD.',
  registers: [registry],
});
const jobAge = new Gauge({
  name: 'gateway_job_age_seconds',
  help: 'Time since the last run of a background job began on any control plane.',
  labelNames: ['name'],
  registers: [registry],
});

const STATES = ['joining', 'in_sync', 'lagging', 'draining', 'offline', 'retired'];

/** Reads the figures from the database. They are as old as the last call. */
export async function readFigures(em: EntityManager): Promise<void> {
  const counts = new Map(STATES.map((state) => [state, 0]));
  for (const { state, retired } of await listNodes(em)) {
    const name = retired ? 'retired' : state.toLowerCase();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const [state, count] of counts) nodes.set({ state }, count);
  const leased = await queryOne<{ sum: string }>(
    em,
    sql`select coalesce(sum(a.balance), 0)::text as sum from wallet_lease l
      join ledger_account a on a.lease_id = l.id where l.state in ('ACTIVE', 'ORPHANED')`,
  );
  reserved.set(Number(leased?.sum ?? 0) / 1e6);
  const jobs = await query<{ name: string; age: number }>(
    em,
    sql`select name, extract(epoch from clock_timestamp() - started_at)::float8 as age from scheduled_job`,
  );
  for (const { name, age } of jobs) jobAge.set({ name }, age);
}
