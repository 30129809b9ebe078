/** A journal whose disk refuses writes: what is refused, kept and logged until the disk works again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { openJournal } from './journal.ts';
import type { Journal, JournalOptions } from './journal.ts';
import { chargeOf, requestedRecord, unsettledIn } from '../../test/ledger/records.ts';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A journal in a new folder, with one lease in background records. */
async function withLease(more: Partial<JournalOptions> = {}): Promise<Journal> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-trouble-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const log = { warn: () => undefined };
  const journal = await openJournal({ folder, disk: realDisk, newId: () => 'journal_1', log, ...more });
  cleanups.push(() => journal.close());
  journal.appendInBackground(requestedRecord(1));
  journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  return journal;
}

const charge = (seq: number) => chargeOf(`request_${seq}`, 1n, { leaseId: 'lease_1', seq });

/** A disk that refuses everything while `state.full`, and counts the files that it created. */
function fillingDisk() {
  const state = { full: false, truncates: true, created: 0 };
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      if (state.full) throw new Error('ENOSPC');
      state.created += 1;
      const file = await realDisk.create(path);
      return {
        append: (bytes) => (state.full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)),
        truncate: (length) => (state.truncates ? file.truncate(length) : Promise.reject(new Error('EIO'))),
        close: () => file.close(),
      };
    },
  };
  return { state, disk };
}

test('a charge with another number than the next one is refused, and uses no number', async () => {
  const journal = await withLease();
  await expect(journal.append(charge(5))).rejects.toThrow('got charge 5, expected charge 1');
  await journal.append(charge(1));
  expect((await unsettledIn(journal, 10)).map(({ seq }) => seq)).toEqual([1]);
});

test('background records of a failed write are written after the recovery', async () => {
  const { state, disk } = fillingDisk();
  const journal = await withLease({ disk });
  state.full = true;
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  expect([...journal.state.leases.keys()]).toEqual([]);
  state.full = false;
  await expect.poll(() => [...journal.state.leases.keys()]).toEqual(['lease_1']);
  await journal.append(charge(1));
});

test('a failed write that cannot be truncated is logged, and the journal recovers', async () => {
  const { state, disk } = fillingDisk();
  const logged: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => void logged.push({ fields, message }) };
  const journal = await withLease({ disk, log });
  Object.assign(state, { full: true, truncates: false });
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  expect(logged[1]).toEqual({
    fields: { reason: 'Error: EIO' },
    message: expect.stringMatching(/do not stop this node before its journal is writable again/),
  });
  state.full = false;
  await expect.poll(() => journal.writable).toBe(true);
});

test('a journal that is closed during a failing write does not recover', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanups.push(() => void vi.useRealTimers());
  const { state, disk } = fillingDisk();
  const journal = await withLease({ disk });
  state.full = true;
  const failing = expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  await journal.close();
  await failing;
  state.full = false;
  // Longer than every pause before a new segment is tried.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.created).toBe(1);
});

test('a failed write is logged with its cause, and so is the recovery', async () => {
  const logged: { fields: object; message: string }[] = [];
  const { state, disk } = fillingDisk();
  const log = { warn: (fields: object, message: string) => void logged.push({ fields, message }) };
  const journal = await withLease({ disk, log });
  state.full = true;
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  expect(logged).toEqual([
    { fields: { reason: 'Error: ENOSPC' }, message: expect.stringMatching(/refused until it can/) },
  ]);
  journal.appendInBackground(requestedRecord(2, 'wallet_b'));
  state.full = false;
  await expect.poll(() => journal.writable).toBe(true);
  // Background records that were queued meanwhile are written without a further call.
  await expect.poll(() => journal.state.requests.has(2)).toBe(true);
  expect(logged.slice(1)).toEqual([{ fields: {}, message: expect.stringMatching(/writable again/) }]);
});

test('a journal that is closed during a disk failure does not recover', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanups.push(() => void vi.useRealTimers());
  const { state, disk } = fillingDisk();
  const journal = await withLease({ disk });
  state.full = true;
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  await journal.close();
  state.full = false;
  // Longer than every pause before a new segment is tried.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.created).toBe(1);
});
