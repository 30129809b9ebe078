/**
 * Collects the deposits of a token from the addresses of customers. Three steps on two machines, so that the
 * mnemonic is never on a machine with a network: `plan` asks an RPC service for balances, `sign` signs the
 * plan offline, `send` sends the signed transactions. Never run it on a server of the gateway. Needs only
 * this file and the package viem. See docs/operations.md.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createPublicClient, encodeFunctionData, erc20Abi, formatEther, http, keccak256 } from 'viem';
import { getAddress, isAddressEqual, TransactionReceiptNotFoundError } from 'viem';
import { english, hdKeyToAccount, mnemonicToAccount } from 'viem/accounts';

/** The branch of the addresses of customers: its extended public key is the one that the gateway has. */
const DEPOSITS = "m/44'/60'/0'/0";
/** The address that pays for gas. No customer ever gets it. */
const GAS = "m/44'/60'/0'/1/0";
const PLAIN_TRANSFER_GAS = 21_000n;
/** Fees may rise by this factor between plan and sending. */
const FEE_RESERVE = 3n;
const BALANCES_AT_ONCE = 10;

const STEPS = { 'gas-address': gasAddress, plan, sign, send };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    ['rpc', 'token', 'to', 'gas-address', 'addresses', 'least', 'plan', 'signed', 'out'].map((name) => [
      name,
      { type: 'string' },
    ]),
  ),
});
const step = STEPS[positionals[0]];
if (!step) fail(`Give one of the steps ${Object.keys(STEPS).join(', ')}.`);
await step().catch((error) => fail(error instanceof Error ? error.message : String(error)));

/** Prints the address to which coins for gas have to be sent. Asks for the mnemonic. */
async function gasAddress() {
  console.log(hdKeyToAccount(await readKey(), { path: GAS }).address);
}

/** Writes which balances can be collected, and what the gas of that costs. Needs no key. */
async function plan() {
  const client = createPublicClient({ transport: http(need('rpc')) });
  const [token, to, payer] = ['token', 'to', 'gas-address'].map((name) => getAddress(need(name)));
  const owners = readFileSync(need('addresses'), 'utf8').trim().split('\n').map(ownerOf);
  const least = BigInt(values.least ?? '1');
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
  const feePerGas = maxFeePerGas * FEE_RESERVE;
  const transfers = [];
  for (let at = 0; at < owners.length; at += BALANCES_AT_ONCE) {
    const found = owners.slice(at, at + BALANCES_AT_ONCE).map(async (owner) => {
      const amount = await balanceOf(client, token, owner.address);
      return amount < least ? [] : [await transferOf(client, { ...owner, token, to, amount, feePerGas })];
    });
    transfers.push(...(await Promise.all(found)).flat());
  }
  const cost = transfers.reduce((sum, { gift }) => sum + gift + PLAIN_TRANSFER_GAS * feePerGas, 0n);
  const chainId = await client.getChainId();
  const nonce = await client.getTransactionCount({ address: payer, blockTag: 'pending' });
  const fees = { maxFeePerGas: feePerGas, maxPriorityFeePerGas };
  write(need('out'), { chainId, token, to, payer, nonce, ...fees, transfers });
  describe(transfers, to);
  const has = await client.getBalance({ address: payer });
  if (has < cost)
    console.log(`Send ${formatEther(cost - has)} coins for gas to ${payer} before the step send.`);
}

/** Signs a plan. Refuses addresses of another mnemonic, and another destination than the one given. */
async function sign() {
  const { chainId, token, to, payer, nonce, maxFeePerGas, maxPriorityFeePerGas, transfers } = read('plan');
  if (!isAddressEqual(to, getAddress(need('to')))) fail(`The plan pays to ${to}. Make a new plan.`);
  const key = await readKey();
  const fees = { chainId, type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas };
  const gasAccount = hdKeyToAccount(key, { path: GAS });
  if (!isAddressEqual(gasAccount.address, payer)) fail(`${payer} does not belong to this mnemonic.`);
  const gifts = [];
  const collected = [];
  for (const { index, address, amount, gas, nonce: own, gift } of transfers) {
    const account = hdKeyToAccount(key, { path: `${DEPOSITS}/${index}` });
    if (!isAddressEqual(account.address, address)) fail(`${address} does not belong to this mnemonic.`);
    if (gift > 0n) {
      const next = nonce + gifts.length;
      const given = { ...fees, to: address, value: gift, gas: PLAIN_TRANSFER_GAS, nonce: next };
      gifts.push(await gasAccount.signTransaction(given));
    }
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
    collected.push(await account.signTransaction({ ...fees, to: token, data, gas, nonce: own }));
  }
  write(need('out'), { chainId, gifts, collected });
  describe(transfers, to);
  const gas = transfers.reduce((sum, one) => sum + one.gas + (one.gift > 0n ? PLAIN_TRANSFER_GAS : 0n), 0n);
  console.log(`Fees are at most ${formatEther(gas * maxFeePerGas)} coins.`);
}

