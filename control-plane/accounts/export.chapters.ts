/**
 * The contents of an export of personal data. Each chapter names its columns one by one, so that a new
 * column, above all a secret, is exported only after somebody adds it here. Amounts are whole micro-USD.
 */
import type { Statement } from '../database/sql.ts';
import { sql } from '../database/sql.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { replacedText } from '../intelligence/learned.service.ts';
import { picturesOf, textsOf, titleOf } from '../playground/sealed-rows.ts';
import { openLine } from '../playground/used-lines.ts';
import type { UsedLineRow } from '../playground/used-lines.ts';

/** Start of a page of a chapter: after the key `after`, or at the beginning if it is null. */
export interface PageStart {
  userId: string;
  after: string | null;
}

/** One list of rows in the file. */
export interface Chapter {
  name: string;
  /** Maximum number of rows. The end of the file names each chapter that was cut there. */
  rowsMax: number;
  pageSize: number;
  /** Selects `key` (text, where the next page starts) and `item` (JSON as text), in order of the key. */
  page: (start: PageStart) => Statement;
  /** Decrypts an item, whose encrypted values are in base64. Without it, items hold none. */
  open?: (item: SealedItem, key: ContentKey | undefined) => object;
}

/** An item with encrypted values. Rows of earlier releases hold plain ones. */
export interface SealedItem {
  id: string;
  [name: string]: unknown;
}

const PAGE = 500;
/** Smaller, because one message may hold several megabytes of pictures. */
const MESSAGES_PAGE = 10;
const FEW = 10_000;
const MANY = 200_000;

/** A chapter whose rows are read in order of a unique text column. */
interface KeyedRows {
  name: string;
  /** The unique column, e.g. the id. */
  key: Statement;
  /** The column with the id of the user. */
  owner: Statement;
  from: Statement;
  /** Arguments of jsonb_build_object. */
  item: Statement;
  rowsMax?: number;
  pageSize?: number;
  open?: NonNullable<Chapter['open']>;
}

function keyedChapter(rows: KeyedRows): Chapter {
  const { name, key, owner, from, item, rowsMax = FEW, pageSize = PAGE, open } = rows;
  return {
    name,
    rowsMax,
    pageSize,
    ...(open && { open }),
    page: ({ userId, after }) => sql`
      select ${key} as key, jsonb_build_object(${item})::text as item from ${from}
      where ${owner} = ${userId} and ${key} > coalesce(${after}::text, '')
      order by ${key} limit ${pageSize}`,
  };
}

/** A single row. */
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

const policyAcceptances = keyedChapter({
  name: 'policyAcceptances',
  key: sql`a.id`,
  owner: sql`a.user_id`,
  from: sql`policy_acceptance a join policy_version p on p.id = a.policy_version_id`,
  item: sql`'version', p.version, 'sha256', a.sha256, 'acceptedAt', a.accepted_at, 'ip', a.ip`,
});

const sessions = keyedChapter({
  name: 'sessions',
  key: sql`s.id`,
  owner: sql`s.user_id`,
  from: sql`session s`,
  item: sql`'userAgent', s.user_agent, 'ip', s.ip, 'createdAt', s.created_at,
    'lastSeenAt', s.last_seen_at, 'expiresAt', s.expires_at`,
});

const accessTokens = keyedChapter({
  name: 'accessTokens',
  key: sql`t.id`,
  owner: sql`t.user_id`,
  from: sql`access_token t`,
  item: sql`'name', t.name, 'prefix', t.prefix, 'scopes', t.scopes, 'createdAt', t.created_at,
    'lastUsedAt', t.last_used_at, 'expiresAt', t.expires_at, 'revokedAt', t.revoked_at`,
});

/** Not the signing secrets. */
const webhookEndpoints = keyedChapter({
  name: 'webhookEndpoints',
  key: sql`e.id`,
  owner: sql`e.owner_id`,
  from: sql`webhook_endpoint e`,
  item: sql`'url', e.url, 'description', e.description, 'events', e.events, 'state', e.state,
    'createdAt', e.created_at`,
});

const passkeys = keyedChapter({
  name: 'passkeys',
  key: sql`p.id`,
  owner: sql`p.user_id`,
  from: sql`passkey p`,
  item: sql`'name', p.name, 'createdAt', p.created_at, 'lastUsedAt', p.last_used_at`,
});

const linkedIdentities = keyedChapter({
  name: 'linkedIdentities',
  key: sql`i.id`,
  owner: sql`i.user_id`,
  from: sql`linked_identity i`,
  item: sql`'issuer', i.issuer, 'subject', i.subject, 'email', i.email,
    'createdAt', i.created_at, 'lastUsedAt', i.last_used_at`,
});

/** Of the secret, only the first and last characters, which the console shows too. */
const apiKeys = keyedChapter({
  name: 'apiKeys',
  key: sql`k.id`,
  owner: sql`k.owner_id`,
  from: sql`api_key k`,
  item: sql`'id', k.id, 'name', k.name, 'prefix', k.prefix, 'suffix', k.suffix, 'group', k.billing_group,
    'state', k.state, 'disabledReason', k.disabled_reason, 'poolId', k.pool_id, 'allowedIps', k.allowed_ips,
    'spendLimit', k.spend_limit, 'expiresAt', k.expires_at, 'createdAt', k.created_at,
    'revealedAt', k.revealed_at`,
});

