/** Tests of the settings of blockchains, and of the addresses of customers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../../test/control/app.ts';
import type { Answer, Browser } from '../../../test/control/app.ts';
import { CHAIN_ID, TOKEN } from '../../../test/control/chain.ts';
import { EXTENDED_KEY, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositHouse } from '../../../test/control/deposits.ts';
import { query, sql } from '../../database/sql.ts';
import { checksummed, deriveAddress } from './address.rules.ts';

const ADDRESS = `mutation ($input: DepositAddressInput!) { depositAddressCreate(input: $input) {
  address { address qrPayload minDeposit requiredConfirmations } userErrors { code } } }`;
const OPTIONS = `{ paymentOptions { methods crypto { chainId chainName asset minDeposit } } }`;
const CHAINS = `{ admin { chains { chainId rpcHosts trouble tokens { symbol decimals } }
  depositKeys { fingerprint active } } }`;
const NO_TOKEN = '0x00000000000000000000000000000000000c0dff';

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());

const publicKey = EXTENDED_KEY.publicExtendedKey;
const addressFor = (browser: Browser, asset = 'USDC'): Promise<Answer> =>
  browser.send(ADDRESS, { input: { chainId: CHAIN_ID, asset } });
const codes = async (answer: Promise<Answer>, field: string): Promise<string[]> =>
  codesOf(await answer, field);

describe('an address', () => {
  it('is derived once per user, and concurrent first requests get the same one', async () => {
    const users = await Promise.all(
      Array.from({ length: 5 }, (_, at) => house.test.user(`address${at}@example.com`)),
    );
    const made = await Promise.all(users.flatMap((user) => [addressFor(user), addressFor(user)]));
    const addresses = made.map((answer) =>
      pick<string>(answer, 'depositAddressCreate', 'address', 'address'),
    );
    expect(new Set(addresses).size).toBe(users.length);
    const derived = Array.from({ length: users.length }, (_, at) =>
      checksummed(deriveAddress(publicKey, at)),
    );
    expect(new Set(addresses)).toEqual(new Set(derived));
    const listed = await users[0]?.send('{ viewer { wallet { depositAddresses { address asset } } } }');
    expect(pick(listed as Answer, 'viewer', 'wallet', 'depositAddresses')).toEqual([
      { address: addresses[0], asset: 'USDC' },
    ]);
  });

  it('is refused for a token that is not offered', async () => {
    const user = await house.test.user('unknown-token@example.com');
    expect(await codes(addressFor(user, 'DAI'), 'depositAddressCreate')).toEqual(['NOT_FOUND']);
    await house.setChain({ enabled: false });
    expect(await codes(addressFor(user), 'depositAddressCreate')).toEqual(['NOT_FOUND']);
    expect(pick(await user.send(OPTIONS), 'paymentOptions')).toEqual({ methods: [], crypto: [] });
    await house.setChain({ enabled: true });
    expect(pick(await user.send(OPTIONS), 'paymentOptions', 'methods')).toEqual(['CRYPTO']);
  });
});

describe('an extended key', () => {
  it('is refused if it is private or malformed, and is never stored then', async () => {
    for (const key of [EXTENDED_KEY.privateExtendedKey, 'xpub', '', publicKey.slice(0, -1)])
      expect(await codes(house.setKey(key), 'adminDepositKeySet')).toEqual(['INVALID']);
    const em = house.test.orm.em.fork();
    expect(await query(em, sql`select id from crypto_key`)).toHaveLength(1);
  });

  it('can be replaced, and gives addresses of its own from then on', async () => {
    const other = EXTENDED_KEY.deriveChild(1).publicExtendedKey;
    const user = await house.test.user('two-keys@example.com');
    const first = pick<string>(await addressFor(user), 'depositAddressCreate', 'address', 'address');
    await house.setKey(other);
    const second = pick<string>(await addressFor(user), 'depositAddressCreate', 'address', 'address');
    expect(second).toBe(checksummed(deriveAddress(other, 0)));
    await house.setKey(publicKey);
    expect(pick<string>(await addressFor(user), 'depositAddressCreate', 'address', 'address')).toBe(first);
    const keys = pick<{ active: boolean }[]>(await house.admin.send(CHAINS), 'admin', 'depositKeys');
    expect(keys.map(({ active }) => active)).toEqual([true, false]);
  });
});

describe('settings of a chain', () => {
  it('hide the addresses of RPC services, which may hold a key', async () => {
    const secret = `${house.chain.rpcAddresses[0]}/v2/a-secret-key`;
    await house.setChain({ rpcAddresses: [secret, house.chain.rpcAddresses[1]] });
    const text = JSON.stringify(await house.admin.send(CHAINS));
    expect(text).toContain(new URL(secret).host);
    expect(text).not.toContain('a-secret-key');
    const em = house.test.orm.em.fork();
    const stored = await query(em, sql`select * from crypto_chain`);
    const audited = await query(em, sql`select * from audit_event where action = 'chain.set'`);
    expect(JSON.stringify([stored, audited])).not.toContain('a-secret-key');
  });

  it('are shown with the last block that was searched and the newest one', async () => {
    await house.chain.mine(2);
    await house.watch();
    const head = await house.chain.head();
    const chains = pick(
      await house.admin.send(`{ admin { chains { scannedBlock newestBlock } } }`),
      'admin',
      'chains',
    );
    expect(chains).toEqual([{ scannedBlock: head, newestBlock: head }]);
  });

  const { rpcAddresses } = { rpcAddresses: (): string[] => house.chain.rpcAddresses };
  it.each<[string, () => Record<string, unknown>, string]>([
    ['one service', () => ({ rpcAddresses: rpcAddresses().slice(1) }), 'INVALID'],
    ['the same service twice', () => ({ rpcAddresses: [rpcAddresses()[0], rpcAddresses()[0]] }), 'INVALID'],
    ['no address', () => ({ rpcAddresses: ['x', 'y'] }), 'INVALID'],
    ['services of another chain', () => ({ chainId: 1, rpcAddresses: rpcAddresses() }), 'INVALID'],
    ['no services for a new chain', () => ({ chainId: 5, name: 'New', confirmations: 3 }), 'REQUIRED'],
    ['no confirmations', () => ({ confirmations: 0 }), 'INVALID'],
    ['too many confirmations', () => ({ confirmations: 1_001 }), 'INVALID'],
    ['an empty name', () => ({ name: ' ' }), 'INVALID'],
    ['an explorer without https', () => ({ explorerUrl: 'javascript:alert(1)' }), 'INVALID'],
  ])('refuse %s', async (_name, input, code) => {
    expect(await codes(house.setChain(input()), 'adminChainSet')).toEqual([code]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a contract without decimals', { contract: NO_TOKEN, symbol: 'NONE', minimum: '1' }, 'INVALID'],
    ['an address with a wrong checksum', { contract: `0xAbcD${'0'.repeat(36)}`, symbol: 'X1' }, 'INVALID'],
    ['a minimum of zero', { contract: TOKEN, minimum: '0' }, 'INVALID'],
    ['a symbol with spaces', { contract: TOKEN, symbol: 'US DC' }, 'INVALID'],
    ['an unknown chain', { chainId: 5, contract: TOKEN, symbol: 'USDC', minimum: '1' }, 'NOT_FOUND'],
  ])('refuse a token with %s', async (_name, input, code) => {
    expect(await codes(house.setToken(input), 'adminChainTokenSet')).toEqual([code]);
  });

  it('name no lost block of a chain that a control plane of an earlier release resumed', async () => {
    const lost = async () =>
      pick(await house.admin.send('{ admin { chains { frozenBlock } } }'), 'admin', 'chains');
    await query(house.test.orm.em.fork(), sql`update crypto_chain set frozen_at = now(), frozen_block = 7`);
    expect(await lost()).toEqual([{ frozenBlock: 7 }]);
    await query(house.test.orm.em.fork(), sql`update crypto_chain set frozen_at = null`);
    expect(await lost()).toEqual([{ frozenBlock: null }]);
  });

  it('refuse a second token with the symbol of an enabled one', async () => {
    const copy = await house.chain.deploy(6);
    const input = { contract: copy, symbol: 'usdc', minimum: '1' };
    expect(await codes(house.setToken(input), 'adminChainTokenSet')).toEqual(['CONFLICT']);
    expect(await codes(house.setToken({ ...input, enabled: false }), 'adminChainTokenSet')).toEqual([]);
  });
});
