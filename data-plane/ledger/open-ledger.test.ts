/** The whole ledger on a real disk, against a double of the control plane. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Micros } from '@gateway/shared/money';
import { GatewayError } from '@gateway/shared/failures';
import { ControlDouble } from '../../test/ledger/control-double.ts';
import { keyOf, usageOf } from '../../test/ledger/records.ts';
import { openLedger } from './open-ledger.ts';
import type { LedgerOptions, OpenLedger } from './open-ledger.ts';
import type { Hold } from './ledger.ts';

const PRICE = 100_000n;
const WALLETS = Array.from({ length: 100 }, (_, number) => `wallet_${number}`);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(controlPlane: ControlDouble, more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder: folder(), control: controlPlane, log: quiet, ...more });
  let closed = false;
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    if (!closed) await close();
    closed = true;
  };
  cleanups.push(() => ledger.close());
  const before = controlPlane.onRecall;
  controlPlane.onRecall = (leaseId) => {
    before(leaseId);
    ledger.recall(leaseId);
  };
  return ledger;
}

/** Retries until the hold succeeds or a refusal is final. */
async function persist(attempt: () => Promise<Hold>): Promise<Hold | string> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof GatewayError && error.code !== 'unavailable') return error.code;
    }
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'held',
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );
}

test('a charge is settled, the lease is closed, and the wallet has the rest', async () => {
  const controlPlane = new ControlDouble({ wallet_a: 10_000_000n });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  await hold.commit(usageOf('request_1', PRICE));
  const other = await ledger.hold(keyOf('wallet_a'), PRICE);
  other.release();
  await ledger.drain(5_000);
  expect(controlPlane.charges.get('request_1')).toMatchObject({ cost: PRICE, seq: '1' });
  expect(controlPlane.balances.get('wallet_a')).toBe(10_000_000n - PRICE);
  expect(controlPlane.openLeases).toBe(0);
});

test('at most 8 requests are resent and 32 leases closed at once, until all are done', async () => {
  const controlPlane = new ControlDouble(
    Object.fromEntries(WALLETS.map((walletId) => [walletId, 10n * PRICE])),
  );
  const most = { requested: 0, closed: 0 };
  const allowed = { requested: 8, closed: 32 };
  let away = true;
  const counted = (what: keyof typeof most) => {
    let underWay = 0;
    return async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
      underWay += 1;
      // First requests are not counted: each has a client that waits, and they are not limited.
      if (!away || what === 'closed') most[what] = Math.max(most[what], underWay);
      // The first answers wait for all that are allowed at once. One more would come meanwhile.
      do await new Promise((resolve) => setTimeout(resolve, 5));
      while (!away && most[what] < allowed[what]);
      underWay -= 1;
      if (away) throw new Error('away');
      return answer();
    };
  };
  const [requesting, closing] = [counted('requested'), counted('closed')];
  const ledger = await open(controlPlane, {
    control: {
      requestLease: (input) => requesting(() => controlPlane.requestLease(input)),
      closeLease: (input) => closing(() => controlPlane.closeLease(input)),
      reportUsage: (report) => controlPlane.reportUsage(report),
    },
  });
  ledger.connect('node_1');
  const refused = await Promise.all(WALLETS.map((walletId) => codeOf(ledger.hold(keyOf(walletId), PRICE))));
  expect(new Set(refused)).toEqual(new Set(['unavailable']));
  away = false;
  ledger.confirmLeases(ledger.now());
  await expect.poll(() => ledger.totals.leases).toBe(WALLETS.length);
  await ledger.drain(10_000);
  expect(controlPlane.openLeases).toBe(0);
  expect(most).toEqual(allowed);
});

test('200 requests at once on a balance for 7 get exactly 7 holds and 193 times 402', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 7n + 1n }, { latencyMs: 1 });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  let number = 0;
  const answers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const answer = await persist(() => ledger.hold(keyOf('wallet_a'), PRICE));
      if (typeof answer === 'string') return answer;
      await answer.commit(usageOf(`request_${++number}`, PRICE));
      return 'charged';
    }),
  );
  expect(answers.filter((answer) => answer === 'charged')).toHaveLength(7);
  expect(answers.filter((answer) => answer === 'insufficient_funds')).toHaveLength(193);
  await ledger.drain(5_000);
  expect(controlPlane.balances.get('wallet_a')).toBe(1n);
});

