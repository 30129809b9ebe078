import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';

/** What one network may fail to sign in within the window. */
const MOST = 50;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

const attemptFrom = (ip: string) => ({ purpose: 'sign-in' as const, email: null, ip });
const fail = (ip: string) => beginAttempt(money.em(), attemptFrom(ip));

it('failures of one IPv6 network are counted together, and those of the next one are not', async () => {
  for (let at = 0; at < MOST; at += 1) await fail(`2001:db8:1:2:${at.toString(16)}::1`);
  await expect(fail('2001:db8:1:2:ffff::9')).rejects.toThrow(/Too many attempts/);
  await fail('2001:db8:1:3::1');
});

it('an IPv4 address is counted by itself, however it is written', async () => {
  for (let at = 0; at < MOST; at += 1) await fail('198.51.100.1');
  await expect(fail('::ffff:198.51.100.1')).rejects.toThrow(/Too many attempts/);
  await fail('198.51.100.2');
});

it('a success from another address of the network takes its own count back', async () => {
  for (let at = 0; at < MOST; at += 1) await fail('2001:db8:9::1');
  await attemptSucceeded(money.em(), attemptFrom('2001:db8:9::2'));
  await fail('2001:db8:9::3');
  await expect(fail('2001:db8:9::4')).rejects.toThrow(/Too many attempts/);
});
