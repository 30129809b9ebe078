/**
 * Answers questions to the usage log from ClickHouse, and from PostgreSQL if ClickHouse is away, slow, being
 * filled or far behind. Lists and their counts have every settled request: PostgreSQL adds those that
 * ClickHouse may lack. Sums are as old as `asOf`.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryRow, sql, toDate } from '../database/sql.ts';
import { storableIp } from '../usage/settlement.rules.ts';
import { ofWallet } from '../usage/usage.service.ts';
import type { UsageConditions, WalletConditions } from '../usage/usage.service.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';
import type { UsageReader } from '../usage/usage.reader.ts';
import { hoursIn } from '../usage/timing.service.ts';
import { conditionsOf } from './conditions.ts';
import type { ChConditions } from './conditions.ts';
import { answers, reasonOf } from './export.metrics.ts';
import { integerIn } from './fields.ts';
import { findEntries } from './found.ts';
import type { NewestPage } from './found.ts';
import { setsIn } from './sets.ts';
import { readState } from './state.ts';
import type { ExportState } from './state.ts';
import { ch, tableOf } from './statement.ts';
import { isPostgresTime } from './times.ts';
import { timingsIn } from './timings.ts';
import type { ClickHouseStore } from './store.ts';

/** If ClickHouse lacks requests that are older, PostgreSQL answers. */
const BEHIND_SECONDS_MAX = 60;
/** After a failure PostgreSQL answers for this time without asking ClickHouse. */
const REST_MS = 15_000;
/** Times before the first and after the last request. */
const FIRST = new Date(0);
const LAST = new Date(Date.UTC(9999, 0));

type Page = Parameters<UsageReader['page']>[2];

type Log = ((line: Record<string, unknown>) => void) | undefined;

/** A question to ClickHouse: its conditions and the table. */
interface Source {
  em: EntityManager;
  table: string;
  conditions: ChConditions;
  state: ExportState;
}

/** The reader. One per process, because it remembers failures. */
export class ClickHouseUsage implements UsageReader {
  readonly #store: ClickHouseStore;
  readonly #now: () => number;
  readonly #log: Log;
  #restsUntilMs = -Infinity;

  /** `now` is the time in ms since any fixed moment; it never goes back. */
  constructor(store: ClickHouseStore, now: () => number = () => performance.now(), log?: Log) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
  }

  page: UsageReader['page'] = (em, conditions, page) =>
    this.#ask(em, conditions, {
      ours: (source) => this.#page(source, conditions, page),
      theirs: () => POSTGRES_USAGE.page(em, conditions, page),
    });

  count: UsageReader['count'] = (em, conditions) =>
    this.#ask(em, conditions, {
      ours: (source) => this.#count(source, conditions),
      theirs: () => POSTGRES_USAGE.count(em, conditions),
    });

  lines: UsageReader['lines'] = (em, conditions, page) =>
    this.#ask(em, conditions, {
      ours: (source) => this.#lines(source, conditions, page),
      theirs: () => POSTGRES_USAGE.lines(em, conditions, page),
    });

  sets: UsageReader['sets'] = (em, span, request) =>
    this.#ask(
      em,
      { ...span.conditions, range: span.range },
      {
        ours: async ({ state, table, conditions }) => {
          const asOf = new Date(Date.now() - state.behindSeconds * 1000);
          return { ...(await setsIn({ em, store: this.#store, table }, conditions, request)), asOf };
        },
        theirs: () => POSTGRES_USAGE.sets(em, span, request),
      },
    );

  timings: UsageReader['timings'] = (em, span, request) => {
    const range = hoursIn(span.range);
    return this.#ask(
      em,
      { ...span.conditions, range },
      {
        ours: ({ table, conditions }) => timingsIn({ em, store: this.#store, table }, conditions, request),
        theirs: () => POSTGRES_USAGE.timings(em, span, request),
      },
    );
  };

  async #ask<Answer>(
    em: EntityManager,
    conditions: UsageConditions | WalletConditions,
    { ours, theirs }: { ours(source: Source): Promise<Answer>; theirs(): Promise<Answer> },
  ): Promise<Answer> {
    const state = this.#now() < this.#restsUntilMs ? undefined : await readState(em);
    const isResting = this.#now() < this.#restsUntilMs;
    const reason = state ? reasonAgainst(state, conditions) : isResting ? 'failed' : 'rebuilding';
    if (!state || reason) {
      answers.inc({ by: `postgresql: ${reason}` });
      return theirs();
    }
    const source = { em, state, table: state.table, conditions: await chConditionsOf(em, conditions, state) };
    try {
      const answer = await ours(source);
      answers.inc({ by: 'clickhouse' });
      return answer;
    } catch (error) {
      // If PostgreSQL fails too, the question was wrong, and ClickHouse need not rest.
      const answer = await theirs();
      this.#restsUntilMs = this.#now() + REST_MS;
      const message = 'ClickHouse did not answer a page. PostgreSQL answers all pages for some seconds.';
      this.#log?.({ level: 'warn', message, reason: reasonOf(error) });
      answers.inc({ by: 'postgresql: failed' });
      return answer;
    }
  }

  /** Recent entries from PostgreSQL, then earlier ones that ClickHouse finds. */
  async #page(
    { em, state, table, conditions: ours }: Source,
    conditions: UsageConditions,
    page: Page,
  ): ReturnType<UsageReader['page']> {
    const wanted = newestOf(page);
    if (!wanted) return POSTGRES_USAGE.page(em, conditions, page);
    const { recent, earlier } = splitAt(conditions, state.missingFromMs);
    const newer = recent ? await POSTGRES_USAGE.page(em, { ...conditions, range: recent }, page) : [];
    const limit = page.limit - newer.length;
    if (!earlier || limit === 0) return newer;
    const part = { ...ours, ...earlier };
    const question = { conditions: part, page: { ...wanted, limit }, now: new Date() };
    const found = await findEntries(this.#store, table, question);
    const rows = await POSTGRES_USAGE.page(em, { ...conditions, found }, { ...page, limit });
    return [...newer, ...whole(rows, found.ats.length)];
  }

  async #lines(
    { em, state, table, conditions: ours }: Source,
    conditions: UsageConditions,
    { after, limit }: Parameters<UsageReader['lines']>[2],
  ): ReturnType<UsageReader['lines']> {
    const { recent, earlier } = splitAt(conditions, state.missingFromMs);
    if (recent) {
      const page = await POSTGRES_USAGE.lines(em, { ...conditions, range: recent }, { after, limit });
      if (page.next || !earlier) return page;
      const rest = await this.#earlierLines({ em, table, ours: { ...ours, ...earlier } }, conditions, {
        after,
        limit,
      });
      // A page may have more rows than the limit: the next one begins after its last row.
      return { rows: [...page.rows, ...rest.rows], next: rest.next };
    }
    return this.#earlierLines({ em, table, ours }, conditions, { after, limit });
  }

  async #earlierLines(
    { em, table, ours }: { em: EntityManager; table: string; ours: ChConditions },
    conditions: UsageConditions,
    { after, limit }: Parameters<UsageReader['lines']>[2],
  ): ReturnType<UsageReader['lines']> {
    const page = { limit, after };
    const found = await findEntries(this.#store, table, { conditions: ours, page, now: new Date() });
    const lines = await POSTGRES_USAGE.lines(em, { ...conditions, found }, { after, limit });
    return { ...lines, rows: whole(lines.rows, found.ats.length) };
  }

  async #count({ em, state, table, conditions: ours }: Source, conditions: UsageConditions) {
    const { recent, earlier } = splitAt(conditions, state.missingFromMs);
    const newer = recent ? await POSTGRES_USAGE.count(em, { ...conditions, range: recent }) : 0;
    if (newer === null) return null;
    if (!earlier) return newer;
    const where = conditionsOf({ ...ours, ...earlier });
    const rows = await this.#store.rows(
      ch`select count() as found from ${tableOf(table)} final where ${where}`,
    );
    const [row] = rows;
    if (rows.length !== 1 || !row) throw new Error('ClickHouse answered a count without one row.');
    return newer + integerIn(row, 'found');
  }
}

