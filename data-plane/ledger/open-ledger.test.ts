/** The ledger at work on a real disk, against a control plane's money in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Micros } from '@gateway/shared/money';
import { GatewayError } from '@gateway/shared/failures';
import { Bank } from './model/bank.ts';
import { keyOf, usageOf } from './model/records.ts';
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

async function open(bank: Bank, more: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder: folder(), control: bank, log: quiet, ...more });
  let closed = false;
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    if (!closed) await close();
    closed = true;
  };
  cleanups.push(() => ledger.close());
  const before = bank.onRecall;
  bank.onRecall = (leaseId) => {
    before(leaseId);
    ledger.recall(leaseId);
  };
  return ledger;
}

/** Asks until it has an answer that a retry cannot change. */
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

test('a charge is settled, the lease is closed, and the wallet has what is left', async () => {
  const bank = new Bank({ wallet_a: 10_000_000n });
  const ledger = await open(bank);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  await hold.commit(usageOf('request_1', PRICE));
  const other = await ledger.hold(keyOf('wallet_a'), PRICE);
  other.release();
  await ledger.drain(5_000);
  expect(bank.charges.get('request_1')).toMatchObject({ cost: PRICE, seq: '1' });
  expect(bank.balances.get('wallet_a')).toBe(10_000_000n - PRICE);
  expect(bank.openLeases).toBe(0);
});

test('of many wallets, few are asked for again or given back at once, and all in the end', async () => {
  const bank = new Bank(Object.fromEntries(WALLETS.map((walletId) => [walletId, 10n * PRICE])));
  const most = { asked: 0, closed: 0 };
  let away = true;
  const counted = (what: keyof typeof most) => {
    let underWay = 0;
    return async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
      underWay += 1;
      // What is asked for the first time has clients that wait, and as many as these.
      if (!away || what === 'closed') most[what] = Math.max(most[what], underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      if (away) throw new Error('away');
      return answer();
    };
  };
  const [asking, closing] = [counted('asked'), counted('closed')];
  const ledger = await open(bank, {
    control: {
      requestLease: (input) => asking(() => bank.requestLease(input)),
      closeLease: (input) => closing(() => bank.closeLease(input)),
      reportUsage: (report) => bank.reportUsage(report),
    },
  });
  ledger.connect('node_1');
  const refused = await Promise.all(WALLETS.map((walletId) => codeOf(ledger.hold(keyOf(walletId), PRICE))));
  expect(new Set(refused)).toEqual(new Set(['unavailable']));
  away = false;
  ledger.confirm(ledger.now());
  await expect.poll(() => ledger.tally.leases).toBe(WALLETS.length);
  await ledger.drain(10_000);
  expect(bank.openLeases).toBe(0);
  expect(most).toEqual({ asked: 8, closed: 32 });
});

test('200 requests at once on money for 7 get exactly 7 holds, the others a final 402', async () => {
  const bank = new Bank({ wallet_a: PRICE * 7n + 1n }, { latencyMs: 1 });
  const ledger = await open(bank);
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
  expect(bank.balances.get('wallet_a')).toBe(1n);
});

test('two nodes on one small wallet sell exactly what it holds; no rest starves the other', async () => {
  const bank = new Bank({ wallet_a: PRICE * 60n }, { latencyMs: 1 });
  const nodes = [await open(bank), await open(bank)];
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
  expect(bank.balances.get('wallet_a')).toBe(0n);
  expect(bank.openLeases).toBe(0);
});

test('without the control plane a lease at hand is spent on; without one it is 503, never 402', async () => {
  const bank = new Bank({ wallet_a: PRICE * 10_000n });
  const ledger = await open(bank);
  ledger.connect('node_1');
  const first = await ledger.hold(keyOf('wallet_a'), PRICE);
  bank.away = true;
  await first.commit(usageOf('request_1', PRICE));
  await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_2', PRICE));
  expect(await codeOf(ledger.hold(keyOf('wallet_b'), PRICE))).toBe('unavailable');
  expect(ledger.usageBacklog).toBe(2);
  bank.away = false;
  await expect.poll(() => bank.charges.size).toBe(2);
});