const pools = keyedChapter({
  name: 'pools',
  key: sql`p.id`,
  owner: sql`p.owner_id`,
  from: sql`pools p`,
  item: sql`'id', p.id, 'name', p.name, 'subdomain', p.subdomain, 'state', p.state,
    'autoRenew', p.auto_renew, 'createdAt', p.created_at, 'endsAt', p.ends_at,
    'models', (select jsonb_agg(m.record ->> 'name' order by m.position) from pool_models m
      where m.pool_id = p.id),
    'periods', (select jsonb_agg(jsonb_build_object('startsAt', d.starts_at, 'endsAt', d.ends_at,
      'paid', d.paid, 'giftGranted', d.gift_granted, 'refunded', d.refunded) order by d.number)
      from pool_periods d where d.pool_id = p.id)`,
});

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

/** Metadata of requests; nothing else is stored. Newest first, like the index of the table. */
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

const switches = keyedChapter({
  name: 'personalIntelligenceSwitches',
  key: sql`s.kind`,
  owner: sql`s.user_id`,
  from: sql`personal_switch s`,
  item: sql`'kind', s.kind, 'enabled', s.enabled, 'changedAt', s.changed_at`,
});

const conversations = keyedChapter({
  name: 'conversations',
  key: sql`c.id`,
  owner: sql`c.user_id`,
  from: sql`conversation c`,
  item: sql`'id', c.id, 'title', c.title, 'sealed', encode(c.title_sealed, 'base64'), 'model', c.model_name,
    'createdAt', c.created_at, 'updatedAt', c.updated_at`,
  rowsMax: MANY,
  open: ({ sealed, title, ...rest }, key) => ({
    ...rest,
    title: titleOf({ id: rest.id, title: String(title), titleSealed: bytesOf(sealed) }, key),
  }),
});

const messages = keyedChapter({
  name: 'messages',
  key: sql`m.id`,
  owner: sql`c.user_id`,
  from: sql`conversation_message m join conversation c on c.id = m.conversation_id`,
  item: sql`'id', m.id, 'conversationId', m.conversation_id, 'parentId', m.parent_id, 'role', m.role,
    'content', m.content, 'reasoning', m.reasoning, 'attachments', m.attachments, 'state', m.state,
    'sealed', encode(m.sealed, 'base64'), 'pictures', encode(m.pictures_sealed, 'base64'),
    'model', m.model_name, 'requestId', m.request_id, 'createdAt', m.created_at,
    'lines', (select jsonb_agg(jsonb_build_object('messageId', l.message_id, 'position', l.position,
        'itemId', l.item_id, 'kind', l.kind, 'sealed', encode(l.sealed, 'base64')) order by l.position)
      from personal_used_line l where l.message_id = m.id)`,
  rowsMax: MANY,
  pageSize: MESSAGES_PAGE,
  open: openMessage,
});

const items = keyedChapter({
  name: 'personalIntelligenceItems',
  key: sql`i.id`,
  owner: sql`i.user_id`,
  from: sql`personal_item i`,
  item: sql`'id', i.id, 'kind', i.kind, 'origin', i.origin, 'sealed', encode(i.sealed, 'base64'),
    'replaced', (select encode(l.replaced_sealed, 'base64') from personal_learned l where l.item_id = i.id),
    'pinned', i.pinned, 'suppressed', i.suppressed, 'timesUsed', i.times_used,
    'firstSeenAt', i.first_seen_at, 'lastSeenAt', i.last_seen_at, 'expiresAt', i.expires_at`,
  open: ({ sealed, replaced, ...rest }, key) => {
    const bytes = bytesOf(sealed);
    const text = (bytes && key?.openIfOwn(rest.id, bytes)) ?? null;
    return { ...rest, text, replacedText: key ? replacedText(key, rest.id, bytesOf(replaced)) : null };
  },
});

function openMessage(item: SealedItem, key: ContentKey | undefined): object {
  const { sealed, pictures, lines, ...rest } = item;
  const picturesSealed = bytesOf(pictures);
  if (typeof sealed !== 'string') return rest;
  const {
    content,
    reasoning,
    usedItems = [],
  } = textsOf({ id: item.id, sealed: bytesOf(sealed), content: '', reasoning: null, error: null }, key);
  const attachments = picturesOf({ id: item.id, picturesSealed, attachments: [] }, key);
  const moved = lines as EncodedLine[] | null;
  const used = moved?.map((line) => openLine({ ...line, sealed: bytesOf(line.sealed) }, key)) ?? usedItems;
  return { ...rest, content, reasoning, attachments, usedItems: used };
}

/** A line with its encrypted text in base64. */
type EncodedLine = Omit<UsedLineRow, 'sealed'> & { sealed: string | null };

function bytesOf(base64: unknown): Buffer | null {
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : null;
}

/** The chapters in the order in which the file holds them. */
export const CHAPTERS: readonly Chapter[] = [
  profile,
  policyAcceptances,
  sessions,
  accessTokens,
  webhookEndpoints,
  passkeys,
  linkedIdentities,
  apiKeys,
  pools,
  wallet,
  usage,
  switches,
  items,
  conversations,
  messages,
];