/** Sends the signed transactions: gas first, then the transfers. Run it again after a failure. */
async function send() {
  const client = createPublicClient({ transport: http(need('rpc')) });
  const { chainId, gifts, collected } = read('signed');
  const found = await client.getChainId();
  if (found !== chainId) fail(`The service is of chain ${found}, and the plan of chain ${chainId}.`);
  for (const transactions of [gifts, collected]) {
    for (const raw of transactions)
      if (!(await isMined(client, raw)))
        await client.sendRawTransaction({ serializedTransaction: raw }).catch(ignoreKnown);
    for (const raw of transactions) {
      const { status } = await client.waitForTransactionReceipt({ hash: keccak256(raw) });
      console.log(`${keccak256(raw)} ${status}`);
      if (status !== 'success') process.exitCode = 1;
    }
  }
}

async function transferOf(client, { index, address, token, to, amount, feePerGas }) {
  const call = { address: token, abi: erc20Abi, functionName: 'transfer', args: [to, amount] };
  // A reserve, because the cost of a transfer depends on whether the destination has the token already.
  const gas = ((await client.estimateContractGas({ ...call, account: address })) * 3n) / 2n;
  const has = await client.getBalance({ address });
  const lacks = gas * feePerGas - has;
  const nonce = await client.getTransactionCount({ address, blockTag: 'pending' });
  return { index, address, amount, gas, nonce, gift: lacks > 0n ? lacks : 0n };
}

function balanceOf(client, token, owner) {
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
}

async function isMined(client, raw) {
  try {
    return Boolean(await client.getTransactionReceipt({ hash: keccak256(raw) }));
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return false;
    throw error;
  }
}

/** A transaction that an earlier run sent is waiting to be mined. */
function ignoreKnown(error) {
  if (!/already (known|imported)/i.test(String(error))) throw error;
}

/** A line of the list: index, comma, address. */
function ownerOf(line) {
  const [, index, address] = /^(\d+),(0x[0-9a-fA-F]{40})\r?$/.exec(line) ?? fail(`Not an address: ${line}`);
  return { index: Number(index), address: getAddress(address.toLowerCase()) };
}

function describe(transfers, to) {
  const sum = transfers.reduce((total, { amount }) => total + amount, 0n);
  console.log(`${transfers.length} transfers of ${sum} units to ${to}.`);
}

/** The key of the mnemonic on the standard input, where no list of processes shows it. */
async function readKey() {
  if (process.stdin.isTTY) console.error('Type the mnemonic, Enter, and Ctrl-D.');
  let phrase = '';
  for await (const chunk of process.stdin) phrase += chunk;
  const words = phrase.trim().split(/\s+/);
  if (!isMnemonic(words)) return fail('This is no mnemonic. Check the words.');
  return mnemonicToAccount(words.join(' '), { path: 'm' }).getHdKey();
}

/** Whether the words are of the English list of BIP-39, and end with the checksum of the others. */
function isMnemonic(words) {
  const places = words.map((word) => english.indexOf(word));
  if (words.length % 3 !== 0 || words.length < 12 || places.includes(-1)) return false;
  const bits = places.map((place) => place.toString(2).padStart(11, '0')).join('');
  const entropy = bits.slice(0, -words.length / 3);
  const bytes = entropy.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2));
  const [first] = createHash('sha256').update(Uint8Array.from(bytes)).digest();
  return (
    bits ===
    entropy +
      first
        .toString(2)
        .padStart(8, '0')
        .slice(0, words.length / 3)
  );
}

function need(name) {
  return values[name] ?? fail(`Give --${name}.`);
}

/** Amounts are texts that end with n, because JSON has no large integers. */
function write(file, content) {
  const text = JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? `${value}n` : value), 2);
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
}

function read(name) {
  return JSON.parse(readFileSync(need(name), 'utf8'), (_, value) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
