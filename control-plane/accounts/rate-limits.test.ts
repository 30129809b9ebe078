/** Tests that rate limits count networks, not single IPv6 addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';

/** Failed sign-ins that one network may make within the window. */
const FAILURES_MAX = 50;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

const signInFrom = (ip: string) => ({ purpose: 'sign-in' as const, email: null, ip });
const fail = (ip: string) => countAction(money.em(), signInFrom(ip));

describe('the rate limit of a network', () => {
  it('counts all addresses of one IPv6 network together, and each network separately', async () => {
    for (let at = 0; at < FAILURES_MAX; at += 1) await fail(`2001:db8:1:2:${at.toString(16)}::1`);
    await expect(fail('2001:db8:1:2:ffff::9')).rejects.toThrow(/Too many attempts/);
    await fail('2001:db8:1:3::1');
  });

  it('counts each IPv4 address by itself, also when written as an IPv6 address', async () => {
    for (let at = 0; at < FAILURES_MAX; at += 1) await fail('198.51.100.1');
    await expect(fail('::ffff:198.51.100.1')).rejects.toThrow(/Too many attempts/);
    await fail('198.51.100.2');
  });

  it('is lowered by one for a success from any address of the network', async () => {
    for (let at = 0; at < FAILURES_MAX; at += 1) await fail('2001:db8:9::1');
    await clearAfterSuccess(money.em(), signInFrom('2001:db8:9::2'));
    await fail('2001:db8:9::3');
    await expect(fail('2001:db8:9::4')).rejects.toThrow(/Too many attempts/);
  });
});
