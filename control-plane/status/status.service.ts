/** The public status: uptime of models and families, and incidents. One read serves all callers. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { FAMILIES } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import { isDatabaseAway } from '../database/away.ts';
import { query, sql, toDate } from '../database/sql.ts';
import { publicIncidents } from './incident.service.ts';
import type { Incident } from './incident.service.ts';
import { firstDay, meanUptime, shareText, uptimeOfDays } from './uptime.rules.ts';
import type { UptimeDay } from './uptime.rules.ts';

/** How long a status is given to all callers before it is read again, in ms. */
const STATUS_CACHE_MS = 30_000;
/** How long a status is kept after a failed read, in ms. */
const RETRY_MS = 5000;

/** Uptime of a model or family. Shares have four decimals, 0 to 1; null without enough data. */
export interface Uptime {
  share: string | null;
  /** The last 90 days, oldest first and today last. */
  days: (string | null)[];
}

/** The status as everybody sees it. */
export interface StatusView {
  /** When it was read. */
  asOf: Date;
  /** Start of the first day, in UTC. */
  from: Date;
  models: (Uptime & { name: string })[];
  families: (Uptime & { family: Family })[];
  incidents: Incident[];
}

/** Reads the status once for all callers of `STATUS_CACHE_MS`. */
class StatusReader {
  #until = 0;
  #last: StatusView | undefined;
  #reading: Promise<StatusView> | undefined;

  read(em: EntityManager): Promise<StatusView> {
    if (this.#last && Date.now() < this.#until) return Promise.resolve(this.#last);
    if (this.#reading) return this.#reading;
    const reading: Promise<StatusView> = this.#renew(em, () => this.#reading === reading).finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  /** Makes the next call read again. A read in progress began before the change and is not kept. */
  forget(): void {
    this.#until = 0;
    this.#reading = undefined;
  }

  /** While the database is away, the last status is better than none. */
  async #renew(em: EntityManager, isCurrent: () => boolean): Promise<StatusView> {
    const keep = (view: StatusView, ms: number): StatusView => {
      if (!isCurrent()) return view;
      this.#last = view;
      this.#until = Date.now() + ms;
      return view;
    };
    try {
      return keep(await readStatus(em.fork(), new Date()), STATUS_CACHE_MS);
    } catch (error) {
      if (!this.#last || !isDatabaseAway(error)) throw error;
      return keep(this.#last, RETRY_MS);
    }
  }
}

/** One reader per database connection. */
const readers = new WeakMap<object, StatusReader>();

function readerOf(em: EntityManager): StatusReader {
  const database = em.getDriver();
  const reader = readers.get(database) ?? new StatusReader();
  readers.set(database, reader);
  return reader;
}

/**
 * The status, at most `STATUS_CACHE_MS` old; while the database is away, the last one that this process
 * read. Throws if there is none.
 */
export function statusOf(em: EntityManager): Promise<StatusView> {
  return readerOf(em).read(em);
}

/** Makes the next call read the status again in this process, after an incident was changed. */
export function forgetStatus(em: EntityManager): void {
  readerOf(em).forget();
}

/** Reads the status from the database. */
export async function readStatus(em: EntityManager, now: Date): Promise<StatusView> {
  const from = firstDay(now);
  const models = await query<{ name: string; families: Family[] }>(
    em,
    sql`select name, families from model where state in ('PUBLISHED', 'DEPRECATED')
      order by position, name`,
  );
  const sums = await readSums(em, from);
  const byModel = Map.groupBy(sums, ({ modelName }) => modelName);
  const byFamily = Map.groupBy(sums, ({ family }) => family);
  const offered = new Set(models.flatMap(({ families }) => families));
  return {
    asOf: now,
    from,
    models: models.map(({ name }) => ({ name, ...viewOf(byModel.get(name) ?? [], now) })),
    families: FAMILIES.filter((family) => offered.has(family)).map((family) => ({
      family,
      ...viewOf(byFamily.get(family) ?? [], now),
    })),
    incidents: await publicIncidents(em),
  };
}

function viewOf(sums: readonly UptimeDay[], now: Date): Uptime {
  const days = uptimeOfDays(sums, now);
  const share = meanUptime(days);
  return { share: textOf(share), days: days.map(textOf) };
}

function textOf(share: number | null): string | null {
  return share === null ? null : shareText(share);
}

type SumRow = UptimeDay & { modelName: string; family: string };

/** Sums by day, model and family. */
async function readSums(em: EntityManager, from: Date): Promise<SumRow[]> {
  const rows = await query<Record<'day' | 'modelName' | 'family' | 'customers' | CountName, string>>(
    em,
    sql`
    select date_trunc('day', hour, 'UTC') as day, model_name as "modelName", family,
      sum(served) as served, sum(failed) as failed, bit_or(customers)::text as customers,
      sum(checks_up) as "checksUp", sum(checks_down) as "checksDown"
    from uptime_hour where hour >= ${from} group by 1, 2, 3`,
  );
  return rows.map(({ day, modelName, family, customers, ...counts }) => ({
    day: toDate(day),
    modelName,
    family,
    customers: BigInt(customers),
    served: Number(counts.served),
    failed: Number(counts.failed),
    checksUp: Number(counts.checksUp),
    checksDown: Number(counts.checksDown),
  }));
}

type CountName = 'served' | 'failed' | 'checksUp' | 'checksDown';
