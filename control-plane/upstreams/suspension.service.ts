/**
 * Credentials and routes as nodes report them: last use, last failure, and until when at least one node
 * suspends the credential or ejects the route.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CREDENTIALS_MAX, ROUTES_MAX } from '@gateway/shared/upstream-health';
import type { CredentialReport, Fault, RouteReport } from '@gateway/shared/upstream-health';
import { query, sql, toDate } from '../database/sql.ts';

/** The reports of a node. Nodes of earlier releases send fewer members. */
export interface SuspensionReports {
  credentials?: readonly ReceivedCredential[] | null;
  routes?: readonly RouteReport[] | null;
}

type ReceivedCredential = Pick<CredentialReport, 'credentialId' | 'usedMsAgo'> & {
  [Name in Exclude<keyof CredentialReport, 'credentialId' | 'usedMsAgo'>]?:
    | CredentialReport[Name]
    | undefined;
};

/** Stores the reports of a node about its credentials. Ignores deleted ones. */
export async function recordCredentials(
  em: EntityManager,
  received: readonly ReceivedCredential[],
): Promise<void> {
  const reports = lastOfEach(received.slice(0, CREDENTIALS_MAX), ({ credentialId }) => credentialId);
  if (reports.length === 0) return;
  const ages = reports.map(({ usedMsAgo }) => Math.max(0, usedMsAgo));
  const errorAges = reports.map(({ lastError = null, lastErrorMsAgo = null }) =>
    lastError === null || lastErrorMsAgo === null ? null : Math.max(0, lastErrorMsAgo),
  );
  const errors = reports.map(({ lastError }, index) =>
    errorAges[index] === null ? null : (lastError ?? null),
  );
  const suspended = reports.map(({ suspendedMs }) => suspendedMs ?? null);
  const spent = reports.map(({ spentMs }) => spentMs ?? null);
  await query(
    em,
    sql`
    insert into credential_use as c (credential_id, last_used_at, last_error, last_error_at, suspended_until,
      spent_until)
    select k.id, clock_timestamp() - u.age * interval '1 millisecond', u.error,
      clock_timestamp() - u.error_age * interval '1 millisecond',
      clock_timestamp() + u.suspended * interval '1 millisecond',
      clock_timestamp() + u.spent * interval '1 millisecond'
    from unnest(${reports.map(({ credentialId }) => credentialId)}::text[], ${ages}::bigint[],
      ${errors}::text[], ${errorAges}::bigint[], ${suspended}::bigint[], ${spent}::bigint[])
      as u (id, age, error, error_age, suspended, spent)
    join credential k on k.id = u.id order by k.id for key share of k
    on conflict (credential_id) do update set
      last_used_at = greatest(c.last_used_at, excluded.last_used_at),
      last_error = case when excluded.last_error_at > coalesce(c.last_error_at, '-infinity')
        then excluded.last_error else c.last_error end,
      last_error_at = greatest(c.last_error_at, excluded.last_error_at),
      suspended_until = greatest(c.suspended_until, excluded.suspended_until),
      spent_until = greatest(c.spent_until, excluded.spent_until)`,
  );
}

/** Stores until when a node ejects its failing routes. Ignores deleted ones. */
export async function recordRoutes(em: EntityManager, received: readonly RouteReport[]): Promise<void> {
  const reports = lastOfEach(received.slice(0, ROUTES_MAX), ({ routeId }) => routeId);
  if (reports.length === 0) return;
  await query(
    em,
    sql`
    insert into route_circuit as c (route_id, open_until)
    select r.id, clock_timestamp() + u.open * interval '1 millisecond'
    from unnest(${reports.map(({ routeId }) => routeId)}::text[],
      ${reports.map(({ openMs }) => Math.max(0, openMs))}::bigint[]) as u (id, open)
    join route r on r.id = u.id order by r.id for key share of r
    on conflict (route_id) do update set open_until = greatest(c.open_until, excluded.open_until)`,
  );
}

/** Last use and last failure of a credential, and until when nodes suspend it; null for not at all. */
export interface CredentialUse {
  lastUsedAt: Date;
  lastError: Fault | null;
  lastErrorAt: Date | null;
  suspendedUntil: Date | null;
  spentUntil: Date | null;
}

interface UseRow {
  id: string;
  usedAt: string;
  lastError: Fault | null;
  failedAt: string | null;
  suspendedUntil: string | null;
  spentUntil: string | null;
}

/** The use of each credential. Unused ones are missing. */
export async function usesOfCredentials(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CredentialUse>> {
  const rows = await query<UseRow>(
    em,
    sql`select credential_id as id, last_used_at as "usedAt", last_error as "lastError",
      last_error_at as "failedAt",
      case when suspended_until > clock_timestamp() then suspended_until end as "suspendedUntil",
      case when spent_until > clock_timestamp() then spent_until end as "spentUntil"
      from credential_use where credential_id = any(${[...ids]}::text[])`,
  );
  return new Map(
    rows.map(({ id, usedAt, lastError, failedAt, suspendedUntil, spentUntil }) => [
      id,
      {
        lastUsedAt: toDate(usedAt),
        lastError,
        lastErrorAt: dateOf(failedAt),
        suspendedUntil: dateOf(suspendedUntil),
        spentUntil: dateOf(spentUntil),
      },
    ]),
  );
}

/** Until when at least one node ejects each route. Routes that all nodes use are missing. */
export async function openRoutes(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await query<{ id: string; until: string }>(
    em,
    sql`select route_id as id, open_until as until from route_circuit
      where route_id = any(${[...ids]}::text[]) and open_until > clock_timestamp()`,
  );
  return new Map(rows.map(({ id, until }) => [id, toDate(until)]));
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : toDate(text);
}

/** The last report of each id. */
export function lastOfEach<Report>(reports: readonly Report[], idOf: (report: Report) => string): Report[] {
  return [...new Map(reports.map((report) => [idOf(report), report])).values()];
}