test('two nodes on one small wallet sell exactly its balance', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 60n }, { latencyMs: 1 });
  const nodes = [await open(controlPlane), await open(controlPlane)];
  for (const [at, ledger] of nodes.entries()) ledger.connect(`node_${at}`);
  let number = 0;
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const ledger = nodes[at % 2] as OpenLedger;
      const answer = await persist(() => ledger.hold(keyOf('wallet_a'), PRICE));
      if (typeof answer === 'string') return answer;
      await answer.commit(usageOf(`request_${++number}`, PRICE));
      return 'charged';
    }),
  );
  expect(answers.filter((answer) => answer === 'charged')).toHaveLength(60);
  await Promise.all(nodes.map((ledger) => ledger.drain(5_000)));
  expect(controlPlane.balances.get('wallet_a')).toBe(0n);
  expect(controlPlane.openLeases).toBe(0);
});

test('without the control plane an open lease is used, and other requests get 503, never 402', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 10_000n });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  const first = await ledger.hold(keyOf('wallet_a'), PRICE);
  controlPlane.away = true;
  await first.commit(usageOf('request_1', PRICE));
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_2', PRICE));
  expect(await codeOf(ledger.hold(keyOf('wallet_b'), PRICE))).toBe('unavailable');
  expect(ledger.usageBacklog).toBe(2);
  controlPlane.away = false;
  await expect.poll(() => controlPlane.charges.size).toBe(2);
});

test('a restarted process settles and closes its old leases, and never charges them', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n });
  const path = folder();
  const before = await open(controlPlane, { folder: path });
  before.connect('node_1');
  const hold = await before.hold(keyOf('wallet_a'), PRICE);
  controlPlane.away = true;
  await hold.commit(usageOf('request_1', PRICE));
  await before.close();
  controlPlane.away = false;
  const after = await open(controlPlane, { folder: path });
  expect(after.journalId).toBe(before.journalId);
  after.connect('node_1');
  await expect.poll(() => controlPlane.leases.get('lease_1')?.open).toBe(false);
  expect(controlPlane.charges.has('request_1')).toBe(true);
  await (await after.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_2', PRICE));
  await after.drain(5_000);
  expect(controlPlane.charges.get('request_2')).toMatchObject({ leaseId: 'lease_2', seq: '2' });
  expect(controlPlane.balances.get('wallet_a')).toBe(PRICE * 998n);
});

test('a lease whose grant was lost in a crash is found by its request number and closed unused', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n });
  const path = folder();
  const lost: Pick<ControlDouble, 'requestLease' | 'closeLease' | 'reportUsage'> = {
    requestLease: async (input) => {
      await controlPlane.requestLease(input);
      throw new Error('the answer is lost');
    },
    closeLease: (input) => controlPlane.closeLease(input),
    reportUsage: (input) => controlPlane.reportUsage(input),
  };
  const before = await openLedger({ folder: path, control: lost, log: quiet });
  before.connect('node_1');
  expect(await codeOf(before.hold(keyOf('wallet_a'), PRICE))).toBe('unavailable');
  await before.close();
  expect(controlPlane.openLeases).toBe(1);
  const after = await open(controlPlane, { folder: path });
  after.connect('node_1');
  await expect.poll(() => controlPlane.openLeases).toBe(0);
  expect(controlPlane.balances.get('wallet_a')).toBe(PRICE * 1_000n);
  expect(controlPlane.leases.size).toBe(1);
});

test('a lease is not charged after its deadline by either clock', async () => {
  for (const leap of [
    { mono: 3_600_001, wall: 0 },
    { mono: 0, wall: 3_600_001 },
  ]) {
    const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
    let now = { mono: 1_000, wall: 1_795_000_000_000 };
    const ledger = await open(controlPlane, { clock: () => now });
    ledger.connect('node_1');
    const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
    now = { mono: now.mono + leap.mono, wall: now.wall + leap.wall };
    expect(await codeOf(hold.commit(usageOf('request_1', PRICE)))).toBe('unavailable');
    expect(ledger.usageBacklog).toBe(0);
  }
});

test('a jump of the wall clock by ten years in either direction loses no money', async () => {
  const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
  for (const jump of [-TEN_YEARS_MS, TEN_YEARS_MS]) {
    const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
    let now = { mono: 1_000, wall: 1_795_000_000_000 };
    const path = folder();
    const ledger = await open(controlPlane, { folder: path, clock: () => now });
    ledger.connect('node_1');
    const hold = () => ledger.hold(keyOf('wallet_a'), PRICE);
    const [first, second, given] = [await hold(), await hold(), await hold()];
    await first.commit(usageOf('request_1', PRICE));
    now = { mono: now.mono + 1_000, wall: now.wall + jump };
    // After a jump forward the lease may have been reclaimed, so charges that are not durable are free.
    const late = await codeOf(second.commit(usageOf('request_2', PRICE)));
    expect(late).toBe(jump < 0 ? 'held' : 'unavailable');
    given.release();
    // After the clock is corrected the expired lease stays expired, and a new one is requested.
    now = { mono: now.mono + 1_000, wall: now.wall - jump };
    ledger.confirmLeases(now);
    await (await hold()).commit(usageOf('request_3', PRICE));
    await ledger.drain(5_000);
    const sold = jump < 0 ? 3n : 2n;
    await expect.poll(() => controlPlane.openLeases).toBe(0);
    expect(controlPlane.balances.get('wallet_a')).toBe(PRICE * (1_000n - sold));
    expect(controlPlane.total('wallet_a')).toBe(PRICE * 1_000n);
  }
});

