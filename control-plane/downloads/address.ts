/** Addresses of downloads: encodes filters of the API's lists into a query string, and decodes them. */
import { AMOUNT_MAX, formatDollars, parseDollars } from '@gateway/shared/money';
import { requestError } from '../graphql/errors.ts';
import { UsageSourceEnum, UsageStatusEnum } from '../usage/usage.types.ts';
import type { UsageConditions } from '../usage/usage.service.ts';
import { LedgerKind } from '../wallet/wallet.types.ts';
import type { TableFormat } from './csv.ts';

type Table = 'usage' | 'ledger';

/** A table with its format, owner and filters. */
export interface Download {
  table: Table;
  format: TableFormat;
  /** Owner of the rows; undefined for the caller, null for all users (administrators only). */
  userId: string | null | undefined;
  range: { from: Date; to: Date } | null;
  kinds: LedgerKind[] | null;
  usage: UsageConditions;
}

const NAME = /^(usage|ledger)\.(csv|jsonl)$/;
const VALUES_MAX = 100;
const VALUE_LENGTH_MAX = 256;
/** The range of RFC 3339, which PostgreSQL supports. */
const BEGINNING = new Date('0001-01-01T00:00:00Z');
const END = new Date('9999-12-31T23:59:59.999Z');
const ALL_USERS = 'all';

/** The path and query of a download, relative to the console's address. */
export function downloadPath(download: Download): string {
  const { table, format, userId, range, kinds, usage } = download;
  const query = new URLSearchParams();
  const put = (name: string, values: readonly (string | null | undefined)[]): void => {
    for (const value of values) if (value) query.append(name, value);
  };
  put('user', [userId === null ? ALL_USERS : userId]);
  put('from', [range?.from.toISOString()]);
  put('to', [range?.to.toISOString()]);
  put('kind', kinds ?? []);
  put('model', usage.modelNames ?? []);
  put('key', usage.keyIds ?? []);
  put('pool', usage.poolIds ?? []);
  put('source', usage.sources ?? []);
  put('status', usage.statuses ?? []);
  put('request', [usage.requestId]);
  put('ip', [usage.ip]);
  put('minCost', [usage.minCost ? formatDollars(usage.minCost) : null]);
  const text = query.toString();
  return `/export/${table}.${format}${text && `?${text}`}`;
}

/**
 * Decodes the file name and query of a download; undefined for an unknown name. Throws BAD_USER_INPUT for an
 * unknown or invalid parameter, because ignoring a filter would return too many rows.
 */
export function readDownload(name: string, query: URLSearchParams): Download | undefined {
  const [, table, format] = NAME.exec(name) ?? [];
  if (!table || !format) return undefined;
  const reader = new Reader(query);
  const user = reader.one('user');
  const download: Download = {
    table: table === 'usage' ? 'usage' : 'ledger',
    format: format === 'csv' ? 'csv' : 'jsonl',
    userId: user === ALL_USERS ? null : (user ?? undefined),
    range: reader.range(),
    kinds: table === 'ledger' ? reader.members('kind', LedgerKind) : null,
    usage: table === 'usage' ? usageOf(reader) : {},
  };
  reader.finish();
  return download;
}

function usageOf(reader: Reader): UsageConditions {
  return {
    modelNames: reader.many('model'),
    keyIds: reader.many('key'),
    poolIds: reader.many('pool'),
    sources: reader.members('source', UsageSourceEnum),
    statuses: reader.members('status', UsageStatusEnum),
    requestId: reader.one('request'),
    ip: reader.one('ip'),
    minCost: reader.amount('minCost'),
  };
}

/** Reads parameters of a query, and remembers which names were read. */
class Reader {
  readonly #query: URLSearchParams;
  readonly #known = new Set<string>();

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  many(name: string): string[] | null {
    this.#known.add(name);
    const values = this.#query.getAll(name);
    if (values.length > VALUES_MAX || values.some((value) => !value || value.length > VALUE_LENGTH_MAX))
      throw refusal(name, `at most ${VALUES_MAX} values of 1 to ${VALUE_LENGTH_MAX} characters`);
    return values.length > 0 ? values : null;
  }

  one(name: string): string | null {
    const values = this.many(name) ?? [];
    if (values.length > 1) throw refusal(name, 'one value');
    return values[0] ?? null;
  }

  members<T extends string>(name: string, of: Readonly<Record<T, unknown>>): T[] | null {
    const values = this.many(name);
    const isMember = (value: string): value is T => Object.hasOwn(of, value);
    return (
      values?.map((value) => {
        if (!isMember(value)) throw refusal(name, `one of ${Object.keys(of).join(', ')}`);
        return value;
      }) ?? null
    );
  }

  amount(name: string): bigint | null {
    const text = this.one(name);
    if (text === null) return null;
    const amount = parseDollars(text);
    if (amount === undefined || amount < 0n || amount > AMOUNT_MAX)
      throw refusal(name, 'an amount in dollars such as 0.25');
    return amount;
  }

  range(): { from: Date; to: Date } | null {
    const [from, to] = [this.#time('from'), this.#time('to')];
    if (!from && !to) return null;
    const range = { from: from ?? BEGINNING, to: to ?? END };
    if (range.from >= range.to) throw refusal('to', 'a time after `from`');
    return range;
  }

  /** Throws BAD_USER_INPUT for a parameter that was not read. */
  finish(): void {
    const unknown = [...this.#query.keys()].find((name) => !this.#known.has(name));
    if (unknown === undefined) return;
    const name = unknown.slice(0, VALUE_LENGTH_MAX);
    throw requestError('BAD_USER_INPUT', `The parameter ${name} is not supported here. Remove it.`);
  }

  #time(name: string): Date | null {
    const text = this.one(name);
    if (text === null) return null;
    const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : undefined;
    if (!time || Number.isNaN(time.getTime())) throw refusal(name, 'a time such as 2026-11-01T00:00:00Z');
    return time;
  }
}

function refusal(name: string, wanted: string): Error {
  return requestError('BAD_USER_INPUT', `The parameter ${name} must be ${wanted}.`);
}
