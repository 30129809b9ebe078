/**
 * The uptime clock of the cluster: for how long at least one control plane has been running, in ms. It
 * follows the processes' monotonic clocks, stands still while none runs, and ignores changes of wall clocks.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryOne, sql } from './sql.ts';

/** Maximum advance per step: after a pause of the process or database, only this much of it counts. */
const STEP_MAX_MS = 60_000;

/**
 * One process's access to the clock that all control planes share. Each process adds the time since its last
 * read to the value that it read, so that several processes count no time twice.
 */
export class UptimeClock {
  readonly #now: () => number;
  #read: { ms: number; at: number } | undefined;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Advances the clock by the time since the last call, and returns its value in ms. */
  async advance(em: EntityManager): Promise<number> {
    const read = this.#read ?? { ms: 0, at: this.#now() };
    const passed = Math.floor(Math.min(Math.max(0, this.#now() - read.at), STEP_MAX_MS));
    // A lower value than was read means a restored database: the clock goes on from the lower value.
    const row = await queryOne<{ ms: string }>(
      em,
      sql`update control_watch set ms = case when ms < ${read.ms}::bigint then ms
        else greatest(ms, ${read.ms + passed}::bigint) end where id = 1 returning ms`,
    );
    if (!row) throw new Error('The table control_watch has no row. Restore the database from a backup.');
    // Taken after the query: the returned value may include the time until the answer.
    this.#read = { ms: Number(row.ms), at: this.#now() };
    return this.#read.ms;
  }
}
