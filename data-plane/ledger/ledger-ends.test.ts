/** The ledger of a node at its start and at its end, and what hangs on no clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { Bank } from './model/bank.ts';
import { keyOf, usageOf } from './model/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;
let bank: Bank;
let opened: Set<OpenLedger>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-ends-'));
  bank = new Bank({ wallet_a: FULL });
  opened = new Set();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const ledger of opened) await close(ledger);
  rmSync(folder, { recursive: true });
});

async function open(more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder, control: bank, log: quiet, ...more });
  opened.add(ledger);
  return ledger;
}

async function close(ledger: OpenLedger): Promise<void> {
  opened.delete(ledger);
  await ledger.close();
}

/** Lets everything happen that waits for no timer. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

test('a start says its number, and when all is settled that was charged before it', async () => {
  const before = await open();
  before.connect('node_1');
  const hold = await before.hold(keyOf('wallet_a'), PRICE);
  expect(before.formerSettled).toBe(true);
  bank.away = true;
  await hold.commit(usageOf('request_1', PRICE));
  await close(before);
  const after = await open();
  expect([after.start > before.start, after.formerSettled]).toEqual([true, false]);
  bank.away = false;
  after.connect('node_1');
  await expect.poll(() => after.formerSettled).toBe(true);
  const own = await after.hold(keyOf('wallet_a'), PRICE);
  bank.away = true;
  await own.commit(usageOf('request_2', PRICE));
  expect([after.usageBacklog, after.formerSettled]).toEqual([1, true]);
});

test('a ledger that is closed asks nobody any more: what it meant to ask again is not asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answer = Promise.withResolvers<never>();
  let asked = 0;
  bank.requestLease = () => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('away')) : answer.promise;
  };
  const ledger = await open();
  ledger.connect('node_1');
  const refused = [ledger.hold(keyOf('wallet_a'), PRICE), ledger.hold(keyOf('wallet_b'), PRICE)];
  for (const each of refused) each.catch(() => undefined);
  await until(() => asked === 2);
  await close(ledger);
  // The other question is answered, badly, when there is no ledger any more.
  answer.reject(new Error('away'));
  await turn();
  expect(vi.getTimerCount()).toBe(0);
  await Promise.allSettled(refused);
  expect(asked).toBe(2);
});

test('a ledger that is closed has no timer any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const ledger = await open();
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  await close(ledger);
  expect(vi.getTimerCount()).toBe(0);
});

test('what was asked before the node was registered is asked when it is, without a wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const ledger = await open({ clock: () => ({ mono: 1_000, wall: 1_000 }) });
  const held = ledger.hold(keyOf('wallet_a'), PRICE);
  // Its next attempt waits for a timer, which never ends.
  await until(() => vi.getTimerCount() === 3);
  ledger.connect('node_1');
  (await held).release();
  expect(bank.requests).toBe(1);
});

test('a question that is asked again is not written again', async () => {
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
  let asked = 0;
  bank.requestLease = async () => {
    asked += 1;
    throw new Error('away');
  };
  const ledger = await open({ disk });
  ledger.connect('node_1');
  const refused = ledger.hold(keyOf('wallet_a'), PRICE);
  refused.catch(() => undefined);
  await until(() => asked === 1);
  const before = writes;
  while (asked < 4) await vi.advanceTimersByTimeAsync(100);
  expect(writes).toBe(before);
  await Promise.allSettled([refused]);
});

test('who is kept out of a folder is told by whom, and why', async () => {
  await open();
  await expect(openLedger({ folder, control: bank, log: quiet })).rejects.toMatchObject({
    message: `${folder} is in use by another node process: stop it, or give this node a DATA_DIR of its own`,
    cause: expect.any(Error),
  });
});

test('who asks while the ledger stops is refused at once, and waits for nothing', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ledger = await open();
  ledger.connect('node_1');
  await ledger.drain(5_000);
  await expect(ledger.hold(keyOf('wallet_a'), PRICE)).rejects.toMatchObject({ code: 'unavailable' });
  expect(bank.requests).toBe(0);
});

test('a clean stop reports at once what cost nothing, too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ledger = await open();
  ledger.connect('node_1');
  await until(() => vi.getTimerCount() === 1);
  ledger.report(usageOf('request_1', 0n));
  const drained = ledger.drain(5_000);
  await until(() => bank.free.length === 1);
  await vi.advanceTimersByTimeAsync(10);
  await drained;
});

test('a charge that comes after the end of its lease says that nothing was charged, and why', async () => {
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open({ clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { ...now, mono: now.mono + TEN_YEARS_MS };
  await expect(hold.commit(usageOf('request_1', PRICE))).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The gateway lost its contact to billing while it answered; nothing was charged.',
  });
});

test('a lease that waits to be closed has its charges reported at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ledger = await open();
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  // It gathers what is to be reported.
  await until(() => vi.getTimerCount() === 1);
  ledger.recall('lease_1');
  await hold.commit(usageOf('request_1', PRICE));
  // No timer ends, so nothing that gathers is ever sent.
  await until(() => bank.openLeases === 0);
  expect(bank.balances.get('wallet_a')).toBe(FULL - PRICE);
});

test('who waits when a clock is set right has a hold of his own, beside the one who comes then', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open({ clock: () => now });
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  bank.away = true;
  now = { ...now, wall: now.wall + TEN_YEARS_MS };
  const first = ledger.hold(keyOf('wallet_a'), PRICE);
  now = { ...now, wall: now.wall - TEN_YEARS_MS };
  const second = ledger.hold(keyOf('wallet_a'), PRICE);
  await (await first).commit(usageOf('request_1', PRICE));
  await (await second).commit(usageOf('request_2', PRICE));
  expect(ledger.tally).toMatchObject({ charges: 2, chargedMicros: 2n * PRICE });
});

test('what is not there cannot be made durable, and that is told', async () => {
  const missing = join(folder, 'missing');
  await expect(realDisk.syncFile(missing)).rejects.toThrow('ENOENT');
  await expect(realDisk.syncFolder(missing)).rejects.toThrow('ENOENT');
});
