/** Tests of deposit addresses and extended keys in PostgreSQL: no user gets the address of another one. */
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { UserFailure } from '../../graphql/errors.ts';
import { DEPOSIT_KEYS_MAX } from '../../limits.ts';
import { decryptSecret } from '../../upstreams/stored-secrets.ts';
import { deriveAddress, INDEX_MAX } from './address.rules.ts';
import { addressesOf, depositAddress, listDepositKeys, setDepositKey } from './address.service.ts';

const SECRET_KEY = 'a'.repeat(64);
const SETTINGS = { secretKey: SECRET_KEY, allowPrivateUpstreams: false };
/** Account level of the keys: `keyOf(n)` is its n-th child. */
const ACCOUNT = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'");
const CHAIN = 1;
const USDC = `0x${'1'.repeat(40)}`;
const OTHER = `0x${'2'.repeat(40)}`;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
  for (const chainId of [CHAIN, 2])
    await query(
      em(),
      sql`insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block,
        rpc_sealed, rpc_hosts)
      values (${chainId}, 'Chain', true, 6, false, 0, '{a,b}', '{a,b}')`,
    );
  for (const [chainId, contract, symbol] of [
    [CHAIN, USDC, 'USDC'],
    [CHAIN, OTHER, 'USDX'],
    [2, USDC, 'USDC'],
  ])
    await query(
      em(),
      sql`insert into crypto_token (chain_id, contract, symbol, decimals, minimum)
      values (${chainId}, ${contract}, ${symbol}, 6, 1)`,
    );
});
afterAll(() => money.close());
beforeEach(async () => {
  await query(em(), sql`delete from deposit_address`);
  await query(em(), sql`delete from crypto_address`);
  await query(em(), sql`delete from crypto_key`);
});

const em = () => money.em();
const keyOf = (at: number): string => ACCOUNT.deriveChild(at).publicExtendedKey;
const setKey = (extendedKey: string, reason = 'test') =>
  setDepositKey(em(), { extendedKey, reason }, { actor: SYSTEM_ACTOR, settings: SETTINGS });

async function newAddress(wanted = { chainId: CHAIN, asset: 'USDC' }, userId?: string) {
  const owner = userId ?? (await money.wallet({})).userId;
  const row = await depositAddress(em(), { userId: owner, secretKey: SECRET_KEY }, wanted);
  return { ...row, userId: owner };
}

async function refusalOf(answer: Promise<unknown>): Promise<Pick<UserFailure, 'code' | 'message' | 'field'>> {
  const error: unknown = await answer.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof UserFailure)) throw new Error(`No UserFailure: ${String(error)}`);
  return error;
}

const NOT_OFFERED = {
  ...{ code: 'NOT_FOUND', field: ['input', 'asset'] },
  message: expect.stringMatching(/^Deposits of this token are not offered\. See paymentOptions\.$/) as string,
};

