/** The ledger when its disk, its registration or the control plane fails it: no money is lost or kept. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { Bank } from './model/bank.ts';
import { keyOf, usageOf } from './model/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;

let folder: string;
let full: boolean;
let bank: Bank;
let opened: OpenLedger[];
let warnings: object[];

/** Takes nothing while it is full. */
const disk: Disk = {
  ...realDisk,
  create: async (path) => {
    if (full) throw new Error('ENOSPC');
    const file = await realDisk.create(path);
    return { ...file, append: (bytes) => (full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)) };
  },
};

/** Takes everything and keeps nothing: for who must not wait for a real one on a busy machine. */
const swift: Disk = {
  ...realDisk,
  create: async (path) => ({ ...(await realDisk.create(path)), append: async () => undefined }),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-trouble-'));
  full = false;
  bank = new Bank({ wallet_a: FULL });
  opened = [];
  warnings = [];
});
afterEach(async () => {
  full = false;
  for (const ledger of opened) await ledger.close();
  rmSync(folder, { recursive: true });
});

async function open(more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const log = {
    info: () => undefined,
    warn: (fields: object) => void warnings.push(fields),
    error: () => undefined,
  };
  const ledger = await openLedger({ folder, control: bank, log, disk, ...more });
  opened.push(ledger);
  return ledger;
}

