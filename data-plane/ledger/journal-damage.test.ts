/**
 * The journal after interrupted writes, flipped bits and killed processes keeps every durable charge. Torn
 * writes over whole folders: journal-torn.test.ts.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realDisk } from './disk.ts';
import { readFrame } from './frames.ts';
import { openJournal } from './journal.ts';
import { segmentOf } from '../../test/ledger/segment.ts';
import { unsettledIn } from '../../test/ledger/records.ts';
import { DamagedJournal, replaySegment } from './replay.ts';

const DOUBLES = join(import.meta.dirname, '..', '..', 'test', 'ledger');

test('a megabyte cut at any byte is read up to its last whole frame', () => {
  const { bytes, starts } = segmentOf(700, 1_000);
  expect(bytes.length).toBeGreaterThan(1_000_000);
  for (const [group, start] of starts.entries()) {
    const end = starts[group + 1] ?? bytes.length;
    for (let cut = start; cut < end; cut += 1) {
      // Frames before this one do not depend on the cut, so reading starts here.
      if (readFrame(bytes.subarray(0, cut), start, group).kind !== 'end')
        throw new Error(`a cut at byte ${cut} was not detected`);
    }
    const whole = readFrame(bytes.subarray(0, end), start, group);
    if (whole.kind !== 'frame' || whole.frame.end !== end) throw new Error(`group ${group} was not read`);
  }
});

test('a flipped bit in 10 kB is refused or costs the last group, and never yields a wrong charge', () => {
  const { bytes, starts } = segmentOf(20, 200);
  const sample = bytes.subarray(0, 10_240);
  const last = starts.findLastIndex((start) => start < sample.length);
  const intact = last - 1;
  let refused = 0;
  for (let bit = 0; bit < sample.length * 8; bit += 1) {
    const flipped = Buffer.from(sample);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    try {
      const { state } = replaySegment('segment', flipped);
      const mayBeTail = bit >> 3 >= (starts[intact] ?? 0);
      if (!mayBeTail || state.nextSeq < intact) throw new Error(`a flip of bit ${bit} was not detected`);
    } catch (error) {
      if (!(error instanceof DamagedJournal)) throw error;
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(70_000);
}, 120_000);

test('a process killed while it commits finds every acknowledged charge after its restart', async () => {
  for (let round = 0; round < 3; round += 1) {
    const path = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
    const child = fork(join(DOUBLES, 'committer.ts'), [path], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const acknowledged = new Set<string>();
    let rest = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) acknowledged.add(line);
      if (acknowledged.size > 500 + round * 700) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const log = { warn: () => undefined };
    const journal = await openJournal({ folder: path, disk: realDisk, newId: () => 'journal_1', log });
    const found = (await unsettledIn(journal, 1_000_000)).map(({ requestId }) => requestId);
    expect(new Set(found).size).toBe(found.length);
    for (const id of acknowledged)
      if (!found.includes(id)) throw new Error(`${id} was acknowledged and is missing`);
    expect(acknowledged.size).toBeGreaterThan(500);
    await journal.close();
    rmSync(path, { recursive: true });
  }
});

/** Result of a process that opened the journal. */
interface OpenResult {
  journalId?: string;
  refusal?: string;
}

/** A process that opens the ledger of the folder, and its result. */
async function startOpener(path: string): Promise<{ child: ChildProcess; result: OpenResult }> {
  const child = fork(join(DOUBLES, 'opener.ts'), [path], { stdio: 'inherit' });
  const [result] = (await once(child, 'message')) as [OpenResult];
  return { child, result };
}

test('exactly one of two processes that start at once gets the folder, until its death', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
  let journalId: string | undefined;
  for (let round = 0; round < 3; round += 1) {
    const both = await Promise.all([startOpener(path), startOpener(path)]);
    const [holder, ...more] = both.filter(({ result }) => result.journalId !== undefined);
    expect([
      more.length,
      both.filter(({ result }) => result.refusal?.includes('in use by another node')).length,
    ]).toEqual([0, 1]);
    if (!holder) throw new Error('neither process has the folder');
    journalId ??= holder.result.journalId;
    // A killed process leaves the same journal to the next one.
    expect(holder.result.journalId).toBe(journalId);
    const late = await startOpener(path);
    expect(late.result.refusal).toContain('in use by another node');
    holder.child.kill('SIGKILL');
    await once(holder.child, 'close');
  }
  rmSync(path, { recursive: true });
});
