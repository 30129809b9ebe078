/** Tests of the pure settlement rules: which leases pay which charges, and which records are refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX, chargeFor, formatRatio } from '@gateway/shared/money';
import type { Lease } from '../wallet/lease.rows.ts';
import {
  beyondGrant,
  chargeOf,
  malformedReason,
  planSettlement,
  runsOf,
  refusalReason,
  storableCount,
  storableIp,
  storableText,
  storableTime,
} from './settlement.rules.ts';
import type { Charge, LeaseHolding, ReportedUsage } from './settlement.rules.ts';

const PRICE = 100n;

const charge = (seq: number, leaseId = 'l1', amount = PRICE): Charge => ({
  ...{ requestId: `r${seq}`, journalId: 'j1', walletId: 'w1' },
  ...{ seq, leaseId, amount },
});
const holding = (cash: bigint, gift = 0n, open = true): LeaseHolding => ({ cash, gift, open });
const seqs = (charges: readonly Charge[]): number[] => charges.map(({ seq }) => seq);

describe('a settlement plan', () => {
  test('covers charges in the order of sequence numbers until the lease is used up', () => {
    const plan = planSettlement([charge(3), charge(1), charge(2)], new Map([['l1', holding(200n)]]));
    expect(seqs(plan.covered)).toEqual([1, 2]);
    expect(seqs(plan.late)).toEqual([3]);
    expect(plan.leaseDebits).toEqual(new Map([['l1', { cash: 200n, gift: 0n, count: 2 }]]));
  });

  test('covers a small charge after one that is too large', () => {
    const plan = planSettlement([charge(1, 'l1', 300n), charge(2)], new Map([['l1', holding(100n)]]));
    expect(seqs(plan.covered)).toEqual([2]);
    expect(seqs(plan.late)).toEqual([1]);
  });

  test('takes gift before cash, for each lease separately', () => {
    const holdings = new Map([
      ['l1', holding(500n, 150n)],
      ['l2', holding(0n, 900n)],
    ]);
    const plan = planSettlement([charge(1), charge(2), charge(3, 'l2')], holdings);
    expect(plan.leaseDebits).toEqual(
      new Map([
        ['l1', { cash: 50n, gift: 150n, count: 2 }],
        ['l2', { cash: 0n, gift: 100n, count: 1 }],
      ]),
    );
    expect(plan.late).toEqual([]);
  });

  test('covers nothing from an ended or unknown lease', () => {
    const plan = planSettlement([charge(1), charge(2, 'l9')], new Map([['l1', holding(900n, 900n, false)]]));
    expect(seqs(plan.late)).toEqual([1, 2]);
    expect(plan.covered).toEqual([]);
    expect(plan.leaseDebits).toEqual(new Map());
  });
});

describe('the grant of a lease', () => {
  const amounts = fc.bigInt({ min: 1n, max: 500n });
  const charges = fc.array(fc.tuple(fc.constantFrom('l1', 'l2'), amounts), { maxLength: 30 });

  test('is never exceeded by charges in any order', () => {
    fc.assert(
      fc.property(charges, amounts, fc.nat(), (listed, remaining, offset) => {
        const all = listed.map(([leaseId, amount], at) => charge(at + 1, leaseId, amount));
        const rotated = [...all.slice(offset % 31), ...all.slice(0, offset % 31)];
        const beyond = beyondGrant(rotated, new Map([['l1', remaining]]));
        const sumOf = (lease: string) =>
          all
            .filter(({ leaseId, requestId }) => leaseId === lease && !beyond.has(requestId))
            .reduce((sum, { amount }) => sum + amount, 0n);
        expect(sumOf('l1')).toBeLessThanOrEqual(remaining);
        expect(sumOf('l2')).toBe(0n);
        expect(beyond).toEqual(beyondGrant(all, new Map([['l1', remaining]])));
      }),
    );
  });

  test('covers all charges of a correct node', () => {
    fc.assert(
      fc.property(charges, (listed) => {
        const all = listed.map(([leaseId, amount], at) => charge(at + 1, leaseId, amount));
        const remaining = new Map<string, bigint>();
        for (const { leaseId, amount } of all)
          remaining.set(leaseId, (remaining.get(leaseId) ?? 0n) + amount);
        expect(beyondGrant(all, remaining)).toEqual(new Set());
      }),
    );
  });

  test('goes to charges by sequence number, and to a small charge after one that is too large', () => {
    const all = [charge(3), charge(2, 'l1', 150n), charge(1), charge(4, 'l1', 1n)];
    expect(beyondGrant(all, new Map([['l1', 201n]]))).toEqual(new Set(['r2']));
    expect(beyondGrant(all, new Map([['l1', 200n]]))).toEqual(new Set(['r2', 'r4']));
    expect(beyondGrant([charge(1)], new Map([['l1', -5n]]))).toEqual(new Set(['r1']));
  });
});

test('a cost is accepted exactly if it is price × ratio by the shared formula', () => {
  const ratio = fc.bigInt({ min: 1n, max: 99_999_999n });
  const price = fc.bigInt({ min: 1n, max: 10n ** 9n });
  fc.assert(
    fc.property(price, ratio, fc.bigInt({ min: -3n, max: 3n }), (basePrice, by, off) => {
      const cost = chargeFor(basePrice, by) + off;
      fc.pre(cost > 0n && cost <= AMOUNT_MAX);
      const record = usage({ basePrice, ratio: formatRatio(by), cost });
      expect(malformedReason(record) === undefined).toBe(off === 0n);
    }),
  );
});

const usage = (more: Partial<ReportedUsage> = {}): ReportedUsage => ({
  ...{ requestId: 'r1', journalId: 'j1', seq: 1, leaseId: 'l1', at: new Date(0), keyId: 'k1' },
  ...{ walletId: 'w1', poolId: null, group: 'default', source: 'API_KEY', modelName: 'swift' },
  ...{ family: 'chat_completions', routeId: null, basePrice: PRICE, ratio: '1', cost: PRICE },
  ...{ inputTokens: 1, outputTokens: 1, cachedTokens: null, reasoningTokens: null },
  ...{ status: 'SUCCEEDED', outcome: 'DELIVERED', httpStatus: 200, errorCode: null, streamed: false },
  ...{ latencyMs: 1, ttftMs: null, ip: null, lossesInAnswer: 0 },
  ...more,
});
const free = (more: Partial<ReportedUsage> = {}): ReportedUsage =>
  usage({ cost: 0n, journalId: null, seq: null, leaseId: null, ...more });

const lease = (more: Partial<Lease> = {}): Lease => ({
  ...{ id: 'l1', nodeId: 'n1', journalId: 'j1', walletId: 'w1', keyId: null, state: 'ACTIVE' },
  ...{ granted: 900n, cash: 900n, gift: 0n, chargeCount: 0, chargeSum: 0n },
  ...more,
});
const known = (more: Partial<Lease> = {}) => ({
  journals: new Set(['j1']),
  leases: new Map([['l1', lease(more)]]),
  settled: new Set(['settled']),
  wallets: new Set(['w1', 'w2']),
  walletsOfKeys: new Map([
    ['k1', 'w1'],
    ['k2', 'w2'],
  ]),
});

const refusal = (record: ReportedUsage, references = known()): string | undefined =>
  malformedReason(record) ?? refusalReason(record, references);

describe('a reported record', () => {
  test('can be settled if it is well-formed and names the journal and lease of its node', () => {
    expect(refusal(usage(), known())).toBe(undefined);
    expect(refusal(usage(), known({ keyId: 'k1' }))).toBe(undefined);
    expect(refusal(free(), known())).toBe(undefined);
    expect(refusal(usage({ cost: AMOUNT_MAX, basePrice: AMOUNT_MAX }), known())).toBe(undefined);
    expect(refusal(usage({ cost: 90n, ratio: '0.9' }), known())).toBe(undefined);
    expect(refusal(free({ basePrice: PRICE, ratio: '0.9' }), known())).toBe(undefined);
    expect(refusal(free({ journalId: null, requestId: 'x'.repeat(128) }), known())).toBe(undefined);
  });

  test.each<[string, Partial<ReportedUsage>]>([
    ['needs journal, seq and lease', { journalId: null }],
    ['needs journal, seq and lease', { seq: null }],
    ['needs journal, seq and lease', { leaseId: null }],
    ['needs journal, seq and lease', { cost: 0n }],
    ['amount out of bounds', { cost: AMOUNT_MAX + 1n }],
    ['amount out of bounds', { basePrice: -1n }],
    ['amount out of bounds', { basePrice: AMOUNT_MAX + 1n }],
    ['amount out of bounds', { basePrice: 2n ** 63n, cost: 2n ** 63n }],
    ['cost 90000 is not price 100 × ratio 1', { cost: 90_000n }],
    ['cost 99 is not price 100 × ratio 1', { cost: 99n }],
    ['cost 100 is not price 100 × ratio 0.9', { ratio: '0.9' }],
    ['cost 100 is not price 0 × ratio 1', { basePrice: 0n }],
    ['cost 100 is not price 100 × ratio 1e0', { ratio: '1e0' }],
    ['cost 100 is not price 100 × ratio 99999', { ratio: '99999' }],
    ['cost 100 is not price 100 × ratio 1111111111111111', { ratio: '1'.repeat(17) }],
    ['cost 100 is not price 100 × ratio 1', { ratio: '1\0' }],
    ['seq out of bounds', { seq: 0 }],
    ['seq out of bounds', { seq: 1.5 }],
    ['seq out of bounds', { seq: 2 ** 53 }],
    ['id out of bounds', { requestId: '' }],
    ['id out of bounds', { requestId: 'x'.repeat(129) }],
    ['id out of bounds', { keyId: 'x'.repeat(129) }],
    ['id out of bounds', { poolId: '' }],
    ['id out of bounds', { routeId: 'x'.repeat(129) }],
    ['id out of bounds', { leaseId: 'x'.repeat(129) }],
    ['id out of bounds', { journalId: '' }],
    ['id is not valid text', { requestId: 'a\0b' }],
    ['id is not valid text', { leaseId: 'a\ud800' }],
    ['text out of bounds', { modelName: 'x'.repeat(257) }],
    ['text out of bounds', { errorCode: 'x'.repeat(129) }],
    ['unknown wallet', { walletId: 'w9' }],
    ['journal of another node', { journalId: 'j2' }],
    ['unknown lease, or closed long ago', { leaseId: 'l9' }],
    ['lease of another wallet', { walletId: 'w2', keyId: 'k2' }],
    ['key of another wallet', { walletId: 'w2' }],
    ['key of another wallet', { keyId: 'k2' }],
  ])('is refused with the reason: %s (case %#)', (reason, more) => {
    expect(refusal(usage(more))).toContain(reason);
  });

  test('is settled with an unknown key, because its lease says who pays', () => {
    expect(refusal(usage({ keyId: 'k9' }))).toBe(undefined);
  });

  test('is refused if it is free and its key belongs to another wallet', () => {
    expect(refusal(free({ keyId: 'k2' }))).toBe('key of another wallet');
  });

  test('is refused with a negative cost, or with a position but no cost', () => {
    expect(refusal(free({ cost: -1n }), known())).toBe('amount out of bounds');
    expect(refusal(free({ seq: 1 }), known())).toContain('needs journal');
  });

  test('can be settled with texts of the maximum length', () => {
    const long = { modelName: 'x'.repeat(256), errorCode: 'x'.repeat(128), keyId: 'x'.repeat(128) };
    expect(refusal(free(long), known())).toBe(undefined);
  });

  test('is refused if its lease belongs to another journal or key', () => {
    expect(refusal(usage(), known({ journalId: 'j2' }))).toBe('lease of another journal');
    expect(refusal(usage(), known({ keyId: 'k2' }))).toBe('lease of another key');
  });

  test('is a charge if it has a cost and a position', () => {
    expect(chargeOf(usage())).toEqual({ ...charge(1), requestId: 'r1' });
    for (const more of [{ cost: 0n }, { journalId: null }, { seq: null }, { leaseId: null }])
      expect(chargeOf(usage(more))).toBe(undefined);
  });

  test('keeps the part of its metadata that the database can store', () => {
    expect(['swift', 'sw\0ift', 'a\ud800b'].map(storableText)).toEqual(['swift', 'swift', 'a\ufffdb']);
    expect(
      [-1, 0, 1.6, 200, 32_768, Number.NaN, Infinity].map((value) => storableCount(value, 32_767)),
    ).toEqual([0, 0, 2, 200, 32_767, 0, 32_767]);
    const times = [0, 1_795_000_000_000, -1, Date.UTC(10_000, 0, 1) - 1, Date.UTC(10_000, 0, 1), Number.NaN];
    expect(times.map((at) => storableTime(new Date(at)).toISOString())).toEqual([
      '1970-01-01T00:00:00.000Z',
      new Date(1_795_000_000_000).toISOString(),
      '1970-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.000Z',
    ]);
  });

  test('keeps its IP address only if the database can store it', () => {
    const addresses = ['192.0.2.7', '2001:db8::1', 'fe80::1%eth0', 'somewhere', '', null];
    expect(addresses.map(storableIp)).toEqual(['192.0.2.7', '2001:db8::1', null, null, null, null]);
  });
});

describe('positions of charges', () => {
  const at = (journalId: string, ...seqs: number[]) => seqs.map((seq) => ({ journalId, seq }));

  test('are one run for each journal without gaps, in any order and repeated', () => {
    expect(runsOf([...at('a', 3, 1, 2, 2), ...at('b', 9)])).toEqual([
      { journalId: 'a', first: 1, last: 3 },
      { journalId: 'b', first: 9, last: 9 },
    ]);
  });

  test('make a run for each gap, so that a run never contains another position', () => {
    expect(runsOf(at('a', 2, 1, 5, 2 ** 52))).toEqual([
      { journalId: 'a', first: 1, last: 2 },
      { journalId: 'a', first: 5, last: 5 },
      { journalId: 'a', first: 2 ** 52, last: 2 ** 52 },
    ]);
    expect(runsOf([])).toEqual([]);
  });
});
