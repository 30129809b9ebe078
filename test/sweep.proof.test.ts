/** The offline script that collects deposits, step by step, against a local chain with a token. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mnemonicToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveAddress } from '../control-plane/payments/crypto/address.rules.ts';
import { TRANSFER_TOPIC } from '../control-plane/payments/crypto/rpc.client.ts';
import { startChain } from './control/chain.ts';
import type { TestChain } from './control/chain.ts';

const SCRIPT = join(import.meta.dirname, '..', 'tools', 'sweep.mjs');
/** Mnemonics for this test only: the operator's, and another one. */
const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const OTHER = 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above';
/** The branch whose extended public key the gateway has. */
const BRANCH = "m/44'/60'/0'/0";
const TOKEN = '0x00000000000000000000000000000000000070c3';
const COLD = '0x00000000000000000000000000000000C01DC01d';
const COIN = 10n ** 18n;
const USDC = 1_000_000n;
const RUN_MS = 60_000;
/** Deposits of the customers with these indexes. */
const PAID = new Map([
  [0, 25n * USDC],
  [1, 0n],
  [2, 3n],
  [77, 1_000n * USDC + 1n],
]);

let folder: string;
let chain: TestChain;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sweep-'));
  chain = await startChain();
  await chain.call('anvil_setCode', TOKEN, tokenWithBalances());
  const extendedKey = mnemonicToAccount(PHRASE, { path: BRANCH }).getHdKey().publicExtendedKey;
  const lines: string[] = [];
  for (const [index, units] of PAID) {
    const address = deriveAddress(extendedKey, index);
    lines.push(`${index},${address}`);
    await chain.call('anvil_setStorageAt', TOKEN, word(address), word(`0x${units.toString(16)}`));
  }
  writeFileSync(file('addresses.csv'), `${lines.join('\n')}\n`);
}, RUN_MS);
afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string): string => join(folder, name);
const word = (hex: string): string => `0x${hex.slice(2).padStart(64, '0')}`;

/** Runs a step, with the phrase on its standard input. */
async function sweep(given: string[], phrase = ''): Promise<{ code: unknown; text: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...given], { cwd: folder, stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
  child.stdin.end(phrase);
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, text };
}

const rpc = (): string => chain.rpcAddresses[0];
const plan = (payer: string): ReturnType<typeof sweep> => {
  const target = ['--rpc', rpc(), '--token', TOKEN, '--to', COLD, '--gas-address', payer];
  return sweep(['plan', ...target, '--addresses', 'addresses.csv', '--least', '10', '--out', 'plan.json']);
};
const sign = (phrase: string, to = COLD): ReturnType<typeof sweep> =>
  sweep(['sign', '--plan', 'plan.json', '--to', to, '--out', 'signed.json'], phrase);
const send = (): ReturnType<typeof sweep> => sweep(['send', '--rpc', rpc(), '--signed', 'signed.json']);
const unitsOf = async (address: string): Promise<bigint> => {
  const data = `0x70a08231${word(address).slice(2)}`;
  return BigInt(String(await chain.call('eth_call', { to: TOKEN, data }, 'latest')));
};

describe('the script that collects deposits', { timeout: RUN_MS }, () => {
  let payer = '';

  it('plans transfers of all balances above the minimum, without a key', async () => {
    const { code, text } = await sweep(['gas-address'], PHRASE);
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringMatching(/^0x[0-9a-fA-F]{40}\n$/) });
    payer = text.trim();
    const planned = await plan(payer);
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.text).toContain('2 transfers of 1025000001 units');
    expect(planned.text).toContain(`coins for gas to ${payer}`);
  });

  it('signs nothing for another mnemonic, another destination or a wrong phrase', async () => {
    const other = await sign(OTHER);
    expect(other).toMatchObject({ code: 1, text: expect.stringContaining('does not belong') });
    const elsewhere = await sign(PHRASE, payer);
    expect(elsewhere).toMatchObject({ code: 1, text: expect.stringContaining('The plan pays to') });
    const wrong = await sign(PHRASE.replace('yellow', 'zebra'));
    expect(wrong).toEqual({ code: 1, text: 'This is no mnemonic. Check the words.\n' });
  });

  it('moves the balances to the destination once, however often it is sent', async () => {
    await chain.call('anvil_setBalance', payer, `0x${COIN.toString(16)}`);
    expect(await sign(`  ${PHRASE}\n`)).toMatchObject({ code: 0 });
    for (let times = 0; times < 2; times += 1) {
      const { code, text } = await send();
      expect({ code, sent: text.match(/ success$/gm)?.length }, text).toEqual({ code: 0, sent: 4 });
      expect(await unitsOf(COLD)).toBe(1_025_000_001n);
    }
    const left = readFileSync(file('addresses.csv'), 'utf8').trim().split('\n');
    const balances = await Promise.all(left.map((line) => unitsOf(line.split(',')[1] ?? '')));
    expect(balances).toEqual([0n, 0n, 3n, 0n]);
    expect(await plan(payer)).toMatchObject({ code: 0, text: expect.stringMatching(/^0 transfers/) });
  });

  it('writes no word of the mnemonic into its files', () => {
    const written = ['plan.json', 'signed.json'].map((name) => readFileSync(file(name), 'utf8')).join('');
    for (const each of PHRASE.split(' ')) expect(written).not.toContain(each);
  });

  it('sends nothing to another chain', async () => {
    chain.disturb(0, ({ method }, answer) => (method === 'eth_chainId' ? { result: '0x1' } : answer));
    expect(await send()).toMatchObject({ code: 1, text: expect.stringContaining('of chain 1,') });
    chain.disturb(0, null);
  });
});

/**
 * Bytecode of a token that keeps each balance in the slot of its address. It looks at the length of a call:
 * 68 bytes transfer, anything else asks for a balance.
 */
function tokenWithBalances(): string {
  const amount = '602435';
  const to = '600435';
  const balance = `${to}54600052${'60206000f3'}`;
  const subtract = `${amount}33540333${'55'}`;
  const add = `${amount}${to}5401${to}55`;
  const emit = `${amount}600052${to}33${`7f${TRANSFER_TOPIC.slice(2)}`}60206000a3`;
  const refuse = '60006000fd';
  // CALLDATASIZE == 68, JUMPI.
  const start = (at: number): string => `36604414${jumpTo(at)}`;
  const transferAt = start(0).length / 2 + balance.length / 2;
  const check = (at: number): string => `5b${amount}335410${jumpTo(at)}`;
  const move = `${subtract}${add}${emit}600160005260206000f3`;
  const refuseAt = transferAt + (check(0).length + move.length) / 2;
  return `0x${start(transferAt)}${balance}${check(refuseAt)}${move}5b${refuse}`;
}

/** Jumps to this place if the top of the stack is not zero. */
function jumpTo(at: number): string {
  return `61${at.toString(16).padStart(4, '0')}57`;
}
