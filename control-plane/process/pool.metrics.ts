/** The connections to the database, as metrics. */
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import { registry } from './metrics.ts';

/** The pools of this process that are open. */
const pools = new Set<Pool>();

new Gauge({
  name: 'gateway_database_connections',
  help: 'Connections to the database by state; waiting: statements that wait for a connection.',
  labelNames: ['state'],
  registers: [registry],
  collect() {
    for (const pool of pools) if (pool.ended) pools.delete(pool);
    const sum = (count: (pool: Pool) => number): number =>
      [...pools].reduce((total, pool) => total + count(pool), 0);
    this.set(
      { state: 'idle' },
      sum(({ idleCount }) => idleCount),
    );
    this.set(
      { state: 'busy' },
      sum(({ idleCount, totalCount }) => totalCount - idleCount),
    );
    this.set(
      { state: 'waiting' },
      sum(({ waitingCount }) => waitingCount),
    );
  },
});

/** Counts the connections of this pool until the pool ends. */
export function showPool(pool: Pool): void {
  pools.add(pool);
}
