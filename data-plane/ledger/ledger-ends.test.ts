/** The ledger of a node at its start and its end, and its work without a timer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { keyOf, usageOf } from '../../test/ledger/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
/** Timers, and the clock with which the settler plans its reports. */
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] as const;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;
let controlPlane: ControlDouble;
let opened: Set<OpenLedger>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-ends-'));
  controlPlane = new ControlDouble({ wallet_a: FULL });
  opened = new Set();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const ledger of opened) await close(ledger);
  rmSync(folder, { recursive: true });
});

async function open(more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder, control: controlPlane, log: quiet, ...more });
  opened.add(ledger);
  return ledger;
}

async function close(ledger: OpenLedger): Promise<void> {
  opened.delete(ledger);
  await ledger.close();
}

/** Runs the event loop until the condition holds; timers do not advance. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

test('a start reports its number, and whether all charges of earlier processes are settled', async () => {
  const before = await open();
  before.connect('node_1');
  const hold = await before.hold(keyOf('wallet_a'), PRICE);
  expect(before.formerSettled).toBe(true);
  controlPlane.away = true;
  await hold.commit(usageOf('request_1', PRICE));
  await close(before);
  const after = await open();
  expect([after.start > before.start, after.formerSettled]).toEqual([true, false]);
  controlPlane.away = false;
  after.connect('node_1');
  await expect.poll(() => after.formerSettled).toBe(true);
  const own = await after.hold(keyOf('wallet_a'), PRICE);
  controlPlane.away = true;
  await own.commit(usageOf('request_2', PRICE));
  expect([after.usageBacklog, after.formerSettled]).toEqual([1, true]);
});

test('a closed ledger sends none of its queued lease requests', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answer = Promise.withResolvers<never>();
  let requests = 0;
  controlPlane.requestLease = () => {
    requests += 1;
    return requests === 1 ? Promise.reject(new Error('away')) : answer.promise;
  };
  const ledger = await open();
  ledger.connect('node_1');
  const refused = [ledger.hold(keyOf('wallet_a'), PRICE), ledger.hold(keyOf('wallet_b'), PRICE)];
  for (const each of refused) each.catch(() => undefined);
  await until(() => requests === 2);
  await close(ledger);
  // The second request fails after the ledger was closed.
  answer.reject(new Error('away'));
  await nextTurn();
  // Longer than every pause before a lease is requested again.
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.allSettled(refused);
  expect(requests).toBe(2);
});

test('a closed ledger has no timer left', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  await close(ledger);
  expect(vi.getTimerCount()).toBe(0);
});

test('a lease request from before the registration is sent at once when the node is registered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const ledger = await open({ clock: () => ({ mono: 1_000, wall: 1_000 }) });
  const held = ledger.hold(keyOf('wallet_a'), PRICE);
  // The back-off before the next attempt is a timer, which never fires here.
  await until(() => vi.getTimerCount() === 3);
  ledger.connect('node_1');
  (await held).release();
  expect(controlPlane.requests).toBe(1);
});

test('a resent lease request is not written to the journal again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let writes = 0;
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      const file = await realDisk.create(path);
      const append = (bytes: Uint8Array): Promise<void> => {
        writes += 1;
        return file.append(bytes);
      };
      return { ...file, append };
    },
  };
  let requests = 0;
  controlPlane.requestLease = async () => {
    requests += 1;
    throw new Error('away');
  };
  const ledger = await open({ disk });
  ledger.connect('node_1');
  const refused = ledger.hold(keyOf('wallet_a'), PRICE);
  refused.catch(() => undefined);
  await until(() => requests === 1);
  const before = writes;
  while (requests < 4) await vi.advanceTimersByTimeAsync(100);
  expect(writes).toBe(before);
  await Promise.allSettled([refused]);
});

test('the error for a locked folder names the folder and what to do', async () => {
  await open();
  await expect(openLedger({ folder, control: controlPlane, log: quiet })).rejects.toMatchObject({
    message: `${folder} is in use by another node process: stop it, or give this node a DATA_DIR of its own`,
    cause: expect.any(Error),
  });
});

test('a request during the drain is refused at once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ledger = await open();
  ledger.connect('node_1');
  await ledger.drain(5_000);
  await expect(ledger.hold(keyOf('wallet_a'), PRICE)).rejects.toMatchObject({ code: 'unavailable' });
  expect(controlPlane.requests).toBe(0);
});

test('a drain reports free requests at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const ledger = await open();
  ledger.connect('node_1');
  ledger.report(usageOf('request_1', 0n));
  // The first record was reported, and the settler gathers others.
  await until(() => controlPlane.free.length === 1 && vi.getTimerCount() === 1);
  ledger.report(usageOf('request_2', 0n));
  const drained = ledger.drain(5_000);
  await until(() => controlPlane.free.length === 2);
  await vi.advanceTimersByTimeAsync(10);
  await drained;
});

test('a charge after the deadline of its lease is refused, and the client gets an error', async () => {
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open({ clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { ...now, mono: now.mono + TEN_YEARS_MS };
  await expect(hold.commit(usageOf('request_1', PRICE))).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The gateway lost contact with its billing during the answer. You were not charged. Try again.',
  });
});

test('the charges of a recalled lease are reported at once', async () => {
  vi.useFakeTimers({ toFake: [...TIMERS] });
  const ledger = await open();
  ledger.connect('node_1');
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_1', PRICE));
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  // The first charge was reported, and the settler gathers records. The other timer is that of the ledger.
  await until(() => ledger.usageBacklog === 0 && vi.getTimerCount() === 2);
  ledger.recall('lease_1');
  await hold.commit(usageOf('request_2', PRICE));
  // No timer fires, so a report that still gathers would never be sent.
  await until(() => controlPlane.openLeases === 0);
  expect(controlPlane.balances.get('wallet_a')).toBe(FULL - 2n * PRICE);
});

test('a recalled lease whose charges do not fit into the next report is closed at once', async () => {
  vi.useFakeTimers({ toFake: [...TIMERS] });
  controlPlane.balances.set('wallet_b', FULL);
  const ledger = await open();
  ledger.connect('node_1');
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_0', PRICE));
  const last = await ledger.hold(keyOf('wallet_b'), PRICE);
  const [leaseId = ''] = [...controlPlane.leases].find(([, { walletId }]) => walletId === 'wallet_b') ?? [];
  // The first charge was reported, and the settler gathers records. The other timer is that of the ledger.
  await until(() => ledger.usageBacklog === 0 && vi.getTimerCount() === 2);
  const holds = [];
  while (holds.length < USAGE_BATCH_MAX) holds.push(await ledger.hold(keyOf('wallet_a'), PRICE));
  ledger.recall(leaseId);
  const commits = holds.map((hold, at) => hold.commit(usageOf(`request_a${at}`, PRICE)));
  await Promise.all([...commits, last.commit(usageOf('request_b', PRICE))]);
  // No timer fires, so charges that still wait would never be sent.
  await until(() => controlPlane.leases.get(leaseId)?.open === false);
  expect(controlPlane.charges.get('request_b')).toMatchObject({ leaseId });
});

test('a request that waits while a clock is corrected and a later one get a hold each', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open({ clock: () => now });
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  controlPlane.away = true;
  now = { ...now, wall: now.wall + TEN_YEARS_MS };
  const first = ledger.hold(keyOf('wallet_a'), PRICE);
  now = { ...now, wall: now.wall - TEN_YEARS_MS };
  const second = ledger.hold(keyOf('wallet_a'), PRICE);
  await (await first).commit(usageOf('request_1', PRICE));
  await (await second).commit(usageOf('request_2', PRICE));
  expect(ledger.totals).toMatchObject({ charges: 2, chargedMicros: 2n * PRICE });
});

test('syncing a missing file or folder fails', async () => {
  const missing = join(folder, 'missing');
  await expect(realDisk.syncFile(missing)).rejects.toThrow('ENOENT');
  await expect(realDisk.syncFolder(missing)).rejects.toThrow('ENOENT');
});
