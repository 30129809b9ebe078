/** The privacy policy: which version is in force, who accepted which, and its first text. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { query, sql } from '../sql.ts';
import { PolicyAcceptanceSchema, PolicyVersionSchema } from './account.entity.ts';
import type { PolicyAcceptanceRow, PolicyVersionRow, UserRow } from './account.entity.ts';
import { POLICY_TEXT, POLICY_VERSION } from './policy-text.ts';

/** The version in force. Throws where none was ever seeded. */
export async function currentPolicy(em: EntityManager): Promise<PolicyVersionRow> {
  const effective = { effectiveAt: { $lte: new Date() } };
  const policy = await em.findOne(PolicyVersionSchema, effective, {
    orderBy: { effectiveAt: 'desc', id: 'desc' },
  });
  if (!policy) throw new Error('There is no privacy policy.');
  return policy;
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

/**
 * Records that the user accepted this very text, with its hash, the time and the address. Repeats change
 * nothing.
 */
export async function accept(
  em: EntityManager,
  { user, policy, ip }: { user: UserRow; policy: PolicyVersionRow; ip: string | null },
): Promise<void> {
  await query(
    em,
    sql`insert into policy_acceptance (id, user_id, policy_version_id, sha256, ip)
    values (${newId('acc')}, ${user.id}, ${policy.id}, ${policy.sha256}, ${ip}) on conflict do nothing`,
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

/** The version that the user still has to accept, or null. */
export async function policyToAccept(em: EntityManager, userId: string): Promise<PolicyVersionRow | null> {
  const policy = await currentPolicy(em);
  if (!policy.requiresAcceptance) return null;
  const accepted = await em.count(PolicyAcceptanceSchema, { userId, policyVersionId: policy.id });
  return accepted > 0 ? null : policy;
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
