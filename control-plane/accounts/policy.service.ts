/** The privacy policy: which version is in force, who accepted which, and its first text. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { PolicyAcceptanceSchema, PolicyVersionSchema } from './account.entity.ts';
import type { PolicyAcceptanceRow, PolicyVersionRow, UserRow } from './account.entity.ts';
import { POLICY_TEXT, POLICY_VERSION } from './policy-text.ts';

const VERSION = /^\d{1,4}(\.\d{1,4}){1,2}$/;
const TEXT_LENGTH_MAX = 100_000;
const VERSIONS_MAX = 100;
const PUBLIC_VERSIONS_MAX = 50;

/** The version in force. Throws where none was ever seeded. */
export async function currentPolicy(em: EntityManager): Promise<PolicyVersionRow> {
  const effective = { effectiveAt: { $lte: new Date() } };
  const policy = await em.findOne(PolicyVersionSchema, effective, {
    orderBy: { effectiveAt: 'desc', id: 'desc' },
  });
  if (!policy) throw new Error('There is no privacy policy.');
  return policy;
}

/** The latest versions, newest first; those not yet in force too. */
export function policyVersions(em: EntityManager): Promise<PolicyVersionRow[]> {
  return em.find(
    PolicyVersionSchema,
    {},
    { orderBy: { effectiveAt: 'desc', id: 'desc' }, limit: VERSIONS_MAX },
  );
}

/** The latest versions that are or were in force, newest first: what everybody may read. */
export function publicPolicyVersions(em: EntityManager): Promise<PolicyVersionRow[]> {
  return em.find(
    PolicyVersionSchema,
    { effectiveAt: { $lte: new Date() } },
    { orderBy: { effectiveAt: 'desc', id: 'desc' }, limit: PUBLIC_VERSIONS_MAX },
  );
}

/** One version by its number, or the one in force; null for an unknown number. */
export function policyByVersion(
  em: EntityManager,
  version: string | null | undefined,
): Promise<PolicyVersionRow | null> {
  return version ? em.findOne(PolicyVersionSchema, { version }) : currentPolicy(em);
}

/**
 * The policy that `version` names, if it is the one in force. Throws POLICY_NOT_ACCEPTED or
 * POLICY_VERSION_OUTDATED.
 */
export async function checkAcceptable(em: EntityManager, version: string): Promise<PolicyVersionRow> {
  const policy = await currentPolicy(em);
  if (!version.trim())
    throw new UserFailure('POLICY_NOT_ACCEPTED', 'Accept the privacy policy first.', 'acceptPolicyVersion');
  if (version === policy.version) return policy;
  throw new UserFailure(
    'POLICY_VERSION_OUTDATED',
    `Version ${policy.version} of the privacy policy is in force. Read and accept that one.`,
    'acceptPolicyVersion',
  );
}

/** Who accepted what, from where, and when: now unless said otherwise. */
export interface Acceptance {
  user: UserRow;
  policy: PolicyVersionRow;
  ip: string | null;
  at?: Date;
}

/**
 * Records that the user accepted this very text, with its hash, the time and the address. Repeats change
 * nothing.
 */
export async function accept(
  em: EntityManager,
  { user, policy, ip, at = new Date() }: Acceptance,
): Promise<void> {
  await query(
    em,
    sql`insert into policy_acceptance (id, user_id, policy_version_id, sha256, ip, accepted_at)
    values (${newId('acc')}, ${user.id}, ${policy.id}, ${policy.sha256}, ${ip}, ${at})
    on conflict do nothing`,
  );
}

/** The versions that the user accepted, newest first. */
export async function acceptancesOf(
  em: EntityManager,
  userId: string,
): Promise<(PolicyAcceptanceRow & { policy: PolicyVersionRow })[]> {
  const rows = await em.find(
    PolicyAcceptanceSchema,
    { userId },
    { orderBy: { acceptedAt: 'desc' }, limit: 100 },
  );
  const versions = await em.find(PolicyVersionSchema, {
    id: { $in: rows.map((row) => row.policyVersionId) },
  });
  return rows.flatMap((row) => {
    const policy = versions.find((version) => version.id === row.policyVersionId);
    return policy ? [Object.assign(row, { policy })] : [];
  });
}

/**
 * The version in force, where the user accepted neither it nor any other since the last one that asks for it;
 * else null.
 */
export async function policyToAccept(em: EntityManager, userId: string): Promise<PolicyVersionRow | null> {
  const row = await queryOne<{ open: boolean }>(
    em,
    sql`select not exists (
      select from policy_acceptance a join policy_version p on p.id = a.policy_version_id
      where a.user_id = ${userId} and p.effective_at >= asking.effective_at) as open
    from policy_version asking where asking.requires_acceptance and asking.effective_at <= now()
    order by asking.effective_at desc, asking.id desc limit 1`,
  );
  return row?.open ? currentPolicy(em) : null;
}

export interface NewPolicy {
  version: string;
  markdown: string;
  changeSummary: string;
  /** Why, for the audit log; else `changeSummary`. */
  reason?: string | null;
  effectiveAt?: Date | null;
  requireReacceptance: boolean;
}

/**
 * Publishes a version, in force at once or from a later moment on; earlier ones stay readable. Throws TAKEN
 * for a number in use, INVALID for an empty or huge text and for a moment before that of the newest version.
 */
export async function publishPolicy(
  em: EntityManager,
  input: NewPolicy,
  actor: Actor,
): Promise<PolicyVersionRow> {
  const version = input.version.trim();
  if (!VERSION.test(version)) throw new UserFailure('INVALID', 'A version looks like 2.0.', 'version');
  if (!input.markdown.trim() || input.markdown.length > TEXT_LENGTH_MAX)
    throw new UserFailure('INVALID', `The text has 1 to ${TEXT_LENGTH_MAX} characters.`, 'markdown');
  return inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended('policy', 0))`);
    if (await inner.count(PolicyVersionSchema, { version }))
      throw new UserFailure('TAKEN', 'There is such a version already.', 'version');
    const effectiveAt = input.effectiveAt ?? new Date();
    if (await inner.count(PolicyVersionSchema, { effectiveAt: { $gte: effectiveAt } }))
      throw new UserFailure('INVALID', 'A version must come after all others.', 'effectiveAt');
    const policy = inner.create(PolicyVersionSchema, {
      id: newId('pol'),
      version,
      effectiveAt,
      markdown: input.markdown,
      sha256: createHash('sha256').update(input.markdown).digest('hex'),
      changeSummary: input.changeSummary,
      requiresAcceptance: input.requireReacceptance,
    });
    await audit(inner, {
      actor,
      action: 'policy.publish',
      targetType: 'PolicyVersion',
      targetId: policy.id,
      after: {
        version,
        effectiveAt,
        sha256: policy.sha256,
        requiresAcceptance: policy.requiresAcceptance,
        changeSummary: policy.changeSummary,
      },
      reason: input.reason?.trim() || input.changeSummary,
    });
    return policy;
  });
}

/** Publishes version 1.0 where no policy exists. */
export async function seedPolicy(em: EntityManager): Promise<void> {
  const sha256 = createHash('sha256').update(POLICY_TEXT).digest('hex');
  await query(
    em,
    sql`insert into policy_version (id, version, effective_at, markdown, sha256)
    select ${newId('pol')}, ${POLICY_VERSION}, now(), ${POLICY_TEXT}, ${sha256}
    where not exists (select from policy_version) on conflict do nothing`,
  );
}
