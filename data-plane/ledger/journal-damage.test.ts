/**
 * The journal cut at every byte, every bit flipped, killed in the middle, wanted by two: what it promised
 * stays. Whole folders torn in the middle of a write: journal-torn.test.ts.
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
import { segmentOf } from './model/segment.ts';
import { unsettledIn } from './model/records.ts';
import { DamagedJournal, replaySegment } from './replay.ts';

test('a megabyte cut at every byte: what was whole is read, the torn rest is taken for the end', () => {
  const { bytes, starts } = segmentOf(700, 1_000);
  expect(bytes.length).toBeGreaterThan(1_000_000);
  for (const [group, start] of starts.entries()) {
    const end = starts[group + 1] ?? bytes.length;
    for (let cut = start; cut < end; cut += 1) {
      // Frames before this one do not depend on the cut: reading goes on from where this one starts.
      if (readFrame(bytes.subarray(0, cut), start, group).kind !== 'end')
        throw new Error(`a cut at byte ${cut} was not seen`);
    }
    const whole = readFrame(bytes.subarray(0, end), start, group);
    if (whole.kind !== 'frame' || whole.frame.end !== end) throw new Error(`group ${group} was not read`);
  }
});

test('any flipped bit in 10 KB is refused, or costs the last group; nothing is ever invented', () => {
  const { bytes, starts } = segmentOf(20, 200);
  const sample = bytes.subarray(0, 10_240);
  const last = starts.findLastIndex((start) => start < sample.length);
  const intact = last - 1;
  let refused = 0;
  for (let bit = 0; bit < sample.length * 8; bit += 1) {
    const flipped = Buffer.from(sample);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    try {
      const { book } = replaySegment('segment', flipped);
      const mayBeTail = bit >> 3 >= (starts[intact] ?? 0);
      if (!mayBeTail || book.nextSeq < intact) throw new Error(`a flip of bit ${bit} was not noticed`);
    } catch (error) {
      if (!(error instanceof DamagedJournal)) throw error;
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(70_000);
}, 120_000);

test('a process killed in the middle of commits finds every acknowledged charge again', async () => {
  for (let round = 0; round < 3; round += 1) {
    const path = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
    const child = fork(join(import.meta.dirname, 'model', 'committer.ts'), [path], {
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
      if (!found.includes(id)) throw new Error(`${id} was acknowledged and is gone`);
    expect(acknowledged.size).toBeGreaterThan(500);
    await journal.close();
    rmSync(path, { recursive: true });
  }
});

interface Said {
  journalId?: string;
  refusal?: string;
}

/** A process of its own that opens the ledger of the folder, and what it says. */
async function startOpener(path: string): Promise<{ child: ChildProcess; said: Said }> {
  const child = fork(join(import.meta.dirname, 'model', 'opener.ts'), [path], { stdio: 'inherit' });
  const [said] = (await once(child, 'message')) as [Said];
  return { child, said };
}

test('of two processes that start on one folder at once exactly one has it, until it is dead', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
  let journalId: string | undefined;
  for (let round = 0; round < 3; round += 1) {
    const both = await Promise.all([startOpener(path), startOpener(path)]);
    const [holder, ...more] = both.filter(({ said }) => said.journalId !== undefined);
    expect([
      more.length,
      both.filter(({ said }) => said.refusal?.includes('in use by another node')).length,
    ]).toEqual([0, 1]);
    if (!holder) throw new Error('neither process has the folder');
    journalId ??= holder.said.journalId;
    // What the other one was refused is what the next one finds after a death without a farewell.
    expect(holder.said.journalId).toBe(journalId);
    const late = await startOpener(path);
    expect(late.said.refusal).toContain('in use by another node');
    holder.child.kill('SIGKILL');
    await once(holder.child, 'close');
  }
  rmSync(path, { recursive: true });
});
