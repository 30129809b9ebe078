/**
 * How long the disk of the journal takes to make 4 kB durable: the part of a request that no program avoids.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from './measure.ts';

const BLOCK = Buffer.alloc(4_096, 'x');
const WRITES = 500;

/** Times of one write with `fdatasync` in this folder, in ms. */
export function syncTimes(folder: string): { p50Ms: number; p99Ms: number } {
  const file = join(folder, 'sync');
  const descriptor = openSync(file, 'w');
  const times: number[] = [];
  for (let write = 0; write < WRITES; write += 1) {
    const from = performance.now();
    writeSync(descriptor, BLOCK);
    fdatasyncSync(descriptor);
    times.push(performance.now() - from);
  }
  closeSync(descriptor);
  rmSync(file);
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}
