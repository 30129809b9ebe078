/** The ledger when its disk, its registration or the control plane fails: no credit is lost or kept. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { keyOf, usageOf } from '../../test/ledger/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;

let folder: string;
let full: boolean;
let controlPlane: ControlDouble;
let opened: OpenLedger[];
let warnings: object[];

/** A disk that refuses writes while `full` is true. */
const disk: Disk = {
  ...realDisk,
  create: async (path) => {
    if (full) throw new Error('ENOSPC');
    const file = await realDisk.create(path);
    return { ...file, append: (bytes) => (full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)) };
  },
};

/** A disk that discards all writes, for tests that must not depend on the speed of a real one. */
const discarding: Disk = {
  ...realDisk,
  create: async (path) => ({ ...(await realDisk.create(path)), append: async () => undefined }),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-trouble-'));
  full = false;
  controlPlane = new ControlDouble({ wallet_a: FULL });
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
  const ledger = await openLedger({ folder, control: controlPlane, log, disk, ...more });
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

test('a folder whose journal cannot be read is unlocked, so that the next attempt can open it', async () => {
  const unreadable: Disk = { ...realDisk, list: () => Promise.reject(new Error('EIO')) };
  await expect(open({ disk: unreadable })).rejects.toThrow('EIO');
  await expect(open()).resolves.toBeDefined();
});

test('a charge that the disk refuses is not counted, and its price is free again', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  full = true;
  expect(await refusalOf(hold.commit(usageOf('request_1', PRICE)))).toEqual({
    code: 'unavailable',
    message: 'The gateway could not record the charge. You were not charged. Try again.',
  });
  expect(ledger.totals).toMatchObject({ charges: 0, chargedMicros: 0n });
  full = false;
  await expect.poll(() => ledger.writable).toBe(true);
  await ledger.drain(5_000);
  expect([controlPlane.openLeases, controlPlane.charges.size, controlPlane.balances.get('wallet_a')]).toEqual(
    [0, 0, FULL],
  );
});

test('a charge that cannot be encoded is not counted, and its price is free again', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  expect(await refusalOf(hold.commit({ ...usageOf('request_1', PRICE), at: Number.NaN }))).toEqual({
    code: 'unavailable',
    message: 'The gateway could not record the charge. You were not charged. Try again.',
  });
  const next = await ledger.hold(keyOf('wallet_a'), PRICE);
  await next.commit(usageOf('request_2', PRICE));
  expect(ledger.totals).toMatchObject({ charges: 1, chargedMicros: PRICE });
  await ledger.drain(5_000);
  expect([controlPlane.openLeases, controlPlane.balances.get('wallet_a')]).toEqual([0, FULL - PRICE]);
});

test('paid requests are refused while the disk refuses writes, even if a lease has room', async () => {
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
    message: 'The gateway cannot record charges at the moment. Try again shortly.',
  });
});

test('a lease request that the journal refuses is not sent', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  full = true;
  expect((await refusalOf(ledger.hold(keyOf('wallet_a'), PRICE))).code).toBe('unavailable');
  expect([controlPlane.requests, controlPlane.openLeases]).toEqual([0, 0]);
  full = false;
  await expect.poll(() => ledger.writable).toBe(true);
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  expect(controlPlane.requests).toBe(1);
});

test('requests get 503 before the node is registered, and are served afterwards', async () => {
  const ledger = await open();
  expect((await refusalOf(ledger.hold(keyOf('wallet_a'), PRICE))).code).toBe('unavailable');
  expect(controlPlane.requests).toBe(0);
  ledger.connect('node_1');
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_1', PRICE));
  expect(controlPlane.requests).toBe(1);
  expect(ledger.totals).toMatchObject({ leases: 1, charges: 1, chargedMicros: PRICE });
});

test('leases of an earlier process are closed once the node is registered', async () => {
  const before = await open();
  before.connect('node_1');
  (await before.hold(keyOf('wallet_a'), PRICE)).release();
  await before.close();
  opened.length = 0;
  const after = await open();
  await after.drain(20);
  expect(controlPlane.openLeases).toBe(1);
  after.connect('node_1');
  await expect.poll(() => controlPlane.openLeases).toBe(0);
  expect(controlPlane.balances.get('wallet_a')).toBe(FULL);
});

test('a lease whose close message failed or came too early is closed later', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  controlPlane.away = true;
  await ledger.drain(20);
  expect(controlPlane.openLeases).toBe(1);
  controlPlane.away = false;
  const { closeLease } = controlPlane;
  let early = 0;
  controlPlane.closeLease = async (input) => {
    if (early > 0) return closeLease.call(controlPlane, input);
    early += 1;
    return { ok: false, userErrors: [{ code: 'CONFLICT', message: 'not settled yet' }] };
  };
  await expect.poll(() => controlPlane.openLeases).toBe(0);
  expect(warnings).toEqual([{ leaseId: 'lease_1', count: 0, reason: 'not settled yet' }]);
  expect(controlPlane.balances.get('wallet_a')).toBe(FULL);
});

