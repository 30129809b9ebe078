/** A disk that hangs: what waits for it goes on waiting, and nothing new is begun until it answers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { Bank } from './model/bank.ts';
import { HangingDisk } from './model/hanging-disk.ts';
import { chargeOf, keyOf, unsettledIn, usageOf } from './model/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';

const PRICE = 100_000n;
const FULL = PRICE * 10_000n;
const HANGS = 'the disk of the journal does not answer; paid requests are refused until it does';
const ANSWERS = 'the disk of the journal answers again';

let folder: string;
let disk: HangingDisk;
let bank: Bank;
let told: string[];
let cleanups: (() => Promise<void>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-hanging-'));
  disk = new HangingDisk();
  bank = new Bank({ wallet_a: FULL });
  told = [];
  cleanups = [];
});
afterEach(async () => {
  vi.useRealTimers();
  disk.fails = false;
  disk.goOn();
  for (const cleanup of cleanups) await cleanup();
  rmSync(folder, { recursive: true });
});

const log = {
  info: () => undefined,
  warn: (_fields: object, message: string) => void told.push(message),
  error: () => undefined,
};

async function open(): Promise<Journal> {
  const journal = await openJournal({ folder, disk, log, newId: () => 'journal_1' });
  cleanups.push(() => journal.close());
  return journal;
}

/** A journal with a lease and the first charge of it. */
async function begin(): Promise<Journal> {
  const journal = await open();
  journal.note({ type: 'requested', no: 1, walletId: 'wallet_a', keyId: null, want: '1000', need: '1' });
  journal.note({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  await journal.append(charge(1));
  return journal;
}

async function ledgerOf(more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder, control: bank, log, disk, ...more });
  cleanups.push(() => ledger.close());
  ledger.connect('node_1');
  return ledger;
}

const charge = (seq: number) => chargeOf(`request_${seq}`, 1n, { leaseId: 'lease_1', seq });
const stuck = () => vi.waitFor(() => expect(disk.waiting).toBe(1));

function look(journal: Journal, times: number): void {
  for (let count = 0; count < times; count += 1) journal.watch.look();
}

test('a write that does not return lets nothing new begin until it does; what waits is charged', async () => {
  const journal = await begin();
  disk.hangs = 'append';
  const first = journal.append(charge(2));
  await stuck();
  look(journal, 2);
  expect([journal.writable, told]).toEqual([true, []]);
  look(journal, 1);
  expect([journal.writable, told]).toEqual([false, [HANGS]]);
  // What was held before is taken: it waits for the same disk, behind the write of which nobody knows.
  const second = journal.append(charge(3));
  look(journal, 5);
  expect([journal.writable, told]).toEqual([false, [HANGS]]);
  disk.goOn();
  await first;
  expect([journal.writable, told]).toEqual([true, [HANGS, ANSWERS]]);
  await second;
  await journal.close();
  const again = await open();
  expect((await unsettledIn(again, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test('a write that hung and then fails refuses all that waited for it; the journal heals', async () => {
  const journal = await begin();
  disk.hangs = 'append';
  const first = journal.append(charge(2));
  await stuck();
  look(journal, 3);
  const second = journal.append(charge(3));
  disk.fails = true;
  disk.goOn();
  await expect(first).rejects.toThrow('EIO');
  await expect(second).rejects.toThrow('EIO');
  expect(journal.writable).toBe(false);
  disk.fails = false;
  await expect.poll(() => journal.writable).toBe(true);
  await journal.append(charge(2));
  expect((await unsettledIn(journal, 9)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test('many short writes are not a long one, and no look counts where nothing is written', async () => {
  const journal = await begin();
  look(journal, 5);
  for (let seq = 2; seq < 6; seq += 1) {
    disk.hangs = 'append';
    const written = journal.append(charge(seq));
    await stuck();
    look(journal, 2);
    expect(journal.writable).toBe(true);
    disk.goOn();
    await written;
  }
  expect(told).toEqual([]);
});

test('while the cut after a failed write hangs, the journal takes nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const journal = await begin();
  Object.assign(disk, { fails: true, hangs: 'cut' });
  let refused = false;
  const charged = journal.append(charge(2)).catch((error: unknown) => {
    refused = true;
    return error;
  });
  while (disk.waiting === 0) await new Promise(setImmediate);
  disk.fails = false;
  await vi.advanceTimersByTimeAsync(10_000);
  look(journal, 3);
  // Else what is taken now would wait behind the cut, and be refused with what failed.
  expect([journal.writable, refused, disk.created, told.at(-1)]).toEqual([false, false, 1, HANGS]);
  disk.goOn();
  expect(String(await charged)).toMatch('EIO');
  await vi.advanceTimersByTimeAsync(500);
  await vi.waitFor(() => expect(journal.writable).toBe(true));
});

test('while the disk hangs nothing paid begins, and what was held is charged later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ledger = await ledgerOf();
  const [first, second] = [
    await ledger.hold(keyOf('wallet_a'), PRICE),
    await ledger.hold(keyOf('wallet_a'), PRICE),
  ];
  disk.hangs = 'append';
  const waiting = [first.commit(usageOf('request_1', PRICE))];
  await stuck();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ledger.writable).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ledger.writable).toBe(false);
  await expect(ledger.hold(keyOf('wallet_a'), PRICE)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The gateway cannot record charges at the moment.',
  });
  await (await ledger.hold(keyOf('wallet_a'), 0n)).commit(usageOf('request_free', 0n));
  waiting.push(second.commit(usageOf('request_2', PRICE)));
  disk.goOn();
  await Promise.all(waiting);
  expect(ledger.writable).toBe(true);
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_3', PRICE));
  expect(ledger.tally).toMatchObject({ charges: 3, chargedMicros: PRICE * 3n });
  await ledger.drain(5_000);
  expect([bank.charges.size, bank.balances.get('wallet_a')]).toEqual([3, FULL - PRICE * 3n]);
});

test('a process that was frozen for an hour does not take its own sleep for a disk that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let time = 0;
  const ledger = await ledgerOf({ clock: () => ({ mono: time, wall: time }) });
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  disk.hangs = 'append';
  const charged = hold.commit(usageOf('request_1', PRICE));
  await stuck();
  await vi.advanceTimersByTimeAsync(1_000);
  time = 3_600_000;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ledger.writable).toBe(true);
  disk.goOn();
  await charged;
  expect(told).toEqual([]);
});
