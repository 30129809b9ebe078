/** A node whose disk takes no charge: what costs nothing goes on, what costs something is refused for now. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realDisk } from './ledger/disk.ts';
import type { Disk } from './ledger/disk.ts';
import { Bank } from './ledger/model/bank.ts';
import { openLedger } from './ledger/open-ledger.ts';
import type { OpenLedger } from './ledger/open-ledger.ts';
import { makeModel, makeRoute, startNode } from '../test/request-path.ts';
import type { TestNode } from '../test/request-path.ts';
import { startUpstream } from '../test/upstream.ts';
import type { FakeUpstream } from '../test/upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let full: boolean;
let folder: string;
let bank: Bank;
let ledger: OpenLedger;
let upstream: FakeUpstream;
let node: TestNode;

/** Takes nothing while it is full. */
const disk: Disk = {
  ...realDisk,
  create: async (path) => {
    if (full) throw new Error('ENOSPC');
    const file = await realDisk.create(path);
    return {
      append: (bytes) => (full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)),
      cut: (length) => file.cut(length),
      close: () => file.close(),
    };
  },
};

beforeEach(async () => {
  full = false;
  folder = mkdtempSync(join(tmpdir(), 'gateway-sick-'));
  bank = new Bank({ 'wallet-1': 10_000_000n });
  ledger = await openLedger({ folder, control: bank, log: quiet, disk });
  ledger.connect('node_1');
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ ledger });
  node.store.modelList = [makeModel({ families: ['chat_completions', 'messages'] })];
  node.store.routes = [makeRoute(upstream.origin)];
});

afterEach(async () => {
  await node.close();
  await upstream.close();
  full = false;
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

it('lists models and counts tokens, answers 503 to what is paid, and serves again once it can', async () => {
  expect([await ask(), ...(await free())]).toEqual([200, 200, 200, 200]);
  full = true;
  expect([await ask(), ...(await free())]).toEqual([503, 200, 200, 200]);
  expect(ledger.writable).toBe(false);
  const asked = upstream.seen.length;
  expect([await ask(), ...(await free())]).toEqual([503, 200, 200, 200]);
  // Once the node knows, it asks no upstream for what it could not charge.
  expect(upstream.seen.length).toBe(asked);
  full = false;
  await expect.poll(() => ledger.writable).toBe(true);
  expect(await ask()).toBe(200);
  await ledger.drain(5_000);
  expect(bank.charges.size).toBe(2);
});
