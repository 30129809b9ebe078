/**
 * What an export of personal data holds: for each chapter the columns by name, so that a new column, and a
 * secret above all, is in no file until somebody writes it here. Amounts are whole micro-US-dollars.
 */
import type { Statement } from '../sql.ts';
import { sql } from '../sql.ts';

/** Where a page of a chapter begins: after this key, null at the start. */
export interface PageStart {
  userId: string;
  after: string | null;
}

/** One list of the file. */
export interface Chapter {
  name: string;
  /** Rows at most; what lies beyond is named at the end of the file. */
  rowsMax: number;
  pageSize: number;
  /** Selects `key` (text, what the next page begins after) and `item` (JSON as text), in order of the key. */
  page: (start: PageStart) => Statement;
}

const PAGE = 500;
/** A message may carry pictures of some megabytes. */
const MESSAGES_PAGE = 10;
const FEW = 10_000;
const MANY = 200_000;

/** One row: who it is. */
const profile: Chapter = {
  name: 'profile',
  rowsMax: 1,
  pageSize: 1,
  page: ({ userId, after }) => sql`
    select u.id as key, jsonb_build_object('id', u.id, 'email', u.email,
      'emailVerifiedAt', u.email_verified_at, 'displayName', u.display_name, 'locale', u.locale,
      'timeZone', u.time_zone, 'role', u.role, 'allowedGroups', u.allowed_groups, 'createdAt', u.created_at,
      'notifyPoolExpiry', u.notify_pool_expiry, 'notifyPaymentReceipts', u.notify_payment_receipts,
      'notifyStorefrontOpening', u.notify_storefront,
      'hasPassword', u.password_hash is not null,
      'hasAuthenticatorApp', exists (select from totp_factor t where t.user_id = u.id
        and t.confirmed_at is not null))::text as item
    from users u where u.id = ${userId} and ${after}::text is null`,
};

const policyAcceptances: Chapter = {
  name: 'policyAcceptances',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select a.id as key, jsonb_build_object('version', p.version, 'sha256', a.sha256,
      'acceptedAt', a.accepted_at, 'ip', a.ip)::text as item
    from policy_acceptance a join policy_version p on p.id = a.policy_version_id
    where a.user_id = ${userId} and a.id > coalesce(${after}::text, '') order by a.id limit ${PAGE}`,
};

const sessions: Chapter = {
  name: 'sessions',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select s.id as key, jsonb_build_object('userAgent', s.user_agent, 'ip', s.ip, 'createdAt', s.created_at,
      'lastSeenAt', s.last_seen_at, 'expiresAt', s.expires_at)::text as item
    from session s where s.user_id = ${userId} and s.id > coalesce(${after}::text, '')
    order by s.id limit ${PAGE}`,
};

const accessTokens: Chapter = {
  name: 'accessTokens',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select t.id as key, jsonb_build_object('name', t.name, 'prefix', t.prefix, 'scopes', t.scopes,
      'createdAt', t.created_at, 'lastUsedAt', t.last_used_at, 'expiresAt', t.expires_at,
      'revokedAt', t.revoked_at)::text as item
    from access_token t where t.user_id = ${userId} and t.id > coalesce(${after}::text, '')
    order by t.id limit ${PAGE}`,
};

const passkeys: Chapter = {
  name: 'passkeys',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select p.id as key, jsonb_build_object('name', p.name, 'createdAt', p.created_at,
      'lastUsedAt', p.last_used_at)::text as item
    from passkey p where p.user_id = ${userId} and p.id > coalesce(${after}::text, '')
    order by p.id limit ${PAGE}`,
};

const linkedIdentities: Chapter = {
  name: 'linkedIdentities',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select i.id as key, jsonb_build_object('issuer', i.issuer, 'subject', i.subject, 'email', i.email,
      'createdAt', i.created_at, 'lastUsedAt', i.last_used_at)::text as item
    from linked_identity i where i.user_id = ${userId} and i.id > coalesce(${after}::text, '')
    order by i.id limit ${PAGE}`,
};

/** Nothing of a key's secret but what its owner sees of it anyway. */
const apiKeys: Chapter = {
  name: 'apiKeys',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select k.id as key, jsonb_build_object('id', k.id, 'name', k.name, 'prefix', k.prefix,
      'suffix', k.suffix, 'group', k.billing_group, 'state', k.state, 'disabledReason', k.disabled_reason,
      'poolId', k.pool_id, 'allowedIps', k.allowed_ips, 'spendLimit', k.spend_limit,
      'expiresAt', k.expires_at, 'createdAt', k.created_at, 'revealedAt', k.revealed_at)::text as item
    from api_key k where k.owner_id = ${userId} and k.id > coalesce(${after}::text, '')
    order by k.id limit ${PAGE}`,
};

