/** Creates one global object of each type for one user, for tests of access rules. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../../control-plane/audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import type { Viewer } from '../../control-plane/graphql/context.ts';
import { newId } from '../../control-plane/database/ids.ts';
import { createKey } from '../../control-plane/keys/key.service.ts';
import { inTransaction, query, queryOne, sql } from '../../control-plane/database/sql.ts';
import type { Statement } from '../../control-plane/database/sql.ts';
import { createIncident } from '../../control-plane/status/incident.service.ts';
import { settle } from '../../control-plane/usage/settlement.service.ts';
import { creditCash } from '../../control-plane/wallet/movements.ts';
import { ensureWallet } from '../../control-plane/wallet/wallet.service.ts';
import { reported } from '../money-fixture.ts';
import type { TestApp } from './app.ts';
import { createOwnedItem } from './owned-items.ts';

const PREFIXES = {
  AccessToken: 'tok',
  Conversation: 'con',
  DataPlaneNode: 'nod',
  LinkedIdentity: 'idn',
  Message: 'msg',
  Passkey: 'psk',
  Pool: 'pool',
  PoolPeriod: 'per',
  PoolQuote: 'quo',
  TopUp: 'top',
  UpstreamCredential: 'crd',
  UpstreamProvider: 'prv',
  UpstreamRoute: 'rte',
  WebhookDelivery: 'whd',
  WebhookEndpoint: 'whe',
} as const;
type Made = Record<keyof typeof PREFIXES, string>;

/** Ids of the user's objects by type; `requestId` belongs to the usage entry. */
export type OwnedObjects = Made &
  Record<'User' | 'DerivedItem' | 'Wallet' | 'ApiKey' | 'LedgerEntry' | 'UsageEntry' | 'requestId', string>;

/** Creates the objects for a user that exists. */
export async function createOwnedObjects(
  test: Pick<TestApp, 'orm' | 'settings'>,
  owner: Viewer,
): Promise<OwnedObjects> {
  const em = () => test.orm.em.fork();
  const made = Object.fromEntries(
    Object.entries(PREFIXES).map(([type, prefix]) => [type, newId(prefix)]),
  ) as Made;
  const walletId = await ensureWallet(em(), owner.id);
  await insertRows(em, made, owner.id);
  const source = { conversationId: made.Conversation, messageId: made.Message };
  const DerivedItem = await createOwnedItem(test, owner.id, source);
  await insertPayments(em, made.TopUp, owner.id);
  const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', kind: 'ADJUSTMENT' as const };
  await creditCash(em(), { ...movement, amount: 1_000n, reference: `cash ${owner.id}` });
  await inTransaction(em(), (inner) =>
    audit(inner, { actor: SYSTEM_ACTOR, action: 'x', targetType: 'X', targetId: null, reason: 'test' }),
  );
  const incident = { kind: 'OUTAGE', state: 'IDENTIFIED', title: 'x', message: 'x', reason: 'x' } as const;
  await createIncident(em(), incident, SYSTEM_ACTOR);
  const { key } = await createKey(em(), owner, { name: 'x', group: 'default', idempotencyKey: 'x' });
  const free = { walletId, journalId: null, leaseId: null, seq: null, cost: 0n, status: 'FAILED' as const };
  const record = reported({ ...free, at: new Date(Date.now() - 40 * 3_600_000), keyId: key.id });
  const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: made.DataPlaneNode };
  await settle(em(), { node, records: [{ ...record, poolId: made.Pool, routeId: made.UpstreamRoute }] });
  const one = async (statement: ReturnType<typeof sql>): Promise<string> =>
    (await queryOne<{ id: string }>(em(), statement))?.id ?? '';
  return {
    ...made,
    DerivedItem,
    User: owner.id,
    Wallet: walletId,
    ApiKey: key.id,
    LedgerEntry: await one(sql`select id from ledger_entry where wallet_id = ${walletId}
      and bucket is not null limit 1`),
    UsageEntry: await one(sql`select id from usage_entry where wallet_id = ${walletId}`),
    requestId: record.requestId,
  };
}