test('a recalled lease that the node does not know is closed, even if the first attempts fail', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const { journalId } = ledger;
  const input = { nodeId: 'node_1', journalId, requestNo: 99, walletId: 'wallet_a' };
  const { leaseId } = await controlPlane.requestLease({ ...input, want: '1', need: '1', waiting: '0' });
  controlPlane.away = true;
  ledger.recall(leaseId ?? '');
  await ledger.drain(20);
  expect(controlPlane.openLeases).toBe(1);
  controlPlane.away = false;
  // The drain waits for the close.
  await ledger.drain(5_000);
  expect([controlPlane.openLeases, controlPlane.balances.get('wallet_a')]).toEqual([0, FULL]);
});

test('a drain returns the lease of a request that was under way', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  const { requestLease } = controlPlane;
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  controlPlane.requestLease = async (input) => {
    const granted = await requestLease.call(controlPlane, input);
    arrived.resolve();
    await answer.promise;
    return granted;
  };
  const held = refusalOf(ledger.hold(keyOf('wallet_a'), PRICE));
  await arrived.promise;
  const drained = ledger.drain(5_000);
  expect((await held).code).toBe('unavailable');
  expect(controlPlane.openLeases).toBe(1);
  answer.resolve();
  await drained;
  expect([controlPlane.openLeases, controlPlane.balances.get('wallet_a')]).toEqual([0, FULL]);
});

test('a lease that the control plane does not know any more counts as closed', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  controlPlane.closeLease = async () => ({
    ok: false,
    userErrors: [{ code: 'NOT_FOUND', message: 'no such' }],
  });
  await ledger.drain(5_000);
  expect(ledger.totals.leases).toBe(0);
});

test('a waiting request gets the credit as soon as another node has returned it', async () => {
  controlPlane = new ControlDouble({ wallet_a: PRICE });
  // The clock stands still, so no request gives up, and every timer fires early by that clock.
  const clock = () => ({ mono: 1_000, wall: 1_000 });
  const nodes = [
    await open({ disk: discarding, clock }),
    await open({ disk: discarding, clock, folder: join(folder, 'other') }),
  ];
  controlPlane.onRecall = (leaseId) => nodes.forEach((ledger) => ledger.recall(leaseId));
  for (const [at, ledger] of nodes.entries()) ledger.connect(`node_${at}`);
  const [one, other] = nodes as [OpenLedger, OpenLedger];
  (await one.hold(keyOf('wallet_a'), PRICE)).release();
  (await other.hold(keyOf('wallet_a'), PRICE)).release();
  void one.drain(5_000);
  void other.drain(5_000);
  await expect.poll(() => controlPlane.openLeases).toBe(0);
  expect(controlPlane.balances.get('wallet_a')).toBe(PRICE);
});

test('a request for credit that another node holds waits three seconds', async () => {
  controlPlane = new ControlDouble({ wallet_a: PRICE });
  let time = 0;
  const clock = () => ({ mono: time, wall: time });
  const [one, other] = [await open(), await open({ folder: join(folder, 'other'), clock })];
  one.connect('node_1');
  other.connect('node_2');
  const held = await one.hold(keyOf('wallet_a'), PRICE);
  let refusal: { code: string; message: string } | undefined;
  const waiting = refusalOf(other.hold(keyOf('wallet_a'), PRICE)).then((result) => (refusal = result));
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(refusal).toBeUndefined();
  // The timer fires early by the clock, as timers may.
  time = 2_999.5;
  expect((await waiting).code).toBe('unavailable');
  held.release();
});

test('a key with a spend limit gets 503 while the control plane is away', async () => {
  const ledger = await open();
  ledger.connect('node_1');
  controlPlane.away = true;
  const limited = keyOf('wallet_a', { id: 'key_1', hasSpendLimit: true });
  expect((await refusalOf(ledger.hold(limited, PRICE))).code).toBe('unavailable');
});

test('a request that is held at once leaves no timer behind', async () => {
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

test('a write that the disk refuses fails', async () => {
  // Without this device, creating it must fail as well.
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

test('a read returns the bytes at its position, and fewer at the end of the file', async () => {
  const path = join(folder, 'read');
  const file = await realDisk.create(path);
  await file.append(Buffer.from('0123456789'));
  await file.append(Buffer.from('abc'));
  await file.truncate(11);
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
