/** Deposit addresses of users, and the extended public keys from which they are derived. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../../audit/audit.service.ts';
import { newId } from '../../database/ids.ts';
import { inTransaction, query, queryOne, queryRow, sql, toDate } from '../../database/sql.ts';
import { UserFailure } from '../../graphql/errors.ts';
import { DEPOSIT_KEYS_MAX } from '../../limits.ts';
import { decryptSecret, encryptSecret } from '../../upstreams/stored-secrets.ts';
import type { SettingsChange } from '../settings.service.ts';
import { deriveAddress, faultOfKey, INDEX_MAX } from './address.rules.ts';
import type { Address } from './address.rules.ts';

const FINGERPRINT_LENGTH = 16;

/** An extended public key without the key. */
export interface DepositKeyView {
  id: string;
  /** First characters of the SHA-256 digest of the key, to recognise it. */
  fingerprint: string;
  /** Whether new addresses are derived from it. */
  active: boolean;
  /** Number of addresses that were derived from it. */
  addresses: number;
  createdAt: Date;
}

/** An address to which a user can send a token. */
export interface DepositAddressRow {
  id: string;
  chainId: number;
  contract: Address;
  address: Address;
  createdAt: Date;
}

/** The extended public keys, oldest first. */
export async function listDepositKeys(em: EntityManager): Promise<DepositKeyView[]> {
  const rows = await query<{
    id: string;
    fingerprint: string;
    active: boolean;
    next_index: number;
    created_at: string;
  }>(em, sql`select id, fingerprint, active, next_index, created_at from crypto_key order by created_at, id`);
  return rows.map(({ id, fingerprint, active, next_index: addresses, created_at: at }) => ({
    ...{ id, fingerprint, active, addresses },
    createdAt: toDate(at),
  }));
}

/**
 * Makes an extended public key the one from which new addresses are derived; a key that was used before goes
 * on at its next address. Addresses of other keys stay watched. Throws INVALID and LIMIT_REACHED.
 */
export async function setDepositKey(
  em: EntityManager,
  input: { extendedKey: string; reason: string },
  { actor, settings }: SettingsChange,
): Promise<void> {
  const key = checkKey(input.extendedKey);
  const fingerprint = createHash('sha256').update(key).digest('hex').slice(0, FINGERPRINT_LENGTH);
  await inTransaction(em, async (inner) => {
    await query(inner, sql`lock table crypto_key in share row exclusive mode`);
    const known = await queryOne(inner, sql`select 1 from crypto_key where fingerprint = ${fingerprint}`);
    if (!known && (await listDepositKeys(inner)).length >= DEPOSIT_KEYS_MAX)
      throw new UserFailure('LIMIT_REACHED', `At most ${DEPOSIT_KEYS_MAX} keys are kept.`, 'extendedKey');
    const id = newId('xpk');
    const sealed = encryptSecret(settings.secretKey, key, keyLocation(id));
    await query(inner, sql`update crypto_key set active = false where active`);
    await query(
      inner,
      sql`insert into crypto_key (id, sealed, fingerprint) values (${id}, ${sealed}, ${fingerprint})
      on conflict (fingerprint) do update set active = true`,
    );
    await audit(inner, {
      ...{ actor, action: 'depositKey.set', targetType: 'DepositKey', targetId: null, before: null },
      ...{ after: { fingerprint }, reason: input.reason },
    });
  });
}

/**
 * The user's address for a token of a chain. The first one of a key is derived and stored before it is
 * returned; it serves all chains, and never another user. Throws NOT_FOUND if the token is not offered.
 */
export async function depositAddress(
  em: EntityManager,
  { userId, secretKey }: { userId: string; secretKey: string },
  wanted: { chainId: number; asset: string },
): Promise<DepositAddressRow> {
  return inTransaction(em, async (inner) => {
    const token = await queryOne<{ contract: Address }>(
      inner,
      sql`select token.contract from crypto_token token join crypto_chain chain using (chain_id)
      where chain_id = ${wanted.chainId} and token.symbol = ${wanted.asset.toUpperCase()}
        and token.enabled and chain.enabled`,
    );
    if (!token) throw notOffered();
    const address = await addressOf(inner, userId, secretKey);
    const row = await queryRow<StoredAddress>(
      inner,
      // A conflict must return the known row.
      sql`insert into deposit_address (id, address, chain_id, contract)
      values (${newId('adr')}, ${address}, ${wanted.chainId}, ${token.contract})
      on conflict (address, chain_id, contract) do update set contract = excluded.contract
      returning id, chain_id::text, contract, address, created_at`,
    );
    return viewOf(row);
  });
}

/** The user's addresses, newest first. */
export async function addressesOf(em: EntityManager, userId: string): Promise<DepositAddressRow[]> {
  const rows = await query<StoredAddress>(
    em,
    sql`select deposit_address.id, chain_id::text, contract, address, deposit_address.created_at
    from deposit_address join crypto_address using (address)
    where crypto_address.user_id = ${userId} order by deposit_address.id desc`,
  );
  return rows.map(viewOf);
}

interface StoredAddress {
  id: string;
  chain_id: string;
  contract: Address;
  address: Address;
  created_at: string;
}

function viewOf({
  id,
  chain_id: chainId,
  contract,
  address,
  created_at: at,
}: StoredAddress): DepositAddressRow {
  return { id, chainId: Number(chainId), contract, address, createdAt: toDate(at) };
}

/** The user's address under the active key. The lock on the key gives each user an index of their own. */
async function addressOf(em: EntityManager, userId: string, secretKey: string): Promise<Address> {
  const key = await queryOne<{ id: string; sealed: string; next_index: number }>(
    em,
    sql`select id, sealed, next_index from crypto_key where active for update`,
  );
  if (!key) throw notOffered();
  const known = await queryOne<{ address: Address }>(
    em,
    sql`select address from crypto_address where key_id = ${key.id} and user_id = ${userId}`,
  );
  if (known) return known.address;
  // The last index is not given, because the column holds no larger number.
  if (key.next_index >= INDEX_MAX)
    throw new UserFailure('LIMIT_REACHED', 'No further addresses can be made. Ask the operator.');
  const extendedKey = decryptSecret(secretKey, key.sealed, keyLocation(key.id));
  const address = deriveAddress(extendedKey, key.next_index);
  await query(
    em,
    sql`insert into crypto_address (address, user_id, key_id, index)
    values (${address}, ${userId}, ${key.id}, ${key.next_index})`,
  );
  await query(em, sql`update crypto_key set next_index = next_index + 1 where id = ${key.id}`);
  return address;
}

function checkKey(text: string): string {
  const fault = faultOfKey(text);
  if (!fault) return text.trim();
  const message =
    fault === 'PRIVATE'
      ? 'This is a private key. Never enter it anywhere: enter the extended public key (xpub…).'
      : "This is no extended public key. Enter the one of m/44'/60'/0'/0, which begins with xpub.";
  throw new UserFailure('INVALID', message, 'extendedKey');
}

function keyLocation(id: string): { table: string; id: string; field: string } {
  return { table: 'crypto_key', id, field: 'extended_key' };
}

function notOffered(): UserFailure {
  return new UserFailure('NOT_FOUND', 'Deposits of this token are not offered. See paymentOptions.', 'asset');
}