test('a lease past its deadline is not charged even if the wall clock went back', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open(controlPlane, { clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { mono: now.mono + 3_600_001, wall: 1_480_000_000_000 };
  expect(await codeOf(hold.commit(usageOf('request_1', PRICE)))).toBe('unavailable');
  expect(ledger.usageBacklog).toBe(0);
});

test('an answered heartbeat extends leases, but does not revive an expired one', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n }, { deadlineMs: 1_000 });
  let now = { mono: 0, wall: 0 };
  const ledger = await open(controlPlane, { clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  const second = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { mono: 900, wall: 900 };
  ledger.confirmLeases(now);
  now = { mono: 1_800, wall: 1_800 };
  await hold.commit(usageOf('request_1', PRICE));
  now = { mono: 2_000, wall: 2_000 };
  ledger.confirmLeases(now);
  expect(await codeOf(second.commit(usageOf('request_2', PRICE)))).toBe('unavailable');
});

test('a recalled lease keeps its hold until the commit; then the rest returns to the wallet', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 10_000n });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  ledger.recall('lease_1');
  await hold.commit(usageOf('request_1', PRICE));
  await expect.poll(() => controlPlane.balances.get('wallet_a')).toBe(PRICE * 9_999n);
});

test('a key with a spend limit gets leases of its own', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n });
  const keyIds: (string | undefined)[] = [];
  const control = {
    requestLease: (input: Parameters<ControlDouble['requestLease']>[0]) => {
      keyIds.push(input.keyId);
      return controlPlane.requestLease(input);
    },
    closeLease: (input: Parameters<ControlDouble['closeLease']>[0]) => controlPlane.closeLease(input),
    reportUsage: (input: Parameters<ControlDouble['reportUsage']>[0]) => controlPlane.reportUsage(input),
  };
  const ledger = await open(controlPlane, { control });
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a', { id: 'key_1', hasSpendLimit: true }), PRICE)).release();
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  expect(keyIds).toEqual(['key_1', undefined]);
});

test('the next lease is requested when half of the present one is used', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 100_000n });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  for (let number = 1; number <= 6; number += 1) {
    await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf(`request_${number}`, PRICE));
  }
  await expect.poll(() => controlPlane.requests).toBe(2);
});

test('requests on one wallet share leases and reports', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000_000n }, { latencyMs: 1 });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  let number = 0;
  const worker = async (): Promise<void> => {
    while (number < 2_000) {
      number += 1;
      const requestId = `request_${number}`;
      await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf(requestId, PRICE));
      ledger.report(usageOf(`free_${number}`, 0n));
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  await ledger.drain(10_000);
  expect(controlPlane.charges.size).toBe(2_000);
  expect(controlPlane.free.length).toBe(2_000);
  expect(controlPlane.requests + controlPlane.reports).toBeLessThan(200);
});

test('a free request is reported, and never requests a lease', async () => {
  const controlPlane = new ControlDouble({});
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), 0n);
  await hold.commit(usageOf('request_1', 0n));
  await expect.poll(() => controlPlane.free).toEqual(['request_1']);
  expect(controlPlane.requests).toBe(0);
});

test('a hold ends once, and only with its own price', async () => {
  const controlPlane = new ControlDouble({ wallet_a: PRICE * 1_000n });
  const ledger = await open(controlPlane);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  await expect(hold.commit(usageOf('request_1', 1n))).rejects.toThrow('does not match its hold');
  expect(() => hold.release()).toThrow('already committed or released');
  await ledger.drain(5_000);
  const total: Micros = controlPlane.total('wallet_a');
  expect(total).toBe(PRICE * 1_000n);
});

test('a second process cannot open the folder', async () => {
  const controlPlane = new ControlDouble({});
  const path = folder();
  await open(controlPlane, { folder: path });
  await expect(openLedger({ folder: path, control: controlPlane, log: quiet })).rejects.toThrow(
    'in use by another node',
  );
});
