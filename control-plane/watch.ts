/**
 * The watch: how long control planes have been up and watching. It goes on by their monotonic clocks, never
 * faster than time itself and not at all while none of them runs, and no wall clock moves it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryOne, sql } from './sql.ts';

/** Whoever was stopped or without the database for longer counts no more of that, in ms. */
const STEP_MAX_MS = 60_000;

/**
 * One process's part in the watch that all control planes share. Each adds to what it read what has passed by
 * its own clock since then, so several of them count no moment twice, and a restart goes on where others are.
 */
export class Watch {
  readonly #now: () => number;
  #read: { ms: number; at: number } | undefined;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Sets the watch forward by what this process saw, and returns what it shows, in ms. */
  async advance(em: EntityManager): Promise<number> {
    const read = this.#read ?? { ms: 0, at: this.#now() };
    const passed = Math.floor(Math.min(Math.max(0, this.#now() - read.at), STEP_MAX_MS));
    // What is less than was read is another database's: it goes on from there.
    const row = await queryOne<{ ms: string }>(
      em,
      sql`update control_watch set ms = case when ms < ${read.ms}::bigint then ms
        else greatest(ms, ${read.ms + passed}::bigint) end where id = 1 returning ms`,
    );
    if (!row) throw new Error('The row of the watch is gone.');
    // Only now: what passed before the answer came may be part of what it says.
    this.#read = { ms: Number(row.ms), at: this.#now() };
    return this.#read.ms;
  }
}