test('a process that died settles and closes its old leases, and never spends from them', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n });
  const path = folder();
  const before = await open(bank, { folder: path });
  before.connect('node_1');
  const hold = await before.hold(keyOf('wallet_a'), PRICE);
  bank.away = true;
  await hold.commit(usageOf('request_1', PRICE));
  await before.close();
  bank.away = false;
  const after = await open(bank, { folder: path });
  expect(after.journalId).toBe(before.journalId);
  after.connect('node_1');
  await expect.poll(() => bank.leases.get('lease_1')?.open).toBe(false);
  expect(bank.charges.has('request_1')).toBe(true);
  await (await after.hold(keyOf('wallet_a'), PRICE)).commit(usageOf('request_2', PRICE));
  await after.drain(5_000);
  expect(bank.charges.get('request_2')).toMatchObject({ leaseId: 'lease_2', seq: '2' });
  expect(bank.balances.get('wallet_a')).toBe(PRICE * 998n);
});

test('a lease whose answer was lost in a crash is found by its number and closed unused', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n });
  const path = folder();
  const lost: Pick<Bank, 'requestLease' | 'closeLease' | 'reportUsage'> = {
    requestLease: async (input) => {
      await bank.requestLease(input);
      throw new Error('the answer is lost');
    },
    closeLease: (input) => bank.closeLease(input),
    reportUsage: (input) => bank.reportUsage(input),
  };
  const before = await openLedger({ folder: path, control: lost, log: quiet });
  before.connect('node_1');
  expect(await codeOf(before.hold(keyOf('wallet_a'), PRICE))).toBe('unavailable');
  await before.close();
  expect(bank.openLeases).toBe(1);
  const after = await open(bank, { folder: path });
  after.connect('node_1');
  await expect.poll(() => bank.openLeases).toBe(0);
  expect(bank.balances.get('wallet_a')).toBe(PRICE * 1_000n);
  expect(bank.leases.size).toBe(1);
});

test('a lease is not charged once it may be taken back, whichever clock says so', async () => {
  for (const leap of [
    { mono: 3_600_001, wall: 0 },
    { mono: 0, wall: 3_600_001 },
  ]) {
    const bank = new Bank({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
    let now = { mono: 1_000, wall: 1_795_000_000_000 };
    const ledger = await open(bank, { clock: () => now });
    ledger.connect('node_1');
    const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
    now = { mono: now.mono + leap.mono, wall: now.wall + leap.wall };
    expect(await codeOf(hold.commit(usageOf('request_1', PRICE)))).toBe('unavailable');
    expect(ledger.usageBacklog).toBe(0);
  }
});

test('a wall clock that jumps ten years in the middle of holds costs no cent, back or forward', async () => {
  const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
  for (const jump of [-TEN_YEARS_MS, TEN_YEARS_MS]) {
    const bank = new Bank({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
    let now = { mono: 1_000, wall: 1_795_000_000_000 };
    const path = folder();
    const ledger = await open(bank, { folder: path, clock: () => now });
    ledger.connect('node_1');
    const hold = () => ledger.hold(keyOf('wallet_a'), PRICE);
    const [first, second, given] = [await hold(), await hold(), await hold()];
    await first.commit(usageOf('request_1', PRICE));
    now = { mono: now.mono + 1_000, wall: now.wall + jump };
    // Forward, the lease may have been taken back: what is not durable by then is free.
    const late = await codeOf(second.commit(usageOf('request_2', PRICE)));
    expect(late).toBe(jump < 0 ? 'held' : 'unavailable');
    given.release();
    // The clock is set right again; a lease that was given up stays so, and new ones are asked for.
    now = { mono: now.mono + 1_000, wall: now.wall - jump };
    ledger.confirm(now);
    await (await hold()).commit(usageOf('request_3', PRICE));
    await ledger.drain(5_000);
    const sold = jump < 0 ? 3n : 2n;
    await expect.poll(() => bank.openLeases).toBe(0);
    expect(bank.balances.get('wallet_a')).toBe(PRICE * (1_000n - sold));
    expect(bank.total('wallet_a')).toBe(PRICE * 1_000n);
  }
});

test('a lease past its deadline is not charged, though the wall clock went back', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n }, { deadlineMs: 3_600_000 });
  let now = { mono: 1_000, wall: 1_795_000_000_000 };
  const ledger = await open(bank, { clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { mono: now.mono + 3_600_001, wall: 1_480_000_000_000 };
  expect(await codeOf(hold.commit(usageOf('request_1', PRICE)))).toBe('unavailable');
  expect(ledger.usageBacklog).toBe(0);
});

test('an answered heartbeat keeps leases alive, but never wakes one that had expired', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n }, { deadlineMs: 1_000 });
  let now = { mono: 0, wall: 0 };
  const ledger = await open(bank, { clock: () => now });
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  const second = await ledger.hold(keyOf('wallet_a'), PRICE);
  now = { mono: 900, wall: 900 };
  ledger.confirm(now);
  now = { mono: 1_800, wall: 1_800 };
  await hold.commit(usageOf('request_1', PRICE));
  now = { mono: 2_000, wall: 2_000 };
  ledger.confirm(now);
  expect(await codeOf(second.commit(usageOf('request_2', PRICE)))).toBe('unavailable');
});

