/**
 * The hourly API budget of an account, or of an address without account. It counts the cost of operations,
 * not requests. The budget is stored in the database. Each process takes slices of it in advance and spends
 * them without queries. The processes together never spend more than the budget. A process loses the rest of
 * a slice if the caller is inactive for `SLICE_MS`.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { requestError } from '../graphql/errors.ts';
import { networkOf } from '../process/network.ts';
import { query, queryOne, sql } from '../database/sql.ts';

/** An operation's cost and the budget after it. */
export interface BudgetState {
  cost: number;
  limit: number;
  remaining: number;
  /** Time at which the budget is full again if the caller sends no more operations. */
  resetAt: Date;
}

interface Caller {
  viewer: { id: string } | null;
  node: unknown;
  ip: string | null;
}

interface BudgetParts {
  em: () => EntityManager;
  /** Budget of an account per hour. */
  hourly: number;
  /** A monotonic clock in ms. */
  now?: () => number;
}

/** Callers without an account share the budget of their address, which is a quarter of an account's. */
const ANONYMOUS_DIVISOR = 4;
/** A slice is a fortieth of a budget. */
const SLICE_DIVISOR = 40;
/** Time without an operation after which a slice expires, in ms, so that inactive callers take no memory. */
const SLICE_MS = 60_000;
/** Longest time for which a refusal is repeated without a query, in ms. */
const REFUSAL_MS = 5000;
/** Slices that a process keeps. */
const SLICES_MAX = 20_000;
const HOUR_SECONDS = 3600;
const HOUR_MS = HOUR_SECONDS * 1000;
/** Budgets without use for this long are full, and their rows are deleted. */
const PRUNE_HOURS = 2;

interface Slice {
  left: number;
  /** Budget that was left in the database after this slice was taken. */
  inDatabase: number;
  /** Time at which the slice expires. */
  until: number;
  /** The last refused cost. Until `until`, this cost and every higher one is refused without a query. */
  refused?: { cost: number; until: number };
}

/** Charges operations to budgets. */
export class Budget {
  readonly #parts: BudgetParts;
  readonly #slices = new Map<string, Slice>();

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /**
   * Charges the cost to the caller's budget, and returns the result; null for nodes, which have no budget.
   * Rejects with RATE_LIMITED and `retryAfterMs`, without charging, if the budget is too low.
   */
  async charge(caller: Caller, cost: number): Promise<BudgetState | null> {
    if (caller.node && !caller.viewer) return null;
    const limit = Math.max(1, Math.floor(this.#parts.hourly / (caller.viewer ? 1 : ANONYMOUS_DIVISOR)));
    const subject = subjectOf(caller);
    const known = this.#sliceOf(subject);
    const isDecided = known && (known.left >= cost || this.#isRefused(known, cost));
    const slice = isDecided ? known : await this.#take(subject, limit, cost);
    const remaining = slice.left + slice.inDatabase;
    if (slice.left < cost) {
      const waitMs = Math.min(REFUSAL_MS, ((cost - remaining) / limit) * HOUR_MS);
      if (!isDecided) slice.refused = { cost, until: this.#now() + waitMs };
      throw exhausted({ cost, limit, remaining });
    }
    slice.left -= cost;
    this.#keep(subject, slice);
    return stateOf({ cost, limit, remaining: slice.left + slice.inDatabase });
  }

  #isRefused({ refused }: Slice, cost: number): boolean {
    return refused !== undefined && cost >= refused.cost && refused.until > this.#now();
  }

  #sliceOf(subject: string): Slice | undefined {
    const slice = this.#slices.get(subject);
    return slice && slice.until > this.#now() ? slice : undefined;
  }

  /**
   * Fills the caller's slice to at least the cost, or adds nothing if the budget in the database is too low
   * for that.
   */
  async #take(subject: string, limit: number, cost: number): Promise<Slice> {
    const missing = cost - (this.#sliceOf(subject)?.left ?? 0);
    const row = await queryOne<{ taken: number; available: number }>(
      this.#parts.em(),
      sql`select taken, available from query_budget_take(${subject}, ${missing},
        ${Math.ceil(limit / SLICE_DIVISOR)}, ${limit}, ${limit / HOUR_SECONDS}::double precision)`,
    );
    if (!row) throw new Error('query_budget_take returned nothing.');
    const left = (this.#sliceOf(subject)?.left ?? 0) + row.taken;
    const slice = { left, inDatabase: row.available, until: 0 };
    this.#keep(subject, slice);
    this.#evict();
    return slice;
  }

  /** Keeps the slice for `SLICE_MS` from now on, behind all others in the map. */
  #keep(subject: string, slice: Slice): void {
    slice.until = this.#now() + SLICE_MS;
    this.#slices.delete(subject);
    this.#slices.set(subject, slice);
  }

  /** Deletes expired slices, and beyond the limit those whose last use is longest ago: they are first. */
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

/** Deletes the rows of budgets that are full again. */
export async function pruneBudgets(em: EntityManager): Promise<void> {
  await query(em, sql`delete from query_budget where at < now() - ${PRUNE_HOURS} * interval '1 hour'`);
}

/** The RateLimit headers of draft-ietf-httpapi-ratelimit-headers-11. */
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

type Charge = Omit<BudgetState, 'resetAt'>;

function stateOf({ cost, limit, remaining }: Charge): BudgetState {
  const missing = Math.max(0, limit - remaining);
  const resetAt = new Date(Date.now() + (missing / limit) * HOUR_MS);
  return { cost, limit, remaining: Math.max(0, Math.floor(remaining)), resetAt };
}

function exhausted({ cost, limit, remaining }: Charge): Error {
  const waitSeconds = Math.max(1, Math.ceil(((cost - remaining) / limit) * HOUR_SECONDS));
  return requestError(
    'RATE_LIMITED',
    `This operation costs ${cost}, but ${Math.floor(remaining)} of your hourly ${limit} are left. ` +
      `Try again in ${waitSeconds} s.`,
    { retryAfterMs: waitSeconds * 1000, cost, limit, http: tooMany(waitSeconds) },
  );
}

function tooMany(waitSeconds: number): { status: number; headers: Map<string, string> } {
  return { status: 429, headers: new Map([['retry-after', String(waitSeconds)]]) };
}
