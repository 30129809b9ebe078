/** A local chain by anvil behind two RPC services that a test can disturb, with a token to transfer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { arch, platform } from 'node:os';
import { findFreePort } from '../../control-plane/local/ports.ts';
import type { Address } from '../../control-plane/payments/crypto/address.rules.ts';
import { TRANSFER_TOPIC } from '../../control-plane/payments/crypto/rpc.client.ts';

export const CHAIN_ID = 31_337;
/** The token with six decimals: the first contract of SENDER. */
export const TOKEN: Address = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
/** The first account of anvil, for which it signs. */
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const TRANSFER_SELECTOR = '0xa9059cbb';
const START_MS = 30_000;

/** An answer of a service: the body for a question of JSON-RPC, or a status. */
export type Disturbance = (
  question: { method: string; params: unknown[] },
  answer: { result?: unknown; error?: unknown },
) => Said | Promise<Said>;
type Said = { result?: unknown; error?: unknown } | number;

/** A running chain. */
export interface TestChain {
  /** Addresses of two services of the chain. */
  rpcAddresses: [string, string];
  /** Disturbs the answers of a service; null ends the disturbance. */
  disturb(service: 0 | 1, disturbance: Disturbance | null): void;
  call(method: string, ...params: unknown[]): Promise<unknown>;
  mine(blocks?: number): Promise<void>;
  /** Transfers units of a token, twice if wanted. Returns the hash of the transaction. */
  transfer(to: string, units: bigint, options?: { twice?: boolean; token?: Address }): Promise<string>;
  /** Sends a signed transaction again, after a reorganisation took it away. Returns its hash. */
  resend(raw: unknown): Promise<string>;
  /** Deploys a token with these decimals, and returns its address. */
  deploy(decimals: number): Promise<Address>;
  head(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a chain that mines a block for each transaction, with a token of six decimals. */
export async function startChain(): Promise<TestChain> {
  const port = await findFreePort();
  // All states stay in memory: those that anvil stores on disk lack the code of contracts.
  const states = ['--prune-history', '10000'];
  const options = ['--port', String(port), '--silent', '--chain-id', String(CHAIN_ID), ...states];
  const child = spawn(binary(), options, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const call = (method: string, ...params: unknown[]) => ask(url, method, params);
  await whenReady(() => call('eth_chainId'));
  const services = await Promise.all([startService(url), startService(url)]);
  const chain: TestChain = {
    rpcAddresses: [services[0].address, services[1].address],
    disturb: (service, disturbance) => services[service].disturb(disturbance),
    call,
    mine: async (blocks = 1) => void (await call('anvil_mine', `0x${blocks.toString(16)}`)),
    transfer: async (to, units, { twice = false, token = TOKEN } = {}) => {
      const words = [to.slice(2).toLowerCase(), units.toString(16), ...(twice ? ['1'] : [])];
      const data = TRANSFER_SELECTOR + words.map((word) => word.padStart(64, '0')).join('');
      const hash = await call('eth_sendTransaction', { from: SENDER, to: token, data });
      await receiptOf(call, hash);
      return String(hash);
    },
    resend: async (raw) => {
      const hash = await call('eth_sendRawTransaction', raw);
      await receiptOf(call, hash);
      return String(hash);
    },
    deploy: async (decimals) => {
      const hash = await call('eth_sendTransaction', { from: SENDER, data: creationOf(tokenCode(decimals)) });
      return (await receiptOf(call, hash)).contractAddress;
    },
    head: async () => Number(await call('eth_blockNumber')),
    close: async () => {
      for (const service of services) service.close();
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
  const token = await chain.deploy(6);
  if (token !== TOKEN) throw new Error(`The token is at ${token}.`);
  return chain;
}

/**
 * Bytecode of a token. It looks at the length of a call: 4 bytes ask for the decimals, 68 bytes transfer, and
 * 100 bytes transfer twice. A transfer only emits its event.
 */
function tokenCode(decimals: number): string {
  // MSTORE(0, second argument); LOG3(0, 32, topic, caller, first argument)
  const emit = `60243560005260043533${`7f${TRANSFER_TOPIC.slice(2)}`}60206000a3`;
  const returned = '60206000f3';
  const single = `${emit}6001600052${returned}`;
  const double = `5b${emit}${emit}6001600052${returned}`;
  const stated = `5b60${decimals.toString(16).padStart(2, '0')}600052${returned}`;
  // Two jumps of eight bytes: CALLDATASIZE == length, JUMPI.
  const doubleAt = 16 + single.length / 2;
  const statedAt = doubleAt + double.length / 2;
  const jump = (length: string, at: number) => `3660${length}1461${at.toString(16).padStart(4, '0')}57`;
  return `${jump('04', statedAt)}${jump('64', doubleAt)}${single}${double}${stated}`;
}

/** Code that creates a contract: it returns what follows its own ten bytes. */
function creationOf(code: string): string {
  return `0x61${(code.length / 2).toString(16).padStart(4, '0')}80600a3d393df3${code}`;
}

/** anvil of the package for this machine; its own launcher would add a process. */
function binary(): string {
  const machine = `${platform() === 'win32' ? 'win32' : platform()}-${arch() === 'x64' ? 'amd64' : arch()}`;
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${machine}/bin/anvil`);
}

/** The receipt, once the transaction is mined: anvil answers earlier. */
function receiptOf(call: TestChain['call'], hash: unknown): Promise<{ contractAddress: Address }> {
  return whenReady(async () => {
    const receipt = await call('eth_getTransactionReceipt', hash);
    if (!receipt) throw new Error('The transaction is not mined yet.');
    return receipt as { contractAddress: Address };
  });
}

async function whenReady<Value>(question: () => Promise<Value>): Promise<Value> {
  const end = Date.now() + START_MS;
  for (;;) {
    const answer = await question().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (answer) return answer.value;
    if (Date.now() > end) throw new Error('anvil did not answer in time.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function ask(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

interface Service {
  address: string;
  disturb(disturbance: Disturbance | null): void;
  close(): void;
}

/** An RPC service that passes questions on to anvil. */
async function startService(url: string): Promise<Service> {
  let disturbance: Disturbance | null = null;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const question = JSON.parse(text) as { method: string; params: unknown[] };
    const headers = { 'content-type': 'application/json' };
    const original = await fetch(url, { method: 'POST', headers, body: text });
    const known = (await original.json()) as { result?: unknown; error?: unknown };
    const said = disturbance ? await disturbance(question, known) : known;
    if (typeof said === 'number') response.writeHead(said).end();
    else response.writeHead(200, headers).end(JSON.stringify(said));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disturb: (next) => {
      disturbance = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
