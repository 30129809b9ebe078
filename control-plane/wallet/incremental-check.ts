/**
 * The ledger check that reads only what is new: it checks all rules for the rows after the last sealed range,
 * and compares the digests of some sealed ranges, so that all of them are compared in turn.
 */
import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { queryRow, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { findViolations, INVARIANTS, promiseOf, violationsOfAll } from './invariants.ts';
import type { Violation } from './invariants.ts';
import { openRules } from './open-range.ts';
import type { Checked } from './open-range.ts';
import { brokenDays, brokenRanges, noteCompared, readChecked, seal } from './seals.ts';
import { brokenUsageDays, noteComparedDays } from './summed-days.ts';

/** Sealed ranges, and sealed days, whose digests one check compares; and summed days of wallets. */
const COMPARED = 4;
/** The rules that read all accounts, which is cheap. */
const ACCOUNT_RULES: ReadonlySet<string> = new Set(['I3', 'I6']);
/** Advisory lock of the process that may seal. */
const SEAL_LOCK = 7_205_117;

/**
 * Checks the ledger in one snapshot and returns the violations, at most 20 per rule. Without violations it
 * seals what was checked. The first check reads everything, as `checkInvariants` does.
 */
export async function checkNew(em: EntityManager): Promise<Violation[]> {
  return em.fork().transactional(
    async (inner) => {
      const lock = await queryRow<{ is_mine: boolean }>(
        inner,
        sql`select pg_try_advisory_xact_lock(${SEAL_LOCK}) as is_mine`,
      );
      const violations = await violationsOfNew(inner);
      if (violations.length === 0 && lock.is_mine) {
        await noteCompared(inner, COMPARED);
        await noteComparedDays(inner, COMPARED);
        await seal(inner);
      }
      return violations;
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ },
  );
}

/** The violations that the transaction of `em` sees, at most 20 per rule. */
export async function violationsOfNew(em: EntityManager): Promise<Violation[]> {
  const checked = await readChecked(em);
  if (!checked) return violationsOfAll(em);
  const violations: Violation[] = [];
  for (const { rule, find } of rulesAfter(checked))
    violations.push(...(await findViolations(em, { rule, promise: promiseOf(rule), find })));
  return violations;
}

function rulesAfter(checked: Checked): { rule: string; find: Statement }[] {
  return [
    ...openRules(checked),
    ...INVARIANTS.filter(({ rule }) => ACCOUNT_RULES.has(rule)).map(toRule),
    { rule: 'I12', find: brokenRanges(COMPARED) },
    { rule: 'I13', find: brokenDays(COMPARED) },
    { rule: 'I14', find: brokenUsageDays(COMPARED) },
  ];
}

function toRule({ rule, find }: { rule: string; find: string }): { rule: string; find: Statement } {
  return { rule, find: { text: find, values: [] } };
}
