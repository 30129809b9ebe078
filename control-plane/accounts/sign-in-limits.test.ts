/** Tests that wrong passwords of strangers lock out strangers alone, and that hashes are bounded. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, POLICY, REGISTER, SIGN_IN, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { ATTEMPT_WINDOW_MS, ATTEMPTS, HASHES, HASHES_AT_ONCE, STRANGER_HASH_MS } from '../limits.ts';
import type { Claimant } from '../request/shares.ts';
import { HashQueue } from './hash-queue.ts';

const PASSWORD = 'a long enough password';
const OWNER = 'ann@example.com';
const PROVE = `mutation ($input: ReauthenticateInput!) { reauthenticate(input: $input) {
    validUntil userErrors { code message field } } }`;
const CHANGE = `mutation ($input: PasswordChangeInput!) { passwordChange(input: $input) {
    viewer { id } userErrors { code message field } } }`;
const FAILURES = ATTEMPTS['sign-in'].account;

let test: TestApp;
let owner: Browser;
beforeAll(async () => {
  // Every request names its network in x-forwarded-for.
  test = await startTestApp({ env: { TRUST_PROXY: '127.0.0.1' } });
  owner = await test.user(OWNER);
});
afterAll(() => test.close());
beforeEach(() => query(test.orm.em.fork(), sql`delete from attempt_window`));

const from = (ip: string) => ({ 'x-forwarded-for': ip });
const outcomeOf = (answer: Answer, mutation: string): string =>
  answer.errors[0]?.extensions.code ?? codesOf(answer, mutation)[0] ?? 'OK';

/** The outcome of a sign-in as the owner, and how long the caller must wait, in ms. */
async function signIn(browser: Browser, ip: string, password: string) {
  const answer = await browser.send(SIGN_IN, { input: { email: OWNER, password } }, from(ip));
  const waitMs = Number(answer.errors[0]?.extensions['retryAfterMs'] ?? 0);
  return { outcome: outcomeOf(answer, 'signIn'), waitMs };
}

/** Wrong passwords from many networks until the account is locked for strangers. Returns the pause in ms. */
async function lockOut(): Promise<number> {
  for (let at = 0; at < FAILURES; at += 1)
    expect((await signIn(test.browser(), `198.51.100.${at}`, 'wrong')).outcome).toBe('CREDENTIALS_INVALID');
  const { outcome, waitMs } = await signIn(test.browser(), '198.51.100.200', 'wrong');
  expect(outcome).toBe('RATE_LIMITED');
  return waitMs;
}

describe('wrong passwords of strangers', () => {
  it('lock out other strangers, but no open session, known device or known network', async () => {
    const known = test.browser();
    expect((await signIn(known, '192.0.2.1', PASSWORD)).outcome).toBe('OK');
    await lockOut();
    expect((await signIn(test.browser(), '203.0.113.1', PASSWORD)).outcome).toBe('RATE_LIMITED');
    expect((await signIn(test.browser(), '192.0.2.1', PASSWORD)).outcome).toBe('OK');
    expect((await signIn(known, '203.0.113.2', PASSWORD)).outcome).toBe('OK');
    const wrong = { input: { password: 'wrong' } };
    expect(outcomeOf(await owner.send(PROVE, wrong, from('203.0.113.3')), 'reauthenticate')).toBe(
      'CREDENTIALS_INVALID',
    );
    const right = { input: { password: PASSWORD } };
    expect(outcomeOf(await owner.send(PROVE, right, from('203.0.113.3')), 'reauthenticate')).toBe('OK');
    const change = {
      input: { currentPassword: PASSWORD, newPassword: PASSWORD, revokeOtherSessions: false },
    };
    expect(outcomeOf(await owner.send(CHANGE, change, from('203.0.113.3')), 'passwordChange')).toBe('OK');
  });

  it('lock out their own network alone if it is known, and no known device in it', async () => {
    const known = test.browser();
    expect((await signIn(known, '192.0.2.7', PASSWORD)).outcome).toBe('OK');
    for (let at = 0; at < FAILURES; at += 1) await signIn(test.browser(), '192.0.2.7', 'wrong');
    expect((await signIn(test.browser(), '192.0.2.7', PASSWORD)).outcome).toBe('RATE_LIMITED');
    expect((await signIn(known, '192.0.2.7', PASSWORD)).outcome).toBe('OK');
    expect((await signIn(test.browser(), '203.0.113.9', PASSWORD)).outcome).toBe('OK');
  });

  it('lock out strangers for longer each time', async () => {
    const expire = () =>
      query(
        test.orm.em.fork(),
        sql`update attempt_window set started_at = started_at -
        8 * ${ATTEMPT_WINDOW_MS}::double precision * interval '1 millisecond'`,
      );
    const first = await lockOut();
    await expire();
    const second = await lockOut();
    await expire();
    const third = await lockOut();
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
  });
});