describe('a deposit address', () => {
  it('is the same for all tokens and chains of a user, with one row for each of them', async () => {
    await setKey(keyOf(0));
    const first = await newAddress();
    expect(first).toMatchObject({ chainId: CHAIN, contract: USDC, address: deriveAddress(keyOf(0), 0) });
    expect(Math.abs(first.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
    const again = await newAddress({ chainId: CHAIN, asset: 'usdc' }, first.userId);
    const token = await newAddress({ chainId: CHAIN, asset: 'USDX' }, first.userId);
    const chain = await newAddress({ chainId: 2, asset: 'USDC' }, first.userId);
    const [{ userId: _, ...one }, { userId: _1, ...two }, { userId: _2, ...three }] = [first, token, chain];
    expect(again).toEqual(first);
    expect([two.address, three.address]).toEqual([one.address, one.address]);
    expect([two.contract, three.chainId]).toEqual([OTHER, 2]);
    expect(await addressesOf(em(), first.userId)).toEqual([three, two, one]);
  });

  it('is never that of another user, also after the key was replaced and used again', async () => {
    await setKey(keyOf(0));
    const [one, two] = [await newAddress(), await newAddress()];
    await setKey(keyOf(1));
    const three = await newAddress();
    await setKey(keyOf(0));
    const four = await newAddress();
    expect([one, two, three, four].map(({ address }) => address)).toEqual([
      deriveAddress(keyOf(0), 0),
      deriveAddress(keyOf(0), 1),
      deriveAddress(keyOf(1), 0),
      deriveAddress(keyOf(0), 2),
    ]);
    expect(await addressesOf(em(), one.userId)).toHaveLength(1);
  });

  it('is not made without an active key, for a switched-off token or chain, or an unknown one', async () => {
    expect(await refusalOf(newAddress())).toMatchObject(NOT_OFFERED);
    await setKey(keyOf(0));
    expect(await refusalOf(newAddress({ chainId: 3, asset: 'USDC' }))).toMatchObject(NOT_OFFERED);
    expect(await refusalOf(newAddress({ chainId: 2, asset: 'USDX' }))).toMatchObject(NOT_OFFERED);
    await query(em(), sql`update crypto_token set enabled = false where symbol = 'USDX'`);
    expect(await refusalOf(newAddress({ chainId: CHAIN, asset: 'USDX' }))).toMatchObject(NOT_OFFERED);
    await query(em(), sql`update crypto_token set enabled = true`);
    await query(em(), sql`update crypto_chain set enabled = false where chain_id = 2`);
    expect(await refusalOf(newAddress({ chainId: 2, asset: 'USDC' }))).toMatchObject(NOT_OFFERED);
    await query(em(), sql`update crypto_chain set enabled = true`);
    expect(await query(em(), sql`select address from crypto_address`)).toEqual([]);
  });

  it('ends with the last index that a public key can derive', async () => {
    await setKey(keyOf(0));
    await query(em(), sql`update crypto_key set next_index = ${INDEX_MAX - 1}`);
    expect((await newAddress()).address).toBe(deriveAddress(keyOf(0), INDEX_MAX - 1));
    const refusal = await refusalOf(newAddress());
    expect(refusal).toMatchObject({ code: 'LIMIT_REACHED', field: null });
    expect(refusal.message).toMatch(/^No further addresses can be made/);
  });
});

describe('an extended key', () => {
  it('is stored sealed for its row, shown by its fingerprint, and audited without the key', async () => {
    await setKey(` ${keyOf(0)}\n`, 'first');
    await setKey(keyOf(1), 'second');
    await newAddress();
    const stored = await query<{ id: string; sealed: string }>(
      em(),
      sql`select id, sealed from crypto_key order by created_at`,
    );
    const opened = stored.map(({ id, sealed }) =>
      decryptSecret(SECRET_KEY, sealed, { table: 'crypto_key', id, field: 'extended_key' }),
    );
    expect(opened).toEqual([keyOf(0), keyOf(1)]);
    const views = await listDepositKeys(em());
    expect(views).toMatchObject([
      {
        id: stored[0]?.id,
        active: false,
        addresses: 0,
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      { id: stored[1]?.id, active: true, addresses: 1, fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
    expect(views[0]?.createdAt.getTime()).toBeLessThanOrEqual(Date.now());
    const audited = await query(
      em(),
      sql`select target_type, target_id, after->>'fingerprint' as fingerprint, reason from audit_event
      where action = 'depositKey.set' order by seq desc limit 2`,
    );
    expect(audited).toEqual(
      ['second', 'first'].map((reason, at) => ({
        ...{ target_type: 'DepositKey', target_id: null, reason },
        fingerprint: views[1 - at]?.fingerprint,
      })),
    );
  });

  it('is refused if it is private or malformed, and the error says what to enter instead', async () => {
    const given = await refusalOf(setKey(ACCOUNT.privateExtendedKey));
    expect(given).toMatchObject({ code: 'INVALID', field: ['input', 'extendedKey'] });
    expect(given.message).toMatch(/^This is a private key\. Never enter it/);
    expect((await refusalOf(setKey('xpub'))).message).toMatch(/^This is no extended public key\. Enter/);
    expect(await listDepositKeys(em())).toEqual([]);
  });

  it('is refused beyond the limit, unless it is known', async () => {
    for (let at = 0; at < DEPOSIT_KEYS_MAX; at += 1) await setKey(keyOf(at));
    const refusal = await refusalOf(setKey(keyOf(DEPOSIT_KEYS_MAX)));
    expect(refusal).toMatchObject({ code: 'LIMIT_REACHED', field: ['input', 'extendedKey'] });
    expect(refusal.message).toMatch(/^At most 20 keys/);
    await setKey(keyOf(3));
    const active = (await listDepositKeys(em())).filter((key) => key.active);
    expect(active).toHaveLength(1);
    expect((await newAddress()).address).toBe(deriveAddress(keyOf(3), 0));
  });

  it('is active once when two administrators set one at the same moment', async () => {
    await Promise.all([0, 1, 2, 3].map((at) => setKey(keyOf(at))));
    const keys = await listDepositKeys(em());
    expect(keys).toHaveLength(4);
    expect(keys.filter(({ active }) => active)).toHaveLength(1);
  });
});

it('gives users with concurrent first requests one address and one index each', async () => {
  await setKey(keyOf(0));
  const users = await Promise.all([0, 1, 2].map(() => money.wallet({})));
  const made = await Promise.all(
    [...users, ...users].map(({ userId }) => newAddress({ chainId: CHAIN, asset: 'USDC' }, userId)),
  );
  expect(new Set(made.map(({ address }) => address)).size).toBe(3);
  expect(await queryOne(em(), sql`select next_index from crypto_key`)).toEqual({ next_index: 3 });
});
