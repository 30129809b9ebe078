/** Database rows of users, sessions, privacy policy versions and acceptances, and single-use links. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { Group } from '@gateway/shared/catalog';

export const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    emailVerifiedAt: p.datetime().nullable(),
    displayName: p.text().nullable(),
    locale: p.text().default('en'),
    timeZone: p.text().default('UTC'),
    role: p.text().$type<'USER' | 'ADMIN'>().default('USER'),
    state: p.text().$type<'ACTIVE' | 'SUSPENDED' | 'DELETED'>().default('ACTIVE'),
    passwordHash: p.text().nullable(),
    allowedGroups: p.array<Group>(),
    notifyPoolExpiry: p.boolean().default(true),
    notifyPaymentReceipts: p.boolean().default(true),
    /** Send one mail at the next opening of the storefront; that mail resets the flag. */
    notifyStorefront: p.boolean().default(false),
    createdAt: p.datetime().onCreate(() => new Date()),
  },
});
export type UserRow = InferEntity<typeof UserSchema>;

export const SessionSchema = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    tokenDigest: p.text(),
    userAgent: p.text().nullable(),
    ip: p.text().nullable(),
    createdAt: p.datetime().onCreate(() => new Date()),
    lastSeenAt: p.datetime(),
    /** When the user last signed in or re-authenticated in this session. */
    authenticatedAt: p.datetime().onCreate(() => new Date()),
    expiresAt: p.datetime(),
  },
});
export type SessionRow = InferEntity<typeof SessionSchema>;

export const PolicyVersionSchema = defineEntity({
  name: 'PolicyVersion',
  tableName: 'policy_version',
  properties: {
    id: p.text().primary(),
    version: p.text(),
    effectiveAt: p.datetime(),
    markdown: p.text(),
    sha256: p.text(),
    changeSummary: p.text().nullable(),
    requiresAcceptance: p.boolean().default(true),
  },
});
export type PolicyVersionRow = InferEntity<typeof PolicyVersionSchema>;

export const PolicyAcceptanceSchema = defineEntity({
  name: 'PolicyAcceptance',
  tableName: 'policy_acceptance',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    policyVersionId: p.text(),
    sha256: p.text(),
    acceptedAt: p.datetime().onCreate(() => new Date()),
    ip: p.text().nullable(),
  },
});
export type PolicyAcceptanceRow = InferEntity<typeof PolicyAcceptanceSchema>;

export const AccountLinkSchema = defineEntity({
  name: 'AccountLink',
  tableName: 'account_link',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    tokenDigest: p.text(),
    purpose: p.text().$type<'CLAIM' | 'RESET' | 'VERIFY' | 'CHANGE'>().default('CLAIM'),
    /** The address that a VERIFY, CHANGE or RESET link was mailed to. */
    email: p.text().nullable(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
    createdAt: p.datetime().onCreate(() => new Date()),
  },
});
