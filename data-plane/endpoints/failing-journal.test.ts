/** A node whose journal cannot be written serves free requests, and refuses paid requests until it can. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { HangingDisk } from '../../test/ledger/hanging-disk.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let disk: HangingDisk;
let folder: string;
let controlPlane: ControlDouble;
let ledger: OpenLedger;
let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  // The check for a hanging disk runs when the test advances the clock.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  disk = new HangingDisk();
  folder = mkdtempSync(join(tmpdir(), 'gateway-sick-'));
  controlPlane = new ControlDouble({ 'wallet-1': 10_000_000n });
  ledger = await openLedger({ folder, control: controlPlane, log: quiet, disk });
  ledger.connect('node_1');
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ ledger });
  node.store.modelList = [makeModel({ families: ['chat_completions', 'messages'] })];
  node.store.routes = [makeRoute(upstream.origin)];
});

afterEach(async () => {
  await node.close();
  await upstream.close();
  vi.useRealTimers();
  disk.fails = false;
  disk.resume();
  await ledger.close();
  rmSync(folder, { recursive: true });
});

const ask = async (): Promise<number> =>
  (await node.call({ body: { model: 'swift', messages: MESSAGES } })).status;
const free = async (): Promise<number[]> => {
  const models = await node.call({ method: 'GET', path: '/v1/models' });
  const model = await node.call({ method: 'GET', path: '/v1/models/swift' });
  const body = { model: 'swift', messages: MESSAGES };
  const count = await node.call({ path: '/v1/messages/count_tokens', body });
  return [models.status, model.status, count.status];
};

it('answers paid requests with 503 while writes fail, serves free ones, and recovers', async () => {
  expect([await ask(), ...(await free())]).toEqual([200, 200, 200, 200]);
  disk.fails = true;
  expect([await ask(), ...(await free())]).toEqual([503, 200, 200, 200]);
  expect(ledger.writable).toBe(false);
  const asked = upstream.seen.length;
  expect([await ask(), ...(await free())]).toEqual([503, 200, 200, 200]);
  // After the failure the node sends no request for whose answer it could not charge.
  expect(upstream.seen.length).toBe(asked);
  disk.fails = false;
  await expect.poll(() => ledger.writable).toBe(true);
  expect(await ask()).toBe(200);
  await ledger.drain(5_000);
  expect(controlPlane.charges.size).toBe(2);
});

it('refuses paid requests while a write hangs, and finishes the earlier ones when it completes', async () => {
  expect(await ask()).toBe(200);
  disk.hangs = 'append';
  const begun = ask();
  await vi.waitFor(() => expect(disk.waiting).toBe(1));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ledger.writable).toBe(false);
  const asked = upstream.seen.length;
  expect([await ask(), ...(await free())]).toEqual([503, 200, 200, 200]);
  expect(upstream.seen.length).toBe(asked);
  disk.resume();
  expect([await begun, await ask()]).toEqual([200, 200]);
  await ledger.drain(5_000);
  expect(controlPlane.charges.size).toBe(3);
});