async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not refused: ${String(error)}`);
  return { code: error.code, message: error.message };
}

test('a folder whose journal cannot be read is let go: the next attempt may have it', async () => {
  const sick: Disk = { ...realDisk, list: () => Promise.reject(new Error('EIO')) };
  await expect(open({ disk: sick })).rejects.toThrow('EIO');
  await expect(open()).resolves.toBeDefined();
});

test('a charge that the disk does not take counts nowhere, and its price is free again', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  full = true;
  expect(await refusalOf(hold.commit(usageOf('request_1', PRICE)))).toEqual({
    code: 'unavailable',
    message: 'The gateway could not record the charge; nothing was charged.',
  });
  expect(ledger.tally).toMatchObject({ charges: 0, chargedMicros: 0n });
  full = false;
  await expect.poll(() => ledger.writable).toBe(true);
  await ledger.drain(5_000);
  expect([bank.openLeases, bank.charges.size, bank.balances.get('wallet_a')]).toEqual([0, 0, FULL]);
});

test('a charge that cannot be put into words counts nowhere, and its price is free again', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  expect(await refusalOf(hold.commit({ ...usageOf('request_1', PRICE), at: Number.NaN }))).toEqual({
    code: 'unavailable',
    message: 'The gateway could not record the charge; nothing was charged.',
  });
  const next = await ledger.hold(keyOf('wallet_a'), PRICE);
  await next.commit(usageOf('request_2', PRICE));
  expect(ledger.tally).toMatchObject({ charges: 1, chargedMicros: PRICE });
  await ledger.drain(5_000);
  expect([bank.openLeases, bank.balances.get('wallet_a')]).toEqual([0, FULL - PRICE]);
});

test('while the disk takes nothing what costs something is refused, though a lease has room', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const [first, second] = [
    await ledger.hold(keyOf('wallet_a'), PRICE),
    await ledger.hold(keyOf('wallet_a'), PRICE),
  ];
  second.release();
  full = true;
  await refusalOf(first.commit(usageOf('request_1', PRICE)));
  expect(ledger.writable).toBe(false);
  expect(await refusalOf(ledger.hold(keyOf('wallet_a'), PRICE))).toEqual({
    code: 'unavailable',
    message: 'The gateway cannot record charges at the moment.',
  });
});

test('a question that the disk does not take is not asked: each lease has a record', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  full = true;
  expect((await refusalOf(ledger.hold(keyOf('wallet_a'), PRICE))).code).toBe('unavailable');
  expect([bank.requests, bank.openLeases]).toEqual([0, 0]);
  full = false;
  await expect.poll(() => ledger.writable).toBe(true);
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  expect(bank.requests).toBe(1);
});

test('before the node is registered nobody is asked, who waits is told 503; then it goes on', async () => {
  const ledger = await open();
  expect((await refusalOf(ledger.hold(keyOf('wallet_a'), PRICE))).code).toBe('unavailable');
  expect(bank.requests).toBe(0);
  ledger.connect('node_1');
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_1', PRICE));
  expect(bank.requests).toBe(1);
  expect(ledger.tally).toMatchObject({ leases: 1, charges: 1, chargedMicros: PRICE });
});

test('leases of an earlier process are not closed before the node is registered, and are then', async () => {
  const before = await open();
  before.connect('node_1');
  (await before.hold(keyOf('wallet_a'), PRICE)).release();
  await before.close();
  opened.length = 0;
  const after = await open();
  await after.drain(20);
  expect(bank.openLeases).toBe(1);
  after.connect('node_1');
  await expect.poll(() => bank.openLeases).toBe(0);
  expect(bank.balances.get('wallet_a')).toBe(FULL);
});

test('a lease that was not closed because nobody answered, or too early, is closed later', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  bank.away = true;
  await ledger.drain(20);
  expect(bank.openLeases).toBe(1);
  bank.away = false;
  const { closeLease } = bank;
  let early = 0;
  bank.closeLease = async (input) => {
    if (early > 0) return closeLease.call(bank, input);
    early += 1;
    return { ok: false, userErrors: [{ code: 'CONFLICT', message: 'not settled yet' }] };
  };
  await expect.poll(() => bank.openLeases).toBe(0);
  expect(warnings).toEqual([{ leaseId: 'lease_1', count: 0, reason: 'not settled yet' }]);
  expect(bank.balances.get('wallet_a')).toBe(FULL);
});

test('a recalled lease that is nobody’s is given back, also when nobody answers at first', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const { journalId } = ledger;
  const asked = { nodeId: 'node_1', journalId, requestNo: 99, walletId: 'wallet_a' };
  const { leaseId } = await bank.requestLease({ ...asked, want: '1', need: '1', waiting: '0' });
  bank.away = true;
  ledger.recall(leaseId ?? '');
  await ledger.drain(20);
  expect(bank.openLeases).toBe(1);
  bank.away = false;
  // A clean stop waits for it.
  await ledger.drain(5_000);
  expect([bank.openLeases, bank.balances.get('wallet_a')]).toEqual([0, FULL]);
});

test('a clean stop gives back what a question that is under way still brings', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const { requestLease } = bank;
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  bank.requestLease = async (input) => {
    const granted = await requestLease.call(bank, input);
    asked.resolve();
    await answer.promise;
    return granted;
  };
  const held = refusalOf(ledger.hold(keyOf('wallet_a'), PRICE));
  await asked.promise;
  const drained = ledger.drain(5_000);
  expect((await held).code).toBe('unavailable');
  expect(bank.openLeases).toBe(1);
  answer.resolve();
  await drained;
  expect([bank.openLeases, bank.balances.get('wallet_a')]).toEqual([0, FULL]);
});

test('a lease that the control plane does not know any more counts as closed', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  bank.closeLease = async () => ({ ok: false, userErrors: [{ code: 'NOT_FOUND', message: 'no such' }] });
  await ledger.drain(5_000);
  expect(ledger.tally.leases).toBe(0);
});

test('who waits while another node gives its lease back has it as soon as that is back', async () => {
  bank = new Bank({ wallet_a: PRICE });
  // Time stands still: nobody gives up, and a timer that is early by the clock ends its wait all the same.
  const clock = () => ({ mono: 1_000, wall: 1_000 });
  const nodes = [
    await open({ disk: swift, clock }),
    await open({ disk: swift, clock, folder: join(folder, 'other') }),
  ];
  bank.onRecall = (leaseId) => nodes.forEach((ledger) => ledger.recall(leaseId));
  for (const [at, ledger] of nodes.entries()) ledger.connect(`node_${at}`);
  const [one, other] = nodes as [OpenLedger, OpenLedger];
  (await one.hold(keyOf('wallet_a'), PRICE)).release();
  (await other.hold(keyOf('wallet_a'), PRICE)).release();
  void one.drain(5_000);
  void other.drain(5_000);
  await expect.poll(() => bank.openLeases).toBe(0);
  expect(bank.balances.get('wallet_a')).toBe(PRICE);
});

test('who waits for money that is in use elsewhere waits for three seconds, and not for ever', async () => {
  bank = new Bank({ wallet_a: PRICE });
  let time = 0;
  const clock = () => ({ mono: time, wall: time });
  const [one, other] = [await open(), await open({ folder: join(folder, 'other'), clock })];
  one.connect('node_1');
  other.connect('node_2');
  const held = await one.hold(keyOf('wallet_a'), PRICE);
  let told: { code: string; message: string } | undefined;
  const waiting = refusalOf(other.hold(keyOf('wallet_a'), PRICE)).then((refusal) => (told = refusal));
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(told).toBeUndefined();
  // What ends the wait is early by the clock, as timers are.
  time = 2_999.5;
  expect((await waiting).code).toBe('unavailable');
  held.release();
});

test('a key with a limit of its own is told, too, when the control plane is away', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  bank.away = true;
  const limited = keyOf('wallet_a', { id: 'key_1', hasSpendLimit: true });
  expect((await refusalOf(ledger.hold(limited, PRICE))).code).toBe('unavailable');
});

test('who has money at once leaves no timer behind', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const holds = [];
  for (let count = 0; count < 5; count += 1) holds.push(await ledger.hold(keyOf('wallet_a'), PRICE));
  expect(timers()).toBeLessThan(before + 5);
  for (const hold of holds) hold.release();
});

test('a disk that cannot write says so: nothing counts as written', async () => {
  // Where there is no such device, nobody may make it.
  const write = async () => {
    const device = await realDisk.create('/dev/full');
    try {
      await device.append(Buffer.from('x'));
    } finally {
      await device.close();
    }
  };
  await expect(write()).rejects.toThrow();
  const file = await realDisk.create(join(folder, 'closed'));
  await file.close();
  await expect(file.append(Buffer.from('x'))).rejects.toThrow();
});

test('what is read is the bytes at their place, fewer at the end of the file', async () => {
  const path = join(folder, 'read');
  const file = await realDisk.create(path);
  await file.append(Buffer.from('0123456789'));
  await file.append(Buffer.from('abc'));
  await file.cut(11);
  await file.close();
  const read = async (position: number, length: number) =>
    String(await realDisk.read(path, position, length));
  expect([await read(2, 3), await read(9, 5), await read(11, 1), await realDisk.size(path)]).toEqual([
    '234',
    '9a',
    '',
    11,
  ]);
});
