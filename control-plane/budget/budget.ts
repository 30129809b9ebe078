/**
 * What an account, or an address without one, may ask of the API in an hour, counted in the cost of its
 * operations. The budget stands in the database. A process takes a slice of it ahead and spends that without
 * asking: so two processes never give more than one budget, and waste at most a slice each.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { requestError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { query, queryOne, sql } from '../sql.ts';

/** An operation's cost and what is left after it. */
export interface BudgetState {
  cost: number;
  limit: number;
  remaining: number;
  /** When the whole budget is there again, if nothing more is asked. */
  resetAt: Date;
}

/** Who asks. */
export interface Caller {
  viewer: { id: string } | null;
  node: unknown;
  ip: string | null;
}

export interface BudgetParts {
  em: () => EntityManager;
  /** Of a signed-in account in an hour. */
  hourly: number;
  /** Milliseconds that never go back. */
  now?: () => number;
}

/** Callers without an account share what their address has: a part of an account's. */
const ANONYMOUS_PART = 4;
/** A slice is this part of a budget. */
const SLICE_PART = 40;
/** What is not spent of a slice after this time is given up, so that nothing is kept of who went away. */
const SLICE_MS = 60_000;
const SLICES_MAX = 20_000;
const HOUR_SECONDS = 3600;
/** A budget that nobody touched for this long is full. */
const FORGET_HOURS = 2;

interface Slice {
  left: number;
  /** What the database still holds, as far as this process knows. */
  behind: number;
  until: number;
}

/** The budgets, as this process sees them. */
export class Budget {
  readonly #parts: BudgetParts;
  readonly #slices = new Map<string, Slice>();

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /**
   * Takes the cost from the budget of who asks; nodes have none to keep. Rejects with RATE_LIMITED and
   * `retryAfterMs` where it is used up: then nothing is taken.
   */
  async charge(context: Caller, cost: number): Promise<BudgetState | null> {
    if (context.node && !context.viewer) return null;
    const limit = Math.max(1, Math.floor(this.#parts.hourly / (context.viewer ? 1 : ANONYMOUS_PART)));
    const subject = subjectOf(context);
    const known = this.#sliceOf(subject);
    const slice = known && known.left >= cost ? known : await this.#take(subject, limit, cost);
    if (slice.left < cost) throw exhausted({ cost, limit, remaining: slice.left + slice.behind });
    slice.left -= cost;
    return stateOf({ cost, limit, remaining: slice.left + slice.behind });
  }

  #sliceOf(subject: string): Slice | undefined {
    const slice = this.#slices.get(subject);
    return slice && slice.until > this.#now() ? slice : undefined;
  }

  /** Adds the cost at least to what is left of the slice, or nothing where the budget does not hold it. */
  async #take(subject: string, limit: number, cost: number): Promise<Slice> {
    const row = await queryOne<{ taken: number; available: number }>(
      this.#parts.em(),
      sql`select taken, available from query_budget_take(${subject}, ${cost},
        ${Math.ceil(limit / SLICE_PART)}, ${limit}, ${limit / HOUR_SECONDS}::double precision)`,
    );
    if (!row) throw new Error('query_budget_take returned nothing.');
    const left = (this.#sliceOf(subject)?.left ?? 0) + row.taken;
    const slice = { left, behind: row.available, until: this.#now() + SLICE_MS };
    this.#slices.delete(subject);
    this.#slices.set(subject, slice);
    this.#evict();
    return slice;
  }

  /** The oldest slices go first; they stand in the order in which they were taken. */
  #evict(): void {
    for (const [subject, slice] of this.#slices) {
      if (this.#slices.size <= SLICES_MAX && slice.until > this.#now()) return;
      this.#slices.delete(subject);
    }
  }

  #now(): number {
    return (this.#parts.now ?? (() => performance.now()))();
  }
}

/** Forgets budgets that are full again. */
export async function pruneBudgets(em: EntityManager): Promise<void> {
  await query(em, sql`delete from query_budget where at < now() - ${FORGET_HOURS} * interval '1 hour'`);
}

/** The headers that tell clients, as draft-ietf-httpapi-ratelimit-headers-11 writes them. */
export function budgetHeaders({ limit, remaining, resetAt }: BudgetState): Record<string, string> {
  const seconds = Math.max(0, Math.ceil((resetAt.getTime() - Date.now()) / 1000));
  return {
    'ratelimit-policy': `"queries";q=${limit};w=${HOUR_SECONDS}`,
    ratelimit: `"queries";r=${remaining};t=${seconds}`,
  };
}

function subjectOf({ viewer, ip }: Caller): string {
  return viewer ? `user:${viewer.id}` : `address:${networkOf(ip)}`;
}

interface Standing {
  cost: number;
  limit: number;
  remaining: number;
}

function stateOf({ cost, limit, remaining }: Standing): BudgetState {
  const missing = Math.max(0, limit - remaining);
  const resetAt = new Date(Date.now() + (missing / limit) * HOUR_SECONDS * 1000);
  return { cost, limit, remaining: Math.max(0, Math.floor(remaining)), resetAt };
}

function exhausted(standing: Standing): Error {
  const { cost, limit, remaining } = standing;
  const waitSeconds = Math.max(1, Math.ceil(((cost - remaining) / limit) * HOUR_SECONDS));
  return requestError(
    'RATE_LIMITED',
    `This costs ${cost}; ${Math.floor(remaining)} of ${limit} are left. Try again in ${waitSeconds} s.`,
    { retryAfterMs: waitSeconds * 1000, cost, limit, http: tooMany(waitSeconds) },
  );
}

function tooMany(waitSeconds: number): { status: number; headers: Map<string, string> } {
  return { status: 429, headers: new Map([['retry-after', String(waitSeconds)]]) };
}
