/** One record that the control plane cannot read holds up no other, and its money is not lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Bank } from './model/bank.ts';
import { keyOf, usageOf } from './model/records.ts';
import { openLedger } from './open-ledger.ts';
import type { OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Told {
  fields: object;
  message: string;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-parked-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(bank: Bank, path: string, told: Told[] = []): Promise<OpenLedger> {
  const error = (fields: object, message: string): void => void told.push({ fields, message });
  const log = { info: () => undefined, warn: () => undefined, error };
  return openLedger({ folder: path, control: bank, log });
}

/** Charges so many requests while the control plane is away, so that they are reported together. */
async function chargeWhileAway(bank: Bank, ledger: OpenLedger, names: readonly string[]): Promise<void> {
  const holds = [];
  for (const name of names) holds.push({ name, hold: await ledger.hold(keyOf('wallet_a'), PRICE) });
  bank.away = true;
  for (const { name, hold } of holds) await hold.commit(usageOf(name, PRICE));
  ledger.report(usageOf('free_1', 0n));
  bank.away = false;
}

const NAMES = Array.from({ length: 40 }, (_, at) => `request_${at + 1}`);
const OTHERS = NAMES.filter((name) => name !== 'request_17');

test('all others are settled; its lease stays open with its price in it; the log names it', async () => {
  const bank = new Bank({ wallet_a: PRICE * 100_000n });
  const told: Told[] = [];
  const ledger = await open(bank, folder(), told);
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  bank.unreadable.add('request_17');
  await chargeWhileAway(bank, ledger, NAMES);
  await expect.poll(() => [...bank.charges.keys()].sort()).toEqual(OTHERS.sort());
  await expect.poll(() => bank.free).toEqual(['free_1']);
  await expect.poll(() => ledger.tally.parked).toBe(1);
  await expect.poll(() => ledger.usageBacklog).toBe(1);
  expect(told).toMatchObject([
    { fields: { requestId: 'request_17', leaseId: expect.any(String) }, message: /parked/ },
  ]);
  await ledger.drain(1_000);
  const [lease, ...others] = [...bank.leases.values()].filter((each) => each.open);
  expect(others).toEqual([]);
  expect((lease?.amount ?? 0n) - (lease?.sum ?? 0n)).toBeGreaterThanOrEqual(PRICE);
  expect(bank.total('wallet_a')).toBe(PRICE * 100_000n);
});

test('it survives a restart, and is settled as soon as the control plane can read it', async () => {
  const bank = new Bank({ wallet_a: PRICE * 100_000n });
  const path = folder();
  const before = await open(bank, path);
  before.connect('node_1');
  bank.unreadable.add('request_17');
  await chargeWhileAway(bank, before, NAMES);
  await expect.poll(() => before.tally.parked).toBe(1);
  await expect.poll(() => bank.charges.size).toBe(OTHERS.length);
  await before.close();
  const still = await open(bank, path);
  expect(still.tally.parked).toBe(1);
  still.connect('node_1');
  await expect.poll(() => bank.reports).toBeGreaterThan(0);
  await still.close();
  bank.unreadable.clear();
  const after = await open(bank, path);
  cleanups.push(() => after.close());
  after.connect('node_1');
  await expect.poll(() => bank.charges.has('request_17')).toBe(true);
  await expect.poll(() => bank.openLeases).toBe(0);
  expect(after.tally.parked).toBe(0);
  expect(after.usageBacklog).toBe(0);
  expect(bank.balances.get('wallet_a')).toBe(PRICE * BigInt(100_000 - NAMES.length));
});

test('a free record that cannot be read is dropped, counted and told, and nothing waits for it', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n });
  const told: Told[] = [];
  const ledger = await open(bank, folder(), told);
  cleanups.push(() => ledger.close());
  bank.unreadable.add('free_2');
  for (const name of ['free_1', 'free_2', 'free_3']) ledger.report(usageOf(name, 0n));
  ledger.connect('node_1');
  await expect.poll(() => bank.free.toSorted()).toEqual(['free_1', 'free_3']);
  await expect.poll(() => ledger.usageDropped).toBe(1);
  expect(told).toMatchObject([{ fields: { requestId: 'free_2' } }]);
  await expect.poll(() => ledger.usageBacklog).toBe(0);
});

test('where nothing can be read a hundred charges are parked, and all others wait', async () => {
  const bank = new Bank({ wallet_a: PRICE * 100_000n });
  const ledger = await open(bank, folder());
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  const names = Array.from({ length: 130 }, (_, at) => `request_${at + 1}`);
  for (const name of names) bank.unreadable.add(name);
  await chargeWhileAway(bank, ledger, names);
  await expect.poll(() => ledger.tally.parked, { timeout: 20_000 }).toBe(100);
  const { reports } = bank;
  await expect.poll(() => bank.reports).toBeGreaterThan(reports + 2);
  expect(ledger.tally.parked).toBe(100);
  expect(ledger.usageBacklog).toBe(130 + 1);
  expect(bank.charges.size).toBe(0);
});
