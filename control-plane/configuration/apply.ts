/** Changes the configuration to that of a file, in one transaction. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { lockPolicy } from '../accounts/policy.service.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { canonicalJson } from '../process/canonical-json.ts';
import type { Settings } from '../process/settings.ts';
import { lockSettingsRecord } from '../settings-record.ts';
import { checkBaseUrl } from '../upstreams/address-guard.ts';
import { checkedAccess } from '../upstreams/access.rules.ts';
import type { Carrier } from './carrier.ts';
import { same } from './change.ts';
import type { Change } from './change.ts';
import type { ConfigurationDocument } from './document.ts';
import { plan } from './plan.ts';
import type { Secrets } from './plan.ts';
import { DocumentError } from './shape.ts';
import { carryOut } from './steps.ts';
import { accessKey } from './steps.upstreams.ts';
import { readState } from './state.ts';
import type { State } from './state.ts';

/** A file to apply. */
export interface Application {
  document: ConfigurationDocument;
  secrets: Secrets;
  /** Reason for the audit log. */
  reason: string;
  /** Carries everything out and then rolls back, so that the same refusals are found. */
  dryRun: boolean;
  /** The state for which the caller has seen the changes; null for any. */
  expectedState: string | null;
}

/** The changes, and the state before them. */
export interface Applied {
  changes: Change[];
  /** Hash of the state; two equal states have the same one. */
  state: string;
}

/**
 * Applies a file. All changes commit together or none, and nodes see them at once. Of several calls at the
 * same time each sees the result of those before. Throws a UserFailure: INVALID for a file that is refused,
 * STALE_VERSION if the state is not the expected one, and the failures of the changes.
 */
export async function applyConfiguration(
  em: EntityManager,
  application: Application,
  by: { actor: Actor; settings: Settings },
): Promise<Applied> {
  const checked = await checkAddresses(em, application, by.settings);
  try {
    return await inTransaction(em, async (inner) => {
      await lockEverything(inner);
      const state = await readState(inner, by.settings.secretKey);
      const before = hashOf(state);
      if (application.expectedState !== null && application.expectedState !== before) throw stale();
      const changes = planned(state, application);
      await carryOut(inner, changes, { ...by, ...checked, reason: application.reason, state });
      const applied = { changes, state: before };
      if (application.dryRun) throw new RolledBack(applied);
      return applied;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.applied;
    throw error;
  }
}

/** Rolls the transaction of a dry run back. */
class RolledBack extends Error {
  readonly applied: Applied;

  constructor(applied: Applied) {
    super('The dry run is rolled back.');
    this.applied = applied;
  }
}

type Checked = Pick<Carrier, 'baseUrls' | 'accesses'>;

/**
 * The base addresses of new and moved upstreams in their stored form, and the accesses that are valid. Name
 * servers are asked here, before the transaction holds a lock. Throws INVALID.
 */
async function checkAddresses(
  em: EntityManager,
  application: Application,
  { secretKey, allowPrivateUpstreams }: Settings,
): Promise<Checked> {
  const changes = planned(await readState(em.fork(), secretKey), application);
  const [baseUrls, accesses] = [new Map<string, string>(), new Set<string>()];
  for (const { kind, before, after } of changes) {
    if (kind !== 'upstream' || !after) continue;
    const isKept = before?.baseUrl === after.baseUrl;
    const baseUrl = isKept ? after.baseUrl : await checkBaseUrl(after.baseUrl, allowPrivateUpstreams);
    baseUrls.set(after.baseUrl, baseUrl);
    const { access, protocols } = after;
    if (access && !same(before?.access, access))
      await checkedAccess(access, { protocols, baseUrl, allowPrivate: allowPrivateUpstreams });
    accesses.add(accessKey(after));
  }
  return { baseUrls, accesses };
}

function planned(state: State, { document, secrets }: Application): Change[] {
  try {
    return plan(state, document, secrets);
  } catch (error) {
    if (error instanceof DocumentError) throw new UserFailure('INVALID', error.message, 'document');
    throw error;
  }
}

/**
 * Locks all rows that a file can change, before the locks of audit log and configuration log, which each
 * change takes. Otherwise a change in the console that holds a row and waits for the audit log would be a
 * deadlock.
 */
async function lockEverything(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('configuration', 0))`);
  await lockPolicy(em);
  await query(em, sql`select 1 from storefront for no key update`);
  await query(em, sql`select 1 from payment_settings for no key update`);
  await query(em, sql`select name from group_ratio order by name for no key update`);
  await query(em, sql`select id from model order by id for no key update`);
  await query(em, sql`select id from provider order by id for no key update`);
  await query(em, sql`select id from route order by id for no key update`);
  await query(em, sql`select 1 from personal_settings for no key update`);
  await query(em, sql`select 1 from service_limits for no key update`);
  await lockSettingsRecord(em);
}

function hashOf(state: State): string {
  return digestOf(canonicalJson(state));
}

function stale(): UserFailure {
  const message = 'The configuration has changed since the changes were shown. Look at them again.';
  return new UserFailure('STALE_VERSION', message, 'expectedState');
}
