/**
 * How long the disk of the journal takes to make 4 kB durable: the part of a request that no program avoids.
 * It is measured at the pace of 100 requests a second, because a disk and a core that rest between two writes
 * take longer for each.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { realDisk } from '../../../data-plane/ledger/disk.ts';
import { percentile } from './percentile.ts';

const BLOCK = Buffer.alloc(4_096, 'x');
const WRITES = 300;
/** Time between the starts of two writes, in ms. */
export const PACE_MS = 10;

/** Times of one durable write, in ms. */
export interface WriteTimes {
  p50Ms: number;
  p99Ms: number;
}

/** The same write in three ways. */
interface DiskTimes {
  /**
   * With the call of the journal, every 10 ms. A node serves other requests while the disk works, so that one
   * thread hands each write to another and is woken by it.
   */
  journal: WriteTimes;
  /** With `write` and `fdatasync` in the thread itself, every 10 ms. Nothing else could be served. */
  synchronous: WriteTimes;
  /** Likewise, one after the other: neither the disk nor the core rests. */
  unpaced: WriteTimes;
}

/** Measures all three in this folder. */
export async function measureDisk(folder: string): Promise<DiskTimes> {
  const journal = await journalWrites(folder, WRITES);
  const path = join(folder, 'sync');
  const descriptor = openSync(path, 'w');
  const write = (): void => {
    writeSync(descriptor, BLOCK);
    fdatasyncSync(descriptor);
  };
  const synchronous = await timesOf(write, WRITES, PACE_MS);
  const unpaced = await timesOf(write, WRITES, 0);
  closeSync(descriptor);
  rmSync(path);
  return { journal, synchronous, unpaced };
}

/** Measures this number of durable writes with the call of the journal, one every 10 ms, in this folder. */
export async function journalWrites(folder: string, writes: number): Promise<WriteTimes> {
  const path = join(folder, 'journal-writes');
  const file = await realDisk.create(path);
  const times = await timesOf(() => file.append(BLOCK), writes, PACE_MS);
  await file.close();
  rmSync(path);
  return times;
}

/**
 * A write that is late because the one before was slow counts from the moment at which it was due, like a
 * request.
 */
async function timesOf(
  write: () => Promise<void> | void,
  writes: number,
  paceMs: number,
): Promise<WriteTimes> {
  const times: number[] = [];
  const firstAt = performance.now();
  for (let count = 0; count < writes; count += 1) {
    const dueAt = paceMs > 0 ? firstAt + count * paceMs : performance.now();
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    // The delay of the timer is none of the disk.
    const from = waitMs > 0 ? performance.now() : dueAt;
    await write();
    times.push(performance.now() - from);
  }
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

/** The times for the head of a report. */
export function diskText({ journal, synchronous, unpaced }: DiskTimes): string {
  const text = ({ p50Ms, p99Ms }: WriteTimes): string => `p50 ${p50Ms.toFixed(2)}, p99 ${p99Ms.toFixed(2)}`;
  return (
    `durable write of 4 kB in ms: every ${PACE_MS} ms like the journal ${text(journal)}, ` +
    `every ${PACE_MS} ms with fdatasync in the same thread ${text(synchronous)}, ` +
    `without pauses ${text(unpaced)}`
  );
}
