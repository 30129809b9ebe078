/** Tests that the judgement of an outage finds refusals that a lease could have paid. */
import { describe, expect, test } from 'vitest';
import type { Attempt } from './clients.ts';
import { coverageOf } from './coverage.ts';
import type { GrantedLease, LeaseCharge, Outage } from './coverage.ts';

const PRICE = 30_000n;
const FROM = 100_000;

const attempt = (more: Partial<Attempt>): Attempt => ({
  ...{ keyId: 'key', node: 'node-1', trace: '', idempotencyKey: null, streamed: false, requestId: 'refused' },
  ...{ startedAt: FROM + 10_000, endedAt: FROM + 10_500, status: 503, reason: null },
  ...{ content: false, finished: false, left: false },
  ...more,
});
const lease = (more: Partial<GrantedLease> = {}): GrantedLease => ({
  ...{ id: 'lease', node: 'node-1', walletId: 'wallet', granted: 2n * PRICE },
  ...{ grantedAt: FROM - 9_000, recalledAt: null, endedAt: null },
  ...more,
});
const charge = (requestId: string, at: number): LeaseCharge => ({ requestId, leaseId: 'lease', at });
const outage = (leases: GrantedLease[], charges: LeaseCharge[] = []): Outage => ({
  ...{ price: PRICE, from: FROM, until: FROM + 60_000, leases, charges },
  wallets: new Map([
    ['key', 'wallet'],
    ['other', 'elsewhere'],
  ]),
});
const findingsOf = (attempts: Attempt[], of: Outage): number => coverageOf(attempts, of).findings.length;

describe('a refusal while the control plane is down', () => {
  test('is a finding if the leases of its node and wallet could pay the price', () => {
    const half = outage([lease()], [charge('one', FROM + 1_000)]);
    expect(coverageOf([attempt({})], half)).toMatchObject({
      ...{ refused: 1, mostAtRefusal: PRICE, heldMicros: 2n * PRICE, spentMicros: PRICE },
      findings: ['refused was refused by node-1, whose leases held 30000'],
    });
  });

  test('is correct if the leases were spent, held by other requests, or of another wallet or node', () => {
    const spent = [charge('one', FROM - 1), charge('two', FROM + 9_000)];
    expect(findingsOf([attempt({})], outage([lease()], spent))).toBe(0);
    const under = attempt({ startedAt: FROM + 9_900, endedAt: FROM + 10_100, status: 502, requestId: 'two' });
    expect(findingsOf([attempt({}), under], outage([lease()], spent.slice(0, 1)))).toBe(0);
    expect(findingsOf([attempt({}), { ...under, status: 503 }], outage([lease()], spent.slice(0, 1)))).toBe(
      2,
    );
    expect(findingsOf([attempt({ keyId: 'other' })], outage([lease()]))).toBe(0);
    expect(findingsOf([attempt({ node: 'node-2' })], outage([lease()]))).toBe(0);
  });

  test('is a finding if the lease was unused until a later request', () => {
    const later = [charge('one', FROM - 1), charge('two', FROM + 11_000)];
    expect(findingsOf([attempt({})], outage([lease()], later))).toBe(1);
  });

  test('is correct if the lease was recalled, had ended, or its grant may not have arrived', () => {
    expect(findingsOf([attempt({})], outage([lease({ recalledAt: FROM - 5 })]))).toBe(0);
    expect(findingsOf([attempt({})], outage([lease({ endedAt: FROM - 5 })]))).toBe(0);
    const last = lease({ grantedAt: FROM - 500 });
    expect(coverageOf([attempt({})], outage([last]))).toMatchObject({ undelivered: 1, findings: [] });
    expect(findingsOf([attempt({})], outage([last], [charge('one', FROM + 5)]))).toBe(1);
    expect(findingsOf([attempt({})], outage([lease({ grantedAt: FROM + 90_000 })]))).toBe(0);
  });

  test('is counted separately for Idempotency-Keys and for status 402', () => {
    const seen = [
      attempt({ idempotencyKey: 'k' }),
      attempt({ status: 402 }),
      attempt({ status: 200, finished: true }),
    ];
    expect(coverageOf(seen, outage([lease()]))).toMatchObject({
      ...{ refused: 0, unchecked: 1, guessed: 1, served: 1, findings: [] },
    });
  });
});