/** The page if it holds the newest entries, or those before an entry; undefined for another order. */
function newestOf(page: Page): NewestPage | undefined {
  const { limit, after, from, backward, direction }: AnyPage = page;
  if (backward || direction === 'ASC') return undefined;
  const [at, id] = from ?? [after?.at, after?.id];
  if (typeof at !== 'string' || typeof id !== 'string') return { limit };
  // Cursors come from clients. PostgreSQL refuses those that it cannot read.
  return isPostgresTime(at) ? { limit, after: { at, id } } : undefined;
}

/** A page of a list in any order. */
interface AnyPage extends NewestPage {
  from?: readonly (string | number | null)[] | undefined;
  backward?: boolean;
  direction?: 'ASC' | 'DESC';
}

/** Why PostgreSQL has to answer; undefined if ClickHouse can. */
function reasonAgainst(
  state: ExportState,
  { requestId, range }: UsageConditions | WalletConditions,
): string | undefined {
  if (!state.isActive || !state.isComplete) return 'rebuilding';
  if (state.behindSeconds > BEHIND_SECONDS_MAX) return 'behind';
  if (requestId) return 'one request';
  // The sums of PostgreSQL keep months that the log has dropped.
  if (range && state.droppedUntil !== null && range.from < toDate(state.droppedUntil))
    return 'dropped months';
  return undefined;
}

/** The conditions with the wallet instead of the user, and an address as PostgreSQL writes it. */
async function chConditionsOf(
  em: EntityManager,
  conditions: UsageConditions | WalletConditions,
  { droppedUntil }: ExportState,
): Promise<ChConditions> {
  const { range, requestId: _, ...rest } = await ofWallet(em, conditions);
  const from = range?.from ?? (droppedUntil === null ? undefined : toDate(droppedUntil));
  const ip = rest.ip ? await addressOf(em, rest.ip) : null;
  return { ...rest, ip, ...(from && { from }), ...(range && { to: range.to }) };
}

async function addressOf(em: EntityManager, ip: string): Promise<string | null> {
  const storable = storableIp(ip);
  // A text that is no address matches no request.
  if (storable === null) return 'none';
  return (await queryRow<{ ip: string }>(em, sql`select host(${storable}::inet) as ip`)).ip;
}

interface Parts {
  recent?: { from: Date; to: Date };
  earlier?: { from?: Date; to?: Date };
}

/** The part of the range that ClickHouse may lack, and the part before, each only if it is not empty. */
function splitAt({ range }: UsageConditions, missingFromMs: number | null): Parts {
  if (missingFromMs === null) return { earlier: {} };
  const { from, to } = range ?? { from: FIRST, to: LAST };
  const at = new Date(missingFromMs);
  return {
    ...(at < to && { recent: { from: at > from ? at : from, to } }),
    ...(from < at && { earlier: { to: at < to ? at : to } }),
  };
}

/** The rows if PostgreSQL has all that ClickHouse found. Throws an Error if not. */
function whole<Row>(rows: Row[], found: number): Row[] {
  if (rows.length !== found) throw new Error('ClickHouse found entries that PostgreSQL does not show.');
  return rows;
}
