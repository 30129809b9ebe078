/** Privacy policy: reads and publishes versions, and records who accepted which. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { PolicyAcceptanceSchema, PolicyVersionSchema } from './account.entity.ts';
import type { PolicyAcceptanceRow, PolicyVersionRow, UserRow } from './account.entity.ts';
import { defaultPolicy, isEarlierDefault, POLICY_TEXT, POLICY_VERSION } from './policy-text.ts';

/** Two or three numbers with dots. */
const VERSION = /^\d{1,4}(\.\d{1,4}){1,2}$/;
const TEXT_LENGTH_MAX = 100_000;
const VERSIONS_MAX = 100;
const PUBLIC_VERSIONS_MAX = 50;

/** The version in force. Throws if there is none. */
export async function currentPolicy(em: EntityManager): Promise<PolicyVersionRow> {
  const effective = { effectiveAt: { $lte: new Date() } };
  const policy = await em.findOne(PolicyVersionSchema, effective, {
    orderBy: { effectiveAt: 'desc', id: 'desc' },
  });
  if (!policy)
    throw new Error('No privacy policy is in force. Restart the control plane to create version 1.0.');
  return policy;
}

/** The latest 100 versions, newest first, including future ones. */
export function policyVersions(em: EntityManager): Promise<PolicyVersionRow[]> {
  return em.find(
    PolicyVersionSchema,
    {},
    { orderBy: { effectiveAt: 'desc', id: 'desc' }, limit: VERSIONS_MAX },
  );
}

/** The latest 50 versions that are or were in force, newest first. They are public. */
export function publicPolicyVersions(em: EntityManager): Promise<PolicyVersionRow[]> {
  return em.find(
    PolicyVersionSchema,
    { effectiveAt: { $lte: new Date() } },
    { orderBy: { effectiveAt: 'desc', id: 'desc' }, limit: PUBLIC_VERSIONS_MAX },
  );
}

/** The version with this number, or the one in force if none is given. Null for an unknown number. */
export function policyByVersion(
  em: EntityManager,
  version: string | null | undefined,
): Promise<PolicyVersionRow | null> {
  return version ? em.findOne(PolicyVersionSchema, { version }) : currentPolicy(em);
}

/**
 * Returns the version in force if `version` is its number. Throws POLICY_NOT_ACCEPTED for an empty number,
 * POLICY_VERSION_OUTDATED for another one.
 */
export async function requireCurrentPolicy(em: EntityManager, version: string): Promise<PolicyVersionRow> {
  const policy = await currentPolicy(em);
  if (!version.trim())
    throw new UserFailure('POLICY_NOT_ACCEPTED', 'Accept the privacy policy first.', 'acceptPolicyVersion');
  if (version === policy.version) return policy;
  throw new UserFailure(
    'POLICY_VERSION_OUTDATED',
    `Version ${policy.version} of the privacy policy is in force. Read and accept that version.`,
    'acceptPolicyVersion',
  );
}

/** Acceptance of a version by a user, from `ip`, at `at` (default: now). */
export interface Acceptance {
  user: UserRow;
  policy: PolicyVersionRow;
  ip: string | null;
  at?: Date;
}

/** Records an acceptance with the hash of the text. Does nothing if the user accepted this version before. */
export async function recordAcceptance(
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

/** The latest 100 acceptances of the user, newest first, each with its version. */
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
 * The version in force if the user must accept it; else null. A user must accept it unless they accepted the
 * last version that requires acceptance or a later one.
 */
export async function policyToAccept(em: EntityManager, userId: string): Promise<PolicyVersionRow | null> {
  const row = await queryOne<{ must_accept: boolean }>(
    em,
    sql`select not exists (
      select from policy_acceptance a join policy_version p on p.id = a.policy_version_id
      where a.user_id = ${userId} and p.effective_at >= required.effective_at) as must_accept
    from policy_version required where required.requires_acceptance and required.effective_at <= now()
    order by required.effective_at desc, required.id desc limit 1`,
  );
  return row?.must_accept ? currentPolicy(em) : null;
}

/** A version to publish. */
export interface NewPolicy {
  version: string;
  markdown: string;
  changeSummary: string;
  /** Reason for the audit log; defaults to `changeSummary`. */
  reason?: string | null;
  effectiveAt?: Date | null;
  requireReacceptance: boolean;
}

/**
 * Publishes a version that takes effect now or later, and writes it to the audit log. Throws TAKEN for a
 * number in use; INVALID for a malformed number, an empty or too long text, or an `effectiveAt` that is not
 * after that of every other version.
 */
export async function publishPolicy(
  em: EntityManager,
  input: NewPolicy,
  actor: Actor,
): Promise<PolicyVersionRow> {
  const version = input.version.trim();
  if (!VERSION.test(version))
    throw new UserFailure('INVALID', 'Enter a version number such as 2.0.', 'version');
  if (!input.markdown.trim() || input.markdown.length > TEXT_LENGTH_MAX)
    throw new UserFailure('INVALID', `Enter a text of 1 to ${TEXT_LENGTH_MAX} characters.`, 'markdown');
  return inTransaction(em, async (inner) => {
    await lockPolicy(inner);
    if (await inner.count(PolicyVersionSchema, { version }))
      throw new UserFailure('TAKEN', 'This version exists already. Choose a higher number.', 'version');
    const effectiveAt = input.effectiveAt ?? new Date();
    if (await inner.count(PolicyVersionSchema, { effectiveAt: { $gte: effectiveAt } }))
      throw new UserFailure(
        'INVALID',
        'Another version takes effect later. Choose a later time.',
        'effectiveAt',
      );
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

/** Serialises publications until the transaction ends. A transaction with many changes calls it first. */
export async function lockPolicy(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('policy', 0))`);
}

/**
 * Inserts version 1.0 if no version exists. If the newest version is the unedited default text of an earlier
 * release, publishes the present default text under the next number. Never replaces a text of an
 * administrator.
 */
export async function seedPolicy(em: EntityManager): Promise<void> {
  const sha256 = createHash('sha256').update(POLICY_TEXT).digest('hex');
  await query(
    em,
    sql`insert into policy_version (id, version, effective_at, markdown, sha256)
    select ${newId('pol')}, ${POLICY_VERSION}, now(), ${POLICY_TEXT}, ${sha256}
    where not exists (select from policy_version) on conflict do nothing`,
  );
  await inTransaction(em, followDefault);
}

async function followDefault(em: EntityManager): Promise<void> {
  await lockPolicy(em);
  const [newest] = await policyVersions(em);
  if (!newest || !isEarlierDefault(newest.markdown)) return;
  const version = await nextNumber(em, newest.version);
  const changeSummary = 'The text of this release of the gateway.';
  const text = { version, markdown: defaultPolicy(version), changeSummary, requireReacceptance: false };
  await publishPolicy(em, text, SYSTEM_ACTOR);
}

/** The first free number after this one, e.g. 1.1 after 1.0. */
async function nextNumber(em: EntityManager, version: string): Promise<string> {
  const parts = version.split('.').map(Number);
  for (;;) {
    parts.push((parts.pop() ?? 0) + 1);
    const next = parts.join('.');
    if ((await em.count(PolicyVersionSchema, { version: next })) === 0) return next;
  }
}