test('a recalled lease ends the hold it has, then its rest is back in the wallet', async () => {
  const bank = new Bank({ wallet_a: PRICE * 10_000n });
  const ledger = await open(bank);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  ledger.recall('lease_1');
  await hold.commit(usageOf('request_1', PRICE));
  await expect.poll(() => bank.balances.get('wallet_a')).toBe(PRICE * 9_999n);
});

test('a key with a spend limit asks for leases of its own', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n });
  const asked: (string | undefined)[] = [];
  const control = {
    requestLease: (input: Parameters<Bank['requestLease']>[0]) => {
      asked.push(input.keyId);
      return bank.requestLease(input);
    },
    closeLease: (input: Parameters<Bank['closeLease']>[0]) => bank.closeLease(input),
    reportUsage: (input: Parameters<Bank['reportUsage']>[0]) => bank.reportUsage(input),
  };
  const ledger = await open(bank, { control });
  ledger.connect('node_1');
  (await ledger.hold(keyOf('wallet_a', { id: 'key_1', hasSpendLimit: true }), PRICE)).release();
  (await ledger.hold(keyOf('wallet_a'), PRICE)).release();
  expect(asked).toEqual(['key_1', undefined]);
});

test('the next lease is asked for when half of one is spent, so that nobody waits', async () => {
  const bank = new Bank({ wallet_a: PRICE * 100_000n });
  const ledger = await open(bank);
  ledger.connect('node_1');
  for (let number = 1; number <= 6; number += 1) {
    await (await ledger.hold(keyOf('wallet_a'), PRICE)).commit(usageOf(`request_${number}`, PRICE));
  }
  await expect.poll(() => bank.requests).toBe(2);
});

test('requests on one wallet share leases and reports: none asks the control plane for itself', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000_000n }, { latencyMs: 1 });
  const ledger = await open(bank);
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
  expect(bank.charges.size).toBe(2_000);
  expect(bank.free.length).toBe(2_000);
  expect(bank.requests + bank.reports).toBeLessThan(200);
});

test('a free request is reported without a lease, and a price of zero never asks for one', async () => {
  const bank = new Bank({});
  const ledger = await open(bank);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), 0n);
  await hold.commit(usageOf('request_1', 0n));
  await expect.poll(() => bank.free).toEqual(['request_1']);
  expect(bank.requests).toBe(0);
});

test('a hold ends once, and only with the price that was held', async () => {
  const bank = new Bank({ wallet_a: PRICE * 1_000n });
  const ledger = await open(bank);
  ledger.connect('node_1');
  const hold = await ledger.hold(keyOf('wallet_a'), PRICE);
  await expect(hold.commit(usageOf('request_1', 1n))).rejects.toThrow('for a hold of');
  expect(() => hold.release()).toThrow('ended twice');
  await ledger.drain(5_000);
  const total: Micros = bank.total('wallet_a');
  expect(total).toBe(PRICE * 1_000n);
});

test('a second process is kept out of the folder', async () => {
  const bank = new Bank({});
  const path = folder();
  await open(bank, { folder: path });
  await expect(openLedger({ folder: path, control: bank, log: quiet })).rejects.toThrow(
    'in use by another node',
  );
});
