/** Replacement of worker processes, with real processes: one that hangs, and one that ends at once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerMessage } from './messages.ts';
import { WorkerProcess } from './worker-process.ts';

const READY = `process.send({ type: 'ready', port: 1, revision: 1 });`;
/** Runs until its supervisor is gone or stops it. */
const ALIVE = `setInterval(() => process.send({ type: 'condition', ready: true }), 20);
process.on('message', () => process.exit(0)); process.on('disconnect', () => process.exit(0));`;
/** Sends that it is ready, and never anything again. It does not read messages either. */
const HANGS = `${READY} setTimeout(() => { for (;;); }, 50);`;
/** More checks than messages that a worker may miss. */
const CHECKS = 40;
const POLL = { timeout: 20_000 };

let folder: string;
let worker: WorkerProcess | undefined;
let messages: WorkerMessage[];
let lines: { message: string; fields: Record<string, unknown> }[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'worker-'));
  [messages, lines] = [[], []];
});
afterEach(async () => {
  worker?.stop(0);
  await worker?.ended;
  rmSync(folder, { recursive: true });
});

function start(text: string): WorkerProcess {
  const program = join(folder, 'program.mjs');
  writeFileSync(program, text);
  const write = (fields: object, message: string): void =>
    void lines.push({ message, fields: { ...fields } });
  worker = new WorkerProcess({
    ...{ name: 'worker 1', program, args: [], log: { info: write, warn: write, error: write } },
    onMessage: (message) => void messages.push(message),
    onExit: () => true,
  });
  return worker;
}

const replacements = () => lines.filter(({ message }) => message === 'a worker ended and is replaced');
const starts = (): number => messages.filter(({ type }) => type === 'ready').length;

describe('a worker', () => {
  it('is killed and replaced when it hangs, and not while it reports its condition', async () => {
    const process = start(HANGS);
    await expect.poll(starts, POLL).toBe(1);
    for (let check = 0; check < CHECKS; check += 1) process.checkLiveness();
    expect(lines.map(({ message }) => message)).toContain('a worker hangs and is killed');
    writeFileSync(join(folder, 'program.mjs'), `${READY} ${ALIVE}`);
    await expect.poll(starts, POLL).toBe(2);
    expect(replacements()).toMatchObject([{ fields: { code: null, signal: 'SIGKILL' } }]);
    for (let check = 0; check < CHECKS; check += 1) {
      const seen = messages.length;
      await expect.poll(() => messages.length, POLL).toBeGreaterThan(seen);
      process.checkLiveness();
    }
    expect(replacements()).toHaveLength(1);
  });

  it('is replaced after growing pauses when it ends again and again', async () => {
    start('process.exit(3);');
    await expect.poll(() => replacements().length, POLL).toBeGreaterThanOrEqual(4);
    const [first, ...others] = replacements().map(({ fields }) => fields['afterMs']);
    expect(others.slice(0, 3)).toEqual([1, 2, 3].map((doublings) => Number(first) * 2 ** doublings));
    expect(replacements()[0]?.fields).toMatchObject({ worker: 'worker 1', code: 3 });
  });
});
