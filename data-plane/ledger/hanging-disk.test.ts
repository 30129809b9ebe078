/** A disk that hangs: pending charges wait for it, and no new paid request starts until it responds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { HangingDisk } from '../../test/ledger/hanging-disk.ts';
import { chargeOf, keyOf, requestedRecord, unsettledIn, usageOf } from '../../test/ledger/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;
const HANGS =
  'the disk of the journal does not respond; paid requests are refused until it does: check the disk';
const RESPONDS = 'the disk of the journal responds again';

let folder: string;
let disk: HangingDisk;
let controlPlane: ControlDouble;
let logged: string[];
let cleanups: (() => Promise<void>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-hanging-'));
  disk = new HangingDisk();
  controlPlane = new ControlDouble({ wallet_a: FULL });
  logged = [];
  cleanups = [];
});
afterEach(async () => {
  vi.useRealTimers();
  disk.fails = false;
  disk.resume();
  for (const cleanup of cleanups) await cleanup();
  rmSync(folder, { recursive: true });
});

const log = {
  info: () => undefined,
  warn: (_fields: object, message: string) => void logged.push(message),
  error: () => undefined,
};

async function open(): Promise<Journal> {
  const journal = await openJournal({ folder, disk, log, newId: () => 'journal_1' });
  cleanups.push(() => journal.close());
  return journal;
}

/** A journal with a lease and one charge. */
async function journalWithCharge(): Promise<Journal> {
  const journal = await open();
  journal.appendInBackground(requestedRecord(1));
  journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  await journal.append(charge(1));
  return journal;
}

async function ledgerOf(more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder, control: controlPlane, log, disk, ...more });
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  return ledger;
}

const charge = (seq: number) => chargeOf(`request_${seq}`, 1n, { leaseId: 'lease_1', seq });
const writeIsPending = () => vi.waitFor(() => expect(disk.waiting).toBe(1));

function check(journal: Journal, times: number): void {
  for (let count = 0; count < times; count += 1) journal.stallDetector.check();
}

test('no paid request starts while a write is stalled, and charges behind it succeed later', async () => {
  const journal = await journalWithCharge();
  disk.hangs = 'append';
  const first = journal.append(charge(2));
  await writeIsPending();
  check(journal, 2);
  expect([journal.writable, logged]).toEqual([true, []]);
  check(journal, 1);
  expect([journal.writable, logged]).toEqual([false, [HANGS]]);
  // Holds from before can still be charged: they queue behind the stalled write.
  const second = journal.append(charge(3));
  check(journal, 5);
  expect([journal.writable, logged]).toEqual([false, [HANGS]]);
  disk.resume();
  await first;
  expect([journal.writable, logged]).toEqual([true, [HANGS, RESPONDS]]);
  await second;
  await journal.close();
  const again = await open();
  expect((await unsettledIn(again, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test('a stalled write that fails rejects all charges behind it, and the journal recovers', async () => {
  const journal = await journalWithCharge();
  disk.hangs = 'append';
  const first = journal.append(charge(2));
  await writeIsPending();
  check(journal, 3);
  const second = journal.append(charge(3));
  disk.fails = true;
  disk.resume();
  await expect(first).rejects.toThrow('EIO');
  await expect(second).rejects.toThrow('EIO');
  expect(journal.writable).toBe(false);
  disk.fails = false;
  await expect.poll(() => journal.writable).toBe(true);
  await journal.append(charge(2));
  expect((await unsettledIn(journal, 9)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test('a journal that has written nothing yet is not stalled', async () => {
  const journal = await open();
  check(journal, 5);
  expect(journal.writable).toBe(true);
  expect(logged).toEqual([]);
});

test('many short writes do not add up to a stall, and checks without a write do not count', async () => {
  const journal = await journalWithCharge();
  check(journal, 5);
  for (let seq = 2; seq < 6; seq += 1) {
    disk.hangs = 'append';
    const written = journal.append(charge(seq));
    await writeIsPending();
    check(journal, 2);
    expect(journal.writable).toBe(true);
    disk.resume();
    await written;
  }
  expect(logged).toEqual([]);
});

test('the journal accepts nothing while the truncation after a failed write hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const journal = await journalWithCharge();
  Object.assign(disk, { fails: true, hangs: 'truncate' });
  let refused = false;
  const charged = journal.append(charge(2)).catch((error: unknown) => {
    refused = true;
    return error;
  });
  while (disk.waiting === 0) await new Promise(setImmediate);
  disk.fails = false;
  await vi.advanceTimersByTimeAsync(10_000);
  check(journal, 3);
  // Otherwise new charges would wait behind the truncation and be rejected with the failed ones.
  expect([journal.writable, refused, disk.created, logged.at(-1)]).toEqual([false, false, 1, HANGS]);
  disk.resume();
  expect(String(await charged)).toMatch('EIO');
  await vi.advanceTimersByTimeAsync(500);
  await vi.waitFor(() => expect(journal.writable).toBe(true));
});

test('while the disk hangs no paid request starts, and existing holds are charged later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ledger = await ledgerOf();
  const [first, second] = [
    await ledger.hold(keyOf('wallet_a'), PRICE),
    await ledger.hold(keyOf('wallet_a'), PRICE),
  ];
  disk.hangs = 'append';
  const waiting = [first.commit(usageOf('request_1', PRICE))];
  await writeIsPending();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ledger.writable).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ledger.writable).toBe(false);
  await expect(ledger.hold(keyOf('wallet_a'), PRICE)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The gateway cannot record charges at the moment. Try again shortly.',
  });
  await (await ledger.hold(keyOf('wallet_a'), 0n)).commit(usageOf('request_free', 0n));
  waiting.push(second.commit(usageOf('request_2', PRICE)));
  disk.resume();
  await Promise.all(waiting);
  expect(ledger.writable).toBe(true);
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_3', PRICE));
  expect(ledger.totals).toMatchObject({ charges: 3, chargedMicros: PRICE * 3n });
  await ledger.drain(5_000);
  expect([controlPlane.charges.size, controlPlane.balances.get('wallet_a')]).toEqual([3, FULL - PRICE * 3n]);
});

test('a process that was frozen for an hour does not count the pause as a stall', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let time = 0;
  const ledger = await ledgerOf({ clock: () => ({ mono: time, wall: time }) });
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  disk.hangs = 'append';
  const charged = hold.commit(usageOf('request_1', PRICE));
  await writeIsPending();
  await vi.advanceTimersByTimeAsync(1_000);
  time = 3_600_000;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ledger.writable).toBe(true);
  disk.resume();
  await charged;
  expect(logged).toEqual([]);
});
