/**
 * The bill of a request: its price is held, then charged once or released; one usage record; permits and
 * counts.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import type { PoolRecord } from '@gateway/shared/records';
import { openBill } from './bill.ts';
import type { Bill } from './bill.ts';
import type { Caller } from './admission/authenticate.ts';
import { Bulkhead } from './admission/bulkhead.ts';
import { RepeatedRefusals } from './admission/repeated-refusals.ts';
import { Slot } from './admission/slot.ts';
import { Cut } from './call/cut.ts';
import { Metrics } from './metrics.ts';
import { Reply } from './call/reply.ts';
import {
  FakeLedger,
  FakePermits,
  FakeStore,
  makeIncoming,
  makeKey,
  makeModel,
} from '../test/request-path.ts';

const POOL: PoolRecord = {
  ...{ kind: 'POOL', id: 'pool-1', name: 'Ours', subdomain: 'ours', models: [], rpmCap: 60, paidUntil: 0 },
};

let store: FakeStore;
let ledger: FakeLedger;
let permits: FakePermits;
let refusals: RepeatedRefusals;
let wallets: Bulkhead;
let keys: Bulkhead;
let metrics: Metrics;
beforeEach(() => {
  store = new FakeStore();
  ledger = new FakeLedger();
  permits = new FakePermits();
  refusals = new RepeatedRefusals({ now: () => 0, ledger });
  wallets = new Bulkhead(2);
  keys = new Bulkhead(1);
  metrics = new Metrics();
});

let last = 0;
interface BillOptions {
  pool?: PoolRecord;
  keyId?: string;
  source?: Caller['source'];
}

async function open({ pool, keyId = 'key-1', source = 'API_KEY' }: BillOptions = {}): Promise<{
  bill: Bill;
  headers: Record<string, string>;
}> {
  const { current } = store;
  if (!current) throw new Error('no configuration');
  const incoming = new IncomingMessage(new Socket());
  const headers: Record<string, string> = {};
  const reply = new Reply(new ServerResponse(incoming), headers);
  last += 1;
  const call = {
    ...{ id: `request-${last}`, method: 'POST', path: '/', query: new URLSearchParams(), headers: {} },
    ...{ address: '192.0.2.7', at: 7, startedAt: performance.now(), config: current, cut: new Cut(), reply },
    body: async () => Buffer.alloc(0),
    pieces: async () => Buffer.alloc(0),
    incoming: makeIncoming(),
    identified: () => undefined,
    onEnd: () => undefined,
  };
  const { record: key } = makeKey({ id: keyId, group: 'vip' });
  const common = { address: '192.0.2.7', usedPreviousSecret: false, providerIds: undefined };
  const caller = { key, digest: key.digest, pool, source, ...common };
  const price = { base: '100000', ratio: '0.9', price: '90000' };
  const sale = { model: makeModel(), price, family: 'messages' as const, streamed: true };
  const slot = new Slot(caller, current, { wallets, keys, ledger });
  const limits = { ledger, permits, metrics, refusals };
  const bill = await openBill(call, caller, { sale, slot, limits });
  return { bill, headers };
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'opened',
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );
const failure = (code: FailureCode): GatewayError => new GatewayError(code, 'Try again.');

describe('a bill', () => {
  it('is free if Personal Intelligence reads a chat, and is reported for the usage log', async () => {
    const { bill, headers } = await open({ source: 'PERSONAL_INTELLIGENCE' });
    expect([headers['x-gateway-price-usd'], ledger.open]).toEqual(['0.00', 0]);
    await bill.commit('DELIVERED');
    bill.close();
    expect(ledger.charges).toEqual([]);
    expect(ledger.free).toMatchObject([{ source: 'PERSONAL_INTELLIGENCE', cost: '0' }]);
  });

  it('names and holds its price, and is charged once with all of its figures', async () => {
    const { bill, headers } = await open();
    expect([headers['x-gateway-price-usd'], ledger.open, bill.charged]).toEqual(['0.09', 1, false]);
    expect(permits.admitted).toBe(0);
    bill.routeId = 'route-1';
    bill.firstContent();
    bill.count({ input: 3, output: 5, cached: 1, reasoning: null }, 2);
    await bill.commit('DELIVERED');
    bill.close();
    bill.close(failure('internal'));
    expect([ledger.open, bill.charged, ledger.free]).toEqual([0, true, []]);
    expect(ledger.charges).toEqual([
      {
        requestId: `request-${last}`,
        ...{ at: 7, keyId: 'key-1', walletId: 'wallet-1', poolId: null, group: 'vip', source: 'API_KEY' },
        ...{ model: 'swift', family: 'messages', routeId: 'route-1', streamed: true, ip: '192.0.2.7' },
        ...{ basePrice: '100000', ratio: '0.9', cost: '90000' },
        tokens: { input: 3, output: 5, cached: 1, reasoning: null },
        ...{ outcome: 'DELIVERED', status: 'SUCCEEDED', httpStatus: 200, errorCode: null, lossesInAnswer: 2 },
        ...{ latencyMs: expect.any(Number), firstContentMs: expect.any(Number), tried: undefined },
      },
    ]);
  });

  it.each([
    [0, 0],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, null],
    [-1, null],
    [0.5, null],
    [Number.NaN, null],
    [null, null],
  ])('reports a token count of %s as %s, and the other counts unchanged', async (count, reported) => {
    const counts = { input: 1, output: 2, cached: 3, reasoning: 4 };
    for (const name of ['input', 'output', 'cached', 'reasoning'] as const) {
      const { bill } = await open();
      bill.count({ ...counts, [name]: count }, 0);
      await bill.commit('DELIVERED');
      bill.close();
      expect(ledger.charges.at(-1)?.tokens).toEqual({ ...counts, [name]: reported });
    }
  });

  it('reports durations since the arrival of the request and since the start of the attempt', async () => {
    const before = performance.now();
    const { bill } = await open();
    const failed = { routeId: 'route-0', errorCode: 'upstream_busy', httpStatus: 429, ms: 3 };
    bill.attempted({ ...failed, outcome: 'FAILED' });
    bill.routeId = 'route-1';
    bill.firstContent();
    await bill.commit('DELIVERED');
    bill.close();
    const longestMs = Math.ceil(performance.now() - before);
    const [charge] = ledger.charges;
    const durations = [charge?.latencyMs, charge?.firstContentMs, charge?.tried?.attempts[1]?.ms];
    for (const duration of durations) {
      expect(duration).toBeGreaterThanOrEqual(0);
      expect(duration).toBeLessThanOrEqual(longestMs);
    }
  });

  it.each([
    ['client_closed', true, 'CLIENT_LEFT'],
    ['key_disabled', true, 'KEY_CUT'],
    ['client_closed', false, undefined],
    ['key_disabled', false, undefined],
    ['upstream_failed', true, undefined],
    ['unavailable', true, undefined],
  ] as const)('is charged if it is cut by %s (content relayed: %s): %s', async (code, relayed, outcome) => {
    const { bill } = await open();
    const error = new GatewayError(code, 'Try again.', code === 'key_disabled' ? { byOwner: true } : {});
    await bill.cut(error, relayed);
    await bill.cut(error, relayed);
    bill.close(error);
    expect(ledger.charges.map((charge) => [charge.outcome, charge.status, charge.cost])).toEqual(
      outcome ? [[outcome, 'CANCELLED', '90000']] : [],
    );
    expect([ledger.open, ledger.free.length]).toEqual([0, outcome ? 0 : 1]);
  });

  it.each([
    [true, 'OPERATOR_CUT'],
    [false, 'NO_CONTENT'],
  ] as const)(
    'is free if it is cut by the operator (content relayed: %s), and reported as %s',
    async (relayed, outcome) => {
      const { bill } = await open();
      await bill.cut(failure('key_disabled'), relayed);
      bill.close(failure('key_disabled'));
      expect([ledger.open, ledger.charges]).toEqual([0, []]);
      expect(ledger.free).toMatchObject([
        { outcome, status: 'CANCELLED', cost: '0', errorCode: 'key_disabled' },
      ]);
    },
  );

  it('is free after any other failure, whoever is named as its cause', async () => {
    const { bill } = await open();
    const error = new GatewayError('upstream_failed', 'Try again.', { byOwner: true });
    await bill.cut(error, true);
    bill.close(error);
    expect([ledger.open, ledger.charges]).toEqual([0, []]);
  });

  it('counts its request by model, and the wait for its charge, in the metrics', async () => {
    const startedAt = performance.now();
    const charged = await open();
    await charged.bill.commit('DELIVERED');
    charged.bill.close();
    const refused = await open();
    refused.bill.close(failure('upstream_failed'));
    const text = await metrics.registry.metrics();
    const labels = (status: string): string => `{model="swift",family="messages",status="${status}"}`;
    expect(text).toContain(`gateway_model_requests_total${labels('succeeded')} 1`);
    expect(text).toContain(`gateway_model_requests_total${labels('failed')} 1`);
    expect(text).toContain('gateway_commit_seconds_count 1');
    const seconds = Number(/gateway_commit_seconds_sum (\S+)/.exec(text)?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(0);
    expect(seconds * 1_000).toBeLessThanOrEqual(performance.now() - startedAt);
  });

  it('is counted in the metrics when it closes, after the answer that waited for its charge', async () => {
    const counts = async (): Promise<number> =>
      (await metrics.registry.metrics())
        .split('\n')
        .filter((line) => line.startsWith('gateway_model_requests')).length;
    const { bill } = await open();
    await bill.commit('DELIVERED');
    expect([bill.charged, await counts()]).toEqual([true, 0]);
    bill.close();
    bill.close();
    expect(await counts()).toBe(1);
  });

  it('reports token counts as unknown if the upstream sent none', async () => {
    const { bill } = await open();
    await bill.commit('DELIVERED');
    expect(ledger.charges[0]?.tokens).toEqual({ input: null, output: null, cached: null, reasoning: null });
  });

  it('is not charged again if the client leaves after the charge', async () => {
    const { bill } = await open();
    await bill.commit('DELIVERED');
    await bill.cut(failure('client_closed'), true);
    expect(ledger.charges).toHaveLength(1);
  });

  it('costs nothing and reports that if its charge does not become durable', async () => {
    const { bill } = await open();
    ledger.failCommit = failure('unavailable');
    await expect(bill.commit('DELIVERED')).rejects.toThrow('Try again.');
    bill.close(ledger.failCommit);
    expect([bill.charged, ledger.open, ledger.charges]).toEqual([false, 0, []]);
    expect(ledger.free).toMatchObject([{ cost: '0', errorCode: 'unavailable', httpStatus: 503 }]);
  });

  it.each([
    ['client_closed', 'NO_CONTENT', 'CANCELLED'],
    ['key_disabled', 'NO_CONTENT', 'CANCELLED'],
    ['rate_limited', 'THROTTLED', 'THROTTLED'],
    ['too_many_concurrent', 'THROTTLED', 'THROTTLED'],
    ['upstream_timeout', 'UPSTREAM_FAILED', 'FAILED'],
    ['internal', 'UPSTREAM_FAILED', 'FAILED'],
    ['insufficient_funds', 'REFUSED', 'FAILED'],
  ] as const)('is free if it ends with %s, and reported as %s, %s', async (code, outcome, status) => {
    const { bill } = await open();
    const error = failure(code);
    bill.close(error);
    const row = { outcome, status, cost: '0', errorCode: code, httpStatus: error.status };
    expect(ledger.free).toMatchObject([row]);
    expect([ledger.open, ledger.charges]).toEqual([0, []]);
  });

  it('is reported once as an internal failure after an unexpected error or none', async () => {
    for (const error of [new Error('bug'), undefined]) {
      const { bill } = await open();
      bill.close(error);
      bill.close(error);
    }
    const row = { errorCode: 'internal', httpStatus: 500, cost: '0' };
    expect(ledger.free).toMatchObject([row, row]);
  });

  it('lists the attempt that was answered after the failed ones', async () => {
    const tried = {
      routeId: 'route-0',
      outcome: 'FAILED',
      errorCode: 'upstream_busy',
      httpStatus: 429,
      ms: 3,
    };
    const charged = await open();
    charged.bill.attempted({ ...tried, outcome: 'FAILED' });
    charged.bill.routeId = 'route-1';
    await charged.bill.commit('DELIVERED');
    charged.bill.close();
    const last = { routeId: 'route-1', outcome: 'ANSWERED', errorCode: null, httpStatus: null };
    const ms = expect.any(Number);
    expect(ledger.charges[0]?.tried).toEqual({ attempts: [tried, { ...last, ms }], omitted: 0 });
    const refused = await open();
    refused.bill.attempted({ ...tried, outcome: 'FAILED' });
    refused.bill.close(failure('upstream_busy'));
    expect(ledger.free[0]?.tried).toEqual({ attempts: [tried], omitted: 0 });
    const broken = await open();
    broken.bill.attempted({ ...tried, outcome: 'FAILED' });
    broken.bill.routeId = 'route-1';
    broken.bill.close(failure('upstream_failed'));
    const broke = { ...last, outcome: 'BROKE_OFF', errorCode: 'upstream_failed' };
    expect(ledger.free[1]?.tried?.attempts[1]).toMatchObject(broke);
  });

  it('lists an attempt as answered without an error if only the charge failed', async () => {
    const { bill } = await open();
    const busy = { outcome: 'FAILED', errorCode: 'upstream_busy', httpStatus: 429, ms: 3 } as const;
    bill.attempted({ ...busy, routeId: 'route-0' });
    bill.routeId = 'route-1';
    bill.close(failure('unavailable'));
    const answered = { routeId: 'route-1', outcome: 'ANSWERED', errorCode: null };
    expect(ledger.free[0]?.tried?.attempts[1]).toMatchObject(answered);
  });
});

describe('the limits of a bill', () => {
  it('count a request for wallet and key until its end, however it ends', async () => {
    const { bill } = await open();
    expect(await codeOf(open())).toBe('too_many_concurrent');
    bill.close(failure('client_closed'));
    const { bill: next } = await open();
    next.discard();
    next.discard();
    await open();
  });

  it('do not count a refused request, neither for the key nor for the wallet', async () => {
    await open({ keyId: 'key-1' });
    for (let count = 0; count < 3; count += 1)
      expect(await codeOf(open({ keyId: 'key-1' }))).toBe('too_many_concurrent');
    await open({ keyId: 'key-2' });
    expect(await codeOf(open({ keyId: 'key-3' }))).toBe('too_many_concurrent');
    expect([ledger.open, ledger.free]).toEqual([2, []]);
  });

  it('keep neither count nor permit of requests refused for lack of money, and report one row', async () => {
    store.settings = { ...store.settings, poolRequestsFree: false };
    ledger.refuse = failure('insufficient_funds');
    for (let count = 0; count < 3; count += 1)
      expect(await codeOf(open({ pool: POOL }))).toBe('insufficient_funds');
    expect([permits.admitted, ledger.open, ledger.charges]).toEqual([0, 0, []]);
    const row = { outcome: 'REFUSED', poolId: 'pool-1', cost: '0' };
    refusals.flush();
    expect(ledger.free).toMatchObject([row, { ...row, repeats: 1 }]);
  });

  it('refuse a request without a permit before money is held', async () => {
    store.settings = { ...store.settings, poolRequestsFree: false };
    permits.refuse = failure('rate_limited');
    expect(await codeOf(open({ pool: POOL }))).toBe('rate_limited');
    expect(ledger.open).toBe(0);
    expect(ledger.free).toMatchObject([{ outcome: 'THROTTLED', errorCode: 'rate_limited' }]);
  });

  it('report a pool’s request as delivered at no cost, and keep its permit', async () => {
    const { bill, headers } = await open({ pool: POOL });
    expect([headers['x-gateway-price-usd'], ledger.open, permits.admitted]).toEqual(['0.00', 0, 1]);
    await bill.commit('DELIVERED');
    bill.close();
    expect([ledger.charges, permits.admitted, bill.charged]).toEqual([[], 1, true]);
    expect(ledger.free).toMatchObject([{ outcome: 'DELIVERED', cost: '0', poolId: 'pool-1' }]);
  });

  it('charge a pool’s request if the operator does not make them free', async () => {
    store.settings = { ...store.settings, poolRequestsFree: false };
    const { bill, headers } = await open({ pool: POOL });
    expect([headers['x-gateway-price-usd'], ledger.open]).toEqual(['0.09', 1]);
    await bill.commit('DELIVERED');
    expect(ledger.charges).toMatchObject([{ cost: '90000', poolId: 'pool-1' }]);
  });

  it('get money and permit back once from a discarded bill, without a report', async () => {
    store.settings = { ...store.settings, poolRequestsFree: false };
    const { bill } = await open({ pool: POOL });
    bill.discard();
    bill.discard();
    bill.close(failure('internal'));
    expect([ledger.open, permits.admitted, ledger.free, ledger.charges]).toEqual([0, 0, [], []]);
  });

  it('get the permit back from a discarded bill of a request that the pool pays', async () => {
    const { bill } = await open({ pool: POOL });
    bill.discard();
    expect([permits.admitted, ledger.free]).toEqual([0, []]);
  });
});