describe('wrong passwords in a session', () => {
  it('are bounded for that session alone', async () => {
    const prove = (password: string) => ({ input: { password } });
    await expectOwnLimit('reauthenticate', [PROVE, prove]);
  });

  it('are bounded for that session alone when it changes the password', async () => {
    const change = (currentPassword: string) => ({
      input: { currentPassword, newPassword: PASSWORD, revokeOtherSessions: false },
    });
    await expectOwnLimit('passwordChange', [CHANGE, change]);
  });

  /** One session uses up its attempts, and another one of the same account still has its own. */
  async function expectOwnLimit(
    mutation: string,
    [text, variablesOf]: [string, (password: string) => Record<string, unknown>],
  ): Promise<void> {
    const [one, other] = [test.browser(), test.browser()];
    for (const browser of [one, other]) await signIn(browser, '192.0.2.1', PASSWORD);
    const prove = async (browser: Browser, password: string) =>
      outcomeOf(await browser.send(text, variablesOf(password), from('192.0.2.1')), mutation);
    for (let at = 0; at < ATTEMPTS.reauthenticate.account; at += 1)
      expect(await prove(one, 'wrong')).toBe('CREDENTIALS_INVALID');
    expect(await prove(one, PASSWORD)).toBe('RATE_LIMITED');
    expect(await prove(other, PASSWORD)).toBe('OK');
  }
});

describe('registrations without mail', () => {
  it('reveal for only a few addresses per network whether they have an account', async () => {
    const input = { email: OWNER, password: PASSWORD, acceptPolicyVersion: POLICY };
    const attempt = async (ip: string) =>
      outcomeOf(await test.browser().send(REGISTER, { input }, from(ip)), 'register');
    for (let at = 0; at < ATTEMPTS.taken.network; at += 1)
      expect(await attempt('203.0.113.30')).toBe('TAKEN');
    expect(await attempt('203.0.113.30')).toBe('RATE_LIMITED');
    expect(await attempt('203.0.113.31')).toBe('TAKEN');
  });
});

describe('password hashes', () => {
  const stranger = (name: string): Claimant => ({ rank: 'anonymous', name });

  /** Work that ends when the test says so. */
  function manual(): { work: (who: string) => Promise<void>; started: string[]; end: () => void } {
    const started: string[] = [];
    const ends: (() => void)[] = [];
    return {
      started,
      work: (who) => {
        started.push(who);
        return new Promise((resolve) => {
          ends.push(() => resolve());
        });
      },
      end: () => ends.shift()?.(),
    };
  }

  it('are computed a few at once, those of signed-in users first', async () => {
    const queue = new HashQueue();
    const { work, started, end } = manual();
    const strangers = Array.from({ length: HASHES_AT_ONCE + 1 }, (_, at) =>
      queue.run(() => work('stranger'), stranger(`network ${at}`)),
    );
    const user = queue.run(() => work('user'), { rank: 'user', name: 'ann' });
    await expect.poll(() => started.length).toBe(HASHES_AT_ONCE);
    end();
    await expect.poll(() => started[HASHES_AT_ONCE]).toBe('user');
    for (let at = 0; at <= HASHES_AT_ONCE; at += 1) end();
    await user;
    await expect.poll(() => started.length).toBe(strangers.length + 1);
    end();
    await Promise.all(strangers);
  });

  it('of strangers wait when they took their share of a core, and those of users do not', async () => {
    let now = 0;
    const queue = new HashQueue(() => now);
    const long = { ms: STRANGER_HASH_MS.atOnce + STRANGER_HASH_MS.perSecond / 20 };
    await queue.run(async () => void (now += long.ms), stranger('one'));
    const started: string[] = [];
    const next = queue.run(async () => started.push('stranger'), stranger('another'));
    await queue.run(async () => started.push('user'), { rank: 'user', name: 'ann' });
    expect(started).toEqual(['user']);
    now += 51;
    await next;
    expect(started).toEqual(['user', 'stranger']);
  });

  it('of networks take turns, however many one of them sent before', async () => {
    const queue = new HashQueue();
    const { work, started, end } = manual();
    const names = [...Array.from({ length: HASHES_AT_ONCE + 4 }, () => 'flood'), 'other'];
    const all = names.map((name) => queue.run(() => work(name), stranger(name)));
    for (let at = 0; at < names.length; at += 1) {
      await expect.poll(() => started.length).toBeGreaterThan(at);
      end();
    }
    await Promise.all(all);
    expect(started.indexOf('other')).toBeLessThanOrEqual(HASHES_AT_ONCE + 1);
  });

  it('are bounded per network and for all strangers, and leave places for signed-in users', async () => {
    const queue = new HashQueue();
    const { work, started, end } = manual();
    const running: Promise<unknown>[] = [];
    const run = (claimant: Claimant) => {
      const hash = queue.run(() => work(claimant.name), claimant);
      running.push(hash.catch(() => undefined));
      return hash;
    };
    for (let at = 0; at < HASHES.anonymous.perCaller; at += 1) void run(stranger('one'));
    await expect(run(stranger('one'))).rejects.toThrow(/Too many sign-ins/);
    for (let at = HASHES.anonymous.perCaller; at < HASHES.anonymous.upTo; at += 1)
      void run(stranger(`network ${at}`));
    await expect(run(stranger('another'))).rejects.toThrow(/Too many sign-ins/);
    void run({ rank: 'user', name: 'ann' });
    const total = HASHES.anonymous.upTo + 1;
    for (let at = 1; at <= total; at += 1) {
      await expect.poll(() => started.length).toBeGreaterThanOrEqual(at);
      end();
    }
    await Promise.all(running);
  });
});