const pools: Chapter = {
  name: 'pools',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select p.id as key, jsonb_build_object('id', p.id, 'name', p.name, 'subdomain', p.subdomain,
      'state', p.state, 'autoRenew', p.auto_renew, 'createdAt', p.created_at, 'endsAt', p.ends_at,
      'models', (select jsonb_agg(m.record ->> 'name' order by m.position) from pool_models m
        where m.pool_id = p.id),
      'periods', (select jsonb_agg(jsonb_build_object('startsAt', d.starts_at, 'endsAt', d.ends_at,
        'paid', d.paid, 'giftGranted', d.gift_granted, 'refunded', d.refunded) order by d.number)
        from pool_periods d where d.pool_id = p.id))::text as item
    from pools p where p.owner_id = ${userId} and p.id > coalesce(${after}::text, '')
    order by p.id limit ${PAGE}`,
};

const wallet: Chapter = {
  name: 'walletEntries',
  rowsMax: MANY,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select e.seq::text as key, jsonb_build_object('id', e.id, 'at', e.at, 'kind', e.kind,
      'bucket', e.bucket, 'amount', e.amount, 'description', t.description)::text as item
    from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
    where e.wallet_id = (select id from wallet where user_id = ${userId}) and e.bucket is not null
      and e.kind <> all('{LEASE_GRANT,LEASE_RETURN}') and e.seq > coalesce(${after}::bigint, 0)
    order by e.seq limit ${PAGE}`,
};

/** Metadata, for there is nothing else; newest first, as the log is indexed. */
const usage: Chapter = {
  name: 'usage',
  rowsMax: MANY,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select u.at::text || '|' || u.id as key, jsonb_build_object('requestId', u.request_id, 'at', u.at,
      'keyId', u.key_id, 'poolId', u.pool_id, 'source', u.source, 'model', u.model_name,
      'family', u.family, 'group', u.billing_group, 'inputTokens', u.input_tokens,
      'outputTokens', u.output_tokens, 'cachedTokens', u.cached_tokens,
      'reasoningTokens', u.reasoning_tokens, 'cost', u.cost, 'status', u.status, 'outcome', u.outcome,
      'httpStatus', u.http_status, 'ip', host(u.ip))::text as item
    from usage_entry u
    where u.wallet_id = (select id from wallet where user_id = ${userId})
      and (${after}::text is null or (u.at, u.id)
        < (split_part(${after}, '|', 1)::timestamptz, split_part(${after}, '|', 2)))
    order by u.at desc, u.id desc limit ${PAGE}`,
};

const switches: Chapter = {
  name: 'personalIntelligenceSwitches',
  rowsMax: FEW,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select s.kind as key, jsonb_build_object('kind', s.kind, 'enabled', s.enabled,
      'changedAt', s.changed_at)::text as item
    from personal_switch s where s.user_id = ${userId} and s.kind > coalesce(${after}::text, '')
    order by s.kind limit ${PAGE}`,
};

const conversations: Chapter = {
  name: 'conversations',
  rowsMax: MANY,
  pageSize: PAGE,
  page: ({ userId, after }) => sql`
    select c.id as key, jsonb_build_object('id', c.id, 'title', c.title, 'model', c.model_name,
      'createdAt', c.created_at, 'updatedAt', c.updated_at)::text as item
    from conversation c where c.user_id = ${userId} and c.id > coalesce(${after}::text, '')
    order by c.id limit ${PAGE}`,
};

const messages: Chapter = {
  name: 'messages',
  rowsMax: MANY,
  pageSize: MESSAGES_PAGE,
  page: ({ userId, after }) => sql`
    select m.id as key, jsonb_build_object('id', m.id, 'conversationId', m.conversation_id,
      'parentId', m.parent_id, 'role', m.role, 'content', m.content, 'reasoning', m.reasoning,
      'attachments', m.attachments, 'state', m.state, 'model', m.model_name,
      'requestId', m.request_id, 'createdAt', m.created_at)::text as item
    from conversation_message m join conversation c on c.id = m.conversation_id
    where c.user_id = ${userId} and m.id > coalesce(${after}::text, '')
    order by m.id limit ${MESSAGES_PAGE}`,
};

/** The file, in this order. */
export const CHAPTERS: readonly Chapter[] = [
  profile,
  policyAcceptances,
  sessions,
  accessTokens,
  passkeys,
  linkedIdentities,
  apiKeys,
  pools,
  wallet,
  usage,
  switches,
  conversations,
  messages,
];
