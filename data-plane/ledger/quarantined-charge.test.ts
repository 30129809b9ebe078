/** A record that the control plane cannot read delays no other record, and no money is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { keyOf, usageOf } from '../../test/ledger/records.ts';
import { openLedger } from './open-ledger.ts';
import type { OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface LogLine {
  fields: object;
  message: string;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-quarantined-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(controlPlane: ControlDouble, path: string, logged: LogLine[] = []): Promise<OpenLedger> {
  const error = (fields: object, message: string): void => void logged.push({ fields, message });
  const log = { info: () => undefined, warn: () => undefined, error };
  return openLedger({ folder: path, control: controlPlane, log });
}

/** Commits these charges while the control plane is away, so that they are reported together. */
async function chargeWhileAway(
  controlPlane: ControlDouble,
  ledger: OpenLedger,
  names: readonly string[],
): Promise<void> {
  const holds = [];
  for (const name of names) holds.push({ name, hold: await ledger.hold(keyOf('wallet_a'), PRICE) });
  controlPlane.away = true;
  for (const { name, hold } of holds) await hold.commit(usageOf(name, PRICE));
  ledger.report(usageOf('free_1', 0n));
  controlPlane.away = false;
}

const NAMES = Array.from({ length: 40 }, (_, at) => `request_${at + 1}`);
const OTHERS = NAMES.filter((name) => name !== 'request_17');

test('an unreadable charge is quarantined and keeps its lease open; all others are settled', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 100_000n });
  const logged: LogLine[] = [];
  const ledger = await open(controlPlane, folder(), logged);
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  controlPlane.unreadable.add('request_17');
  await chargeWhileAway(controlPlane, ledger, NAMES);
  await expect.poll(() => [...controlPlane.charges.keys()].sort()).toEqual(OTHERS.sort());
  await expect.poll(() => controlPlane.free).toEqual(['free_1']);
  await expect.poll(() => ledger.totals.quarantined).toBe(1);
  await expect.poll(() => ledger.usageBacklog).toBe(1);
  expect(logged).toMatchObject([
    { fields: { requestId: 'request_17', leaseId: expect.any(String) }, message: /quarantined/ },
  ]);
  await ledger.drain(1_000);
  const [lease, ...others] = [...controlPlane.leases.values()].filter((each) => each.open);
  expect(others).toEqual([]);
  expect((lease?.amount ?? 0n) - (lease?.sum ?? 0n)).toBeGreaterThanOrEqual(PRICE);
  expect(controlPlane.total('wallet_a')).toBe(PRICE * 100_000n);
});

test('a quarantined charge survives a restart, and is settled once it can be read', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 100_000n });
  const path = folder();
  const before = await open(controlPlane, path);
  before.connect('node_1');
  controlPlane.unreadable.add('request_17');
  await chargeWhileAway(controlPlane, before, NAMES);
  await expect.poll(() => before.totals.quarantined).toBe(1);
  await expect.poll(() => controlPlane.charges.size).toBe(OTHERS.length);
  await before.close();
  const still = await open(controlPlane, path);
  expect(still.totals.quarantined).toBe(1);
  still.connect('node_1');
  await expect.poll(() => controlPlane.reports).toBeGreaterThan(0);
  await still.close();
  controlPlane.unreadable.clear();
  const after = await open(controlPlane, path);
  cleanups.push(() => after.close());
  after.connect('node_1');
  await expect.poll(() => controlPlane.charges.has('request_17')).toBe(true);
  await expect.poll(() => controlPlane.openLeases).toBe(0);
  expect(after.totals.quarantined).toBe(0);
  expect(after.usageBacklog).toBe(0);
  expect(controlPlane.balances.get('wallet_a')).toBe(PRICE * BigInt(100_000 - NAMES.length));
});

test('an unreadable free record is dropped, counted and logged, and delays no other record', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n });
  const logged: LogLine[] = [];
  const ledger = await open(controlPlane, folder(), logged);
  cleanups.push(() => ledger.close());
  controlPlane.unreadable.add('free_2');
  for (const name of ['free_1', 'free_2', 'free_3']) ledger.report(usageOf(name, 0n));
  ledger.connect('node_1');
  await expect.poll(() => controlPlane.free.toSorted()).toEqual(['free_1', 'free_3']);
  await expect.poll(() => ledger.usageDropped).toBe(1);
  expect(logged).toMatchObject([{ fields: { requestId: 'free_2' } }]);
  await expect.poll(() => ledger.usageBacklog).toBe(0);
});

test('at most a hundred charges are quarantined; all others wait', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 100_000n });
  const ledger = await open(controlPlane, folder());
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  const names = Array.from({ length: 130 }, (_, at) => `request_${at + 1}`);
  for (const name of names) controlPlane.unreadable.add(name);
  await chargeWhileAway(controlPlane, ledger, names);
  await expect.poll(() => ledger.totals.quarantined, { timeout: 20_000 }).toBe(100);
  const { reports } = controlPlane;
  await expect.poll(() => controlPlane.reports).toBeGreaterThan(reports + 2);
  expect(ledger.totals.quarantined).toBe(100);
  expect(ledger.usageBacklog).toBe(130 + 1);
  expect(controlPlane.charges.size).toBe(0);
});
