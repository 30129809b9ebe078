/** A control plane that watches a local chain, for tests of deposits. */
import { HDKey } from '@scure/bip32';
import { query, queryOne, sql } from '../../control-plane/database/sql.ts';
import { watchChains } from '../../control-plane/payments/crypto/watcher.ts';
import { codesOf, pick, startTestApp } from './app.ts';
import type { Answer, Browser, TestApp } from './app.ts';
import { CHAIN_ID, startChain, TOKEN } from './chain.ts';
import type { TestChain } from './chain.ts';

/** An extended public key, of a private key that only exists here. */
export const EXTENDED_KEY = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'/0");
export const CONFIRMATIONS = 6;

const CHAIN = `mutation ($input: AdminChainInput!) { adminChainSet(input: $input) {
  chain { chainId rpcHosts } userErrors { code message field } } }`;
const TOKEN_SET = `mutation ($input: AdminChainTokenInput!) { adminChainTokenSet(input: $input) {
  chain { tokens { contract symbol decimals minimum enabled } } userErrors { code message field } } }`;
const KEY = `mutation ($input: AdminDepositKeyInput!) { adminDepositKeySet(input: $input) {
  keys { fingerprint active addresses } userErrors { code message field } } }`;
const ADDRESS = `mutation ($input: DepositAddressInput!) { depositAddressCreate(input: $input) {
  address { id address qrPayload minDeposit requiredConfirmations } userErrors { code message field } } }`;
const TOP_UPS = `{ viewer { wallet { cash receivable frozen topUps { nodes { id state amount credited
  deposit { txHash confirmations requiredConfirmations blockNumber amount } } } } } }`;

/** A top-up by a deposit as the tests read it. */
export interface DepositTopUp {
  id: string;
  state: string;
  amount: string;
  credited: string;
  deposit: { txHash: string; confirmations: number };
}

export interface DepositCustomer {
  browser: Browser;
  address: string;
  /** Top-ups, oldest first. */
  topUps(): Promise<DepositTopUp[]>;
  cash(): Promise<string>;
}

export interface DepositHouse {
  test: TestApp;
  chain: TestChain;
  admin: Browser;
  /** A new customer with an address for the token. */
  customer(): Promise<DepositCustomer>;
  setChain(input: Record<string, unknown>): Promise<Answer>;
  setToken(input: Record<string, unknown>): Promise<Answer>;
  setKey(extendedKey: string): Promise<Answer>;
  /** Reads the chain once, as the job does. */
  watch(): Promise<void>;
  /** Trouble of the chain, and whether it is frozen. */
  state(): Promise<{ trouble: string | null; frozen: boolean; cursor: number; scanSize: number }>;
  close(): Promise<void>;
}

/** Starts chain and control plane, and configures them through the API. */
export async function openDeposits(): Promise<DepositHouse> {
  const chain = await startChain();
  const test = await startTestApp();
  const admin = await test.admin();
  const em = () => test.orm.em.fork();
  const send = (document: string, input: Record<string, unknown>) =>
    admin.send(document, { input: { reason: 'test', ...input } });
  const id = { chainId: CHAIN_ID };
  const house: DepositHouse = {
    ...{ test, chain, admin },
    customer: () => newCustomer(house),
    setChain: (input) => send(CHAIN, { ...id, ...input }),
    setToken: (input) => send(TOKEN_SET, { ...id, ...input }),
    setKey: (extendedKey) => send(KEY, { extendedKey }),
    watch: async () => {
      await query(em(), sql`update crypto_chain set due_at = now()`);
      await watchChains({ em, settings: test.settings });
    },
    state: async () => {
      const row = await queryOne<{ trouble: string | null; frozen: boolean; cursor: number; size: number }>(
        em(),
        sql`select trouble, frozen_at is not null as frozen, cursor::integer, scan_size as size
        from crypto_chain where chain_id = ${CHAIN_ID}`,
      );
      if (!row) throw new Error('There is no chain.');
      return { trouble: row.trouble, frozen: row.frozen, cursor: row.cursor, scanSize: row.size };
    },
    close: async () => {
      await test.close();
      await chain.close();
    },
  };
  const { rpcAddresses } = chain;
  const terms = { name: 'Local', confirmations: CONFIRMATIONS, needsFinality: false, startBlock: 0 };
  succeed(await house.setKey(EXTENDED_KEY.publicExtendedKey), 'adminDepositKeySet');
  succeed(await house.setChain({ ...terms, rpcAddresses }), 'adminChainSet');
  succeed(await house.setToken({ contract: TOKEN, symbol: 'USDC', minimum: '1' }), 'adminChainTokenSet');
  return house;
}

/** Throws unless the mutation succeeded. */
function succeed(answer: Answer, field: string): void {
  if (codesOf(answer, field).length > 0 || answer.errors.length > 0) throw new Error(JSON.stringify(answer));
}

let customers = 0;

async function newCustomer({ test }: DepositHouse): Promise<DepositCustomer> {
  const browser = await test.user(`depositor${(customers += 1)}@example.com`);
  const made = await browser.send(ADDRESS, { input: { chainId: CHAIN_ID, asset: 'USDC' } });
  const wallet = <T>(...path: string[]) =>
    browser.send(TOP_UPS).then((answer) => pick<T>(answer, 'viewer', 'wallet', ...path));
  return {
    browser,
    address: pick(made, 'depositAddressCreate', 'address', 'address'),
    topUps: async () => (await wallet<DepositTopUp[]>('topUps', 'nodes')).toReversed(),
    cash: () => wallet('cash'),
  };
}