async function insertRows(em: () => EntityManager, made: Made, of: string): Promise<void> {
  const subdomain = of.slice(-12).toLowerCase();
  const { UpstreamProvider: provider, UpstreamRoute: route, UpstreamCredential: credential } = made;
  for (const statement of [
    sql`insert into access_token (id, user_id, name, prefix, token_digest, scopes, expires_at)
      values (${made['AccessToken']}, ${of}, 'x', 'gqt_', ${of}, '{KEYS_READ}', now() + interval '1 day')`,
    sql`insert into personal_switch values (${of}, 'PREFERENCE_PROFILE', true, now())`,
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      values (${made['Conversation']}, ${of}, 'x', 'swift', now(), now())`,
    sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
      values (${made['Message']}, ${made['Conversation']}, 'USER', 'x', 'COMPLETE', now())`,
    sql`insert into data_plane_node (id, name, token_digest) values (${made['DataPlaneNode']}, ${of}, ${of})`,
    sql`insert into linked_identity (id, user_id, issuer, subject)
      values (${made['LinkedIdentity']}, ${of}, 'x', ${of})`,
    sql`insert into passkey (id, user_id, credential_id, public_key, counter, transports, name)
      values (${made['Passkey']}, ${of}, ${of}, 'x', 0, '{}', 'x')`,
    sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, starts_at, ends_at)
      select ${made['Pool']}, ${of}, id, 'x', ${subdomain}, 60, now(), now() + interval '30 days' from wallet
      where user_id = ${of}`,
    sql`insert into pool_quotes (id, user_id, model_ids, lines, total, gift_credit, rpm_cap, period_days,
        starts_at, ends_at, expires_at)
      values (${made['PoolQuote']}, ${of}, '{}', '[]', 1, 0, 60, 30, now(),
        now() + interval '30 days', now() + interval '15 minutes')`,
    sql`insert into pool_periods (id, pool_id, number, quote_id, starts_at, ends_at, paid, gift_granted)
      values (${made['PoolPeriod']}, ${made['Pool']}, 1, ${made['PoolQuote']}, now(),
        now() + interval '30 days', 1, 0)`,
    sql`insert into provider (id, name, protocols, base_url, enabled, timeouts)
      values (${provider}, ${of}, '{openai-chat}', 'http://127.0.0.1:9/v1', true, '{}')`,
    sql`insert into credential (id, provider_id, label, suffix, origin, sealed)
      values (${credential}, ${provider}, 'x', '1234', 'http://127.0.0.1:9', 'x')`,
    sql`insert into route (id, model_id, provider_id, upstream_model, families, priority, weight, enabled)
      select ${route}, id, ${provider}, 'x', '{chat_completions}', 1, 1, true from model
      where name = 'swift'`,
    ...webhookRows(made, of),
  ])
    await query(em(), statement);
}

/** A webhook of the user, with a delivery. */
function webhookRows(
  { WebhookEndpoint: endpoint, WebhookDelivery: delivery }: Made,
  of: string,
): Statement[] {
  return [
    sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
      values (${endpoint}, ${of}, 'https://x.example/', '', '{KEY_DISABLED}', 'DISABLED', 'x')`,
    sql`insert into webhook_delivery (id, event_id, endpoint_id, owner_id, type, payload, state)
      values (${delivery}, 'x', ${endpoint}, ${of}, 'key.disabled', '{}', 'DELIVERED')`,
  ];
}

async function insertPayments(em: () => EntityManager, topUp: string, of: string): Promise<void> {
  for (const statement of [
    sql`insert into top_up (id, user_id, wallet_id, method, stage, state, amount, paid, credited, payment_id,
      reference)
      select ${topUp}, ${of}, id, 'CRYPTO', 'SEEN', 'CREDITED', 5, 5, 5, ${topUp}, ${topUp}
      from wallet where user_id = ${of}`,
    sql`insert into top_up_refund (id, payment_id, top_up_id, amount, status)
      values (${newId('rfn')}, ${topUp}, ${topUp}, 1, 'FAILED')`,
    sql`insert into top_up_dispute (id, payment_id, top_up_id, amount, status)
      values (${`dp_${of}`}, ${topUp}, ${topUp}, 1, 'NOTICE')`,
    sql`insert into payment_correction (id, top_up_id, kind, detail)
      values (${newId('fix')}, ${topUp}, 'MISSED_EVENT', 'x')`,
    sql`insert into payment_webhook_secret (id, label, suffix, sealed)
      values (${newId('whs')}, 'x', 'x', 'x')`,
    sql`insert into auto_top_up (wallet_id, threshold, amount, monthly_cap)
      select id, 1, 1, 1 from wallet where user_id = ${of}`,
    sql`insert into saved_card (wallet_id, customer_id, method_id, brand, last4, expires_month, expires_year)
      select id, 'x', 'x', 'visa', '4242', 1, 2030 from wallet where user_id = ${of}`,
    ...depositRows(topUp, of),
  ])
    await query(em(), statement);
}

/** A chain with a token, and an address of the user with the deposit of the top-up. */
function depositRows(topUp: string, of: string): Statement[] {
  const contract = `0x${'1'.repeat(40)}`;
  const address = `0x${createHash('sha256').update(of).digest('hex').slice(0, 40)}`;
  return [
    sql`insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block,
      rpc_sealed, rpc_hosts) values (1, 'x', true, 1, false, 0, '{x,x}', '{x,x}') on conflict do nothing`,
    sql`insert into crypto_token values (1, ${contract}, 'USDC', 6, 1) on conflict do nothing`,
    sql`insert into crypto_key (id, sealed, fingerprint) values ('xpk', 'x', 'x') on conflict do nothing`,
    sql`insert into crypto_address (address, user_id, key_id, index)
      select ${address}, ${of}, 'xpk', count(*) from crypto_address`,
    sql`insert into deposit_address (id, address, chain_id, contract)
      values (${newId('adr')}, ${address}, 1, ${contract})`,
    sql`insert into crypto_deposit (reference, chain_id, contract, address, tx_hash, place, log_index, sender,
      units, amount, state, block_number, block_hash)
      values (${topUp}, 1, ${contract}, ${address}, 'x', 0, 0, 'x', 5, 5, 'CREDITED', 1, 'x')`,
  ];
}
