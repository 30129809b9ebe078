/** Settings of Personal Intelligence: the model that reads chats, its budget, and who may see items. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import { modelByName, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { pruneInBatches } from '../database/prune.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { releaseWaiting } from './deriving/queue.ts';

const BUDGET_MAX: Micros = 100_000_000_000n;
const PROVIDERS_MAX = 100;
/** The calendar month in UTC, as its first day. */
const MONTH: Statement = sql`date_trunc('month', now() at time zone 'UTC')::date`;

/** The settings with what was spent of the budget. */
export interface PersonalSettings {
  /** The model that reads chats; null if none was chosen, then nothing is derived. */
  modelName: string | null;
  /** Micro-USD per month, at the model's list price. */
  monthlyBudget: Micros;
  spentThisMonth: Micros;
  /** Upstreams that may see items; null for all. */
  providerIds: string[] | null;
  version: number;
}

/** Reads the settings. */
export async function personalSettings(em: EntityManager): Promise<PersonalSettings> {
  const row = await queryOne<
    Record<'monthlyBudget' | 'spent', string> & Omit<PersonalSettings, 'monthlyBudget'>
  >(
    em,
    sql`select model_name as "modelName", monthly_budget as "monthlyBudget", provider_ids as "providerIds",
        version, (select spent from personal_budget
          where month = ${MONTH}) as spent
      from personal_settings`,
  );
  if (!row) throw new Error('The settings of Personal Intelligence are missing.');
  const { modelName, providerIds, version, monthlyBudget, spent } = row;
  return {
    modelName,
    providerIds,
    version,
    monthlyBudget: BigInt(monthlyBudget),
    spentThisMonth: BigInt(spent ?? 0),
  };
}

/** A change of the settings. Fields that are left out stay. */
export interface PersonalSettingsChange {
  modelName?: string | null | undefined;
  monthlyBudget?: Micros | null | undefined;
  /** An empty list allows all upstreams. */
  providerIds?: string[] | null | undefined;
  reason: string;
}

/**
 * Changes the settings; jobs that wait for a budget or are quarantined are due. Throws INVALID,
 * MODEL_UNAVAILABLE, REQUIRED.
 */
export async function setPersonalSettings(
  em: EntityManager,
  change: PersonalSettingsChange,
  actor: Actor,
): Promise<PersonalSettings> {
  await checkChange(em, change);
  await inTransaction(em, async (inner) => {
    const before = await personalSettings(inner);
    const after = {
      modelName:
        change.modelName === undefined || change.modelName === null
          ? before.modelName
          : change.modelName || null,
      monthlyBudget: change.monthlyBudget ?? before.monthlyBudget,
      providerIds: change.providerIds
        ? change.providerIds.length > 0
          ? change.providerIds
          : null
        : before.providerIds,
    };
    await query(
      inner,
      sql`update personal_settings
          set model_name = ${after.modelName}, monthly_budget = ${after.monthlyBudget},
            provider_ids = ${after.providerIds}::text[], version = version + 1`,
    );
    await releaseWaiting(inner);
    const { modelName, providerIds, monthlyBudget } = before;
    await audit(inner, {
      actor,
      action: 'personal_intelligence.settings',
      targetType: 'PersonalIntelligenceSettings',
      targetId: null,
      before: { modelName, providerIds, monthlyBudget: monthlyBudget.toString() },
      after: { ...after, monthlyBudget: after.monthlyBudget.toString() },
      reason: change.reason,
    });
  });
  return personalSettings(em);
}

async function checkChange(em: EntityManager, change: PersonalSettingsChange): Promise<void> {
  const { modelName, monthlyBudget, providerIds } = change;
  if (modelName) {
    const model = await modelByName(em, modelName, PUBLIC_STATES);
    if (!model?.groups.includes('default') || !model.families.includes('chat_completions'))
      throw new UserFailure(
        'MODEL_UNAVAILABLE',
        'Choose a published model of the group default that speaks chat completions.',
        'modelName',
      );
  }
  if (monthlyBudget && (monthlyBudget < 0n || monthlyBudget > BUDGET_MAX))
    throw new UserFailure('INVALID', 'Enter a budget of $0 to $100,000 per month.', 'monthlyBudget');
  if (!providerIds || providerIds.length === 0) return;
  const known = await query<{ id: string }>(
    em,
    sql`select id from provider where id = any(${providerIds}::text[])`,
  );
  if (providerIds.length > PROVIDERS_MAX || known.length !== new Set(providerIds).size)
    throw new UserFailure('INVALID', 'An upstream in the list does not exist.', 'providerIds');
}

/**
 * Adds a call for a user to this month's sums. Returns false, and adds nothing to the common sum, if the
 * budget does not allow it. Nobody gets more than what is left for all others.
 */
export async function spendBudget(em: EntityManager, userId: string, price: Micros): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`with total as (
      select coalesce((select spent from personal_budget where month = ${MONTH}), 0) as spent
    ), share as (
      insert into personal_share as s (user_id, month, spent)
      select ${userId}, ${MONTH}, ${price}::bigint from personal_settings, total
      where ${price}::bigint <= monthly_budget - total.spent
      on conflict (user_id, month) do update set spent = s.spent + excluded.spent
        where s.spent + excluded.spent <=
          (select monthly_budget - total.spent from personal_settings, total)
      returning 1
    )
    insert into personal_budget as b (month, spent, calls) select ${MONTH}, ${price}::bigint, 1 from share
    on conflict (month) do update set spent = b.spent + excluded.spent, calls = b.calls + 1
      where b.spent + excluded.spent <= (select monthly_budget from personal_settings)
    returning 1`,
  );
  return row !== undefined;
}

/** Deletes the sums of users of earlier months. */
export async function pruneShares(em: EntityManager): Promise<void> {
  await pruneInBatches(
    em,
    (rows) => sql`delete from personal_share where (user_id, month) in (
      select user_id, month from personal_share where month < ${MONTH}
      limit ${rows} for update skip locked)
      returning user_id`,
  );
}
