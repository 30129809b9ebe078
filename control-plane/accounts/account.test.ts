/** Tests registration, sign-in, sessions and the claim of the first administrator over the API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, codesOf, POLICY, REGISTER, SIGN_IN, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { seed } from '../seeds.ts';
import { readSettings } from '../process/settings.ts';
import { query, sql } from '../database/sql.ts';
import { mintAdminClaim } from './account.service.ts';

const PASSWORD = 'several quite usual words';
const VIEWER = `{ viewer { id email role allowedGroups mustAcceptPolicy { version }
    policyAcceptances { version { version } ip } } }`;
const CLAIM = `mutation ($input: AdminClaimInput!) { adminClaim(input: $input) {
    viewer { email role } userErrors { code } } }`;

describe('an account', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const register = (email: string, more: object = {}) =>
    test
      .browser()
      .send(REGISTER, { input: { email, password: PASSWORD, acceptPolicyVersion: POLICY, ...more } });

  it('is created by registering, which signs in and records the accepted policy', async () => {
    const browser = test.browser();
    const answer = await browser.send(REGISTER, {
      input: { email: 'Ann@Example.com', password: PASSWORD, acceptPolicyVersion: POLICY },
    });
    expect(answer.data?.['register']?.['userErrors']).toEqual([]);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^session=gws_\w+; Path=\/; HttpOnly; SameSite=Lax; Expires=/,
    );
    const { data } = await browser.send(VIEWER);
    expect(data?.['viewer']).toMatchObject({
      email: 'ann@example.com',
      role: 'USER',
      allowedGroups: ['DEFAULT'],
      mustAcceptPolicy: null,
      policyAcceptances: [{ version: { version: POLICY }, ip: '127.0.0.1' }],
    });
  });

  it('is not created without the current policy, with a weak password, or a second time', async () => {
    const codes = async (email: string, more: object) => codesOf(await register(email, more), 'register');
    expect(await codes('b@example.com', { acceptPolicyVersion: '' })).toEqual(['POLICY_NOT_ACCEPTED']);
    expect(await codes('b@example.com', { acceptPolicyVersion: '0.9' })).toEqual(['POLICY_VERSION_OUTDATED']);
    expect(await codes('b@example.com', { password: 'short' })).toEqual(['PASSWORD_WEAK']);
    expect(await codes('b@example.com', {})).toEqual([]);
    expect(await codes('B@example.com', {})).toEqual(['TAKEN']);
  });

  it('stores neither password nor session token in plain text', async () => {
    const rows = await query<{ row: string }>(
      test.orm.em.fork(),
      sql`
      select users::text as row from users union all select session::text from session`,
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { row } of rows) expect(row).not.toMatch(/several quite|gws_/);
  });

  it('signs in with its password, and fails alike for a wrong password and an unknown account', async () => {
    await register('carl@example.com');
    const browser = test.browser();
    const refuse = async (email: string, password: string) =>
      (await browser.send(SIGN_IN, { input: { email, password } })).data?.['signIn'];
    const wrong = await refuse('carl@example.com', 'something else entirely');
    expect(wrong).toEqual(await refuse('nobody@example.com', 'something else entirely'));
    expect(wrong?.['userErrors']?.['0']?.['code']).toBe('CREDENTIALS_INVALID');
    expect(browser.cookie).toBeNull();
    await browser.send(SIGN_IN, { input: { email: 'carl@example.com', password: PASSWORD } });
    expect((await browser.send('{ viewer { email } }')).data).toEqual({
      viewer: { email: 'carl@example.com' },
    });
    await browser.send('mutation { signOut { ok } }');
    expect((await browser.send('{ viewer { email } }')).data).toEqual({ viewer: null });
  });

  it('refuses even the right password after ten failed sign-ins', async () => {
    await register('dora@example.com');
    const attempts = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        test
          .browser()
          .send(SIGN_IN, { input: { email: 'dora@example.com', password: `guess number ${at} of many` } }),
      ),
    );
    const limited = attempts.filter((answer) => answer.errors[0]?.extensions.code === 'RATE_LIMITED');
    expect(limited).toHaveLength(2);
    const right = await test
      .browser()
      .send(SIGN_IN, { input: { email: 'dora@example.com', password: PASSWORD } });
    expect(right.errors[0]?.extensions).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: expect.any(Number),
    });
  });

  it('lists its sessions and ends all others on request', async () => {
    const first = await test.user('eve@example.com');
    const second = test.browser();
    await second.send(SIGN_IN, { input: { email: 'eve@example.com', password: 'a long enough password' } });
    const sessions = '{ viewer { sessions(first: 5) { totalCount nodes { current ip } } } }';
    expect((await first.send(sessions)).data?.['viewer']?.['sessions']?.['nodes']).toEqual([
      { current: false, ip: '127.0.0.1' },
      { current: true, ip: '127.0.0.1' },
    ]);
    await first.send('mutation { sessionsRevokeOthers { viewer { id } } }');
    expect((await second.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    expect((await first.send(sessions)).data?.['viewer']?.['sessions']?.['totalCount']).toBe(1);
  });

  it('ignores the session cookie in requests from another origin', async () => {
    const browser = await test.user('fred@example.com');
    const foreign = await browser.send('{ viewer { id } }', {}, { origin: 'https://evil.example' });
    expect(foreign.data).toEqual({ viewer: null });
    const simple = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', cookie: browser.cookie ?? '' },
      body: JSON.stringify({ query: 'mutation { signOut { ok } }' }),
    });
    expect(simple.status).toBeGreaterThanOrEqual(400);
    expect((await browser.send('{ viewer { email } }')).data).toEqual({
      viewer: { email: 'fred@example.com' },
    });
  });
});

describe('the first administrator', () => {
  it('is created from the settings', async () => {
    const test = await startTestApp();
    const admin = await test.admin();
    const { data } = await admin.send('{ viewer { role email mustAcceptPolicy { version } } }');
    expect(data?.['viewer']).toEqual({
      role: 'ADMIN',
      email: ADMIN.email,
      mustAcceptPolicy: { version: POLICY },
    });
    expect(await mintAdminClaim(test.orm.em.fork())).toBeNull();
    await test.close();
  });

  it('needs an e-mail address and a strong password in the settings', async () => {
    const test = await startTestApp({ env: { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' } });
    const administrator = { email: 'boss@example.com', password: 'short' };
    await expect(seed(test.orm.em.fork(), { ...test.settings, administrator })).rejects.toThrow(
      /^ADMIN_PASSWORD: Use at least 12 characters/,
    );
    expect(await mintAdminClaim(test.orm.em.fork())).not.toBeNull();
    const given = { DATABASE_URL: 'postgres://db.example/gateway', SECRET_KEY: 'x'.repeat(32) };
    const address = { ADMIN_EMAIL: 'boss@example.com' };
    const password = { ADMIN_PASSWORD: PASSWORD };
    expect(() => readSettings({ ...given, ...address })).toThrow(/Set both or neither/);
    expect(() => readSettings({ ...given, ...password })).toThrow(/Set both or neither/);
    expect(() => readSettings({ ...given, ...password, ADMIN_EMAIL: 'boss' })).toThrow(/e-mail address/);
    await test.close();
  });

  it('is claimed once, by the newest claim link, if the settings name none', async () => {
    const test = await startTestApp({ env: { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' } });
    const older = await mintAdminClaim(test.orm.em.fork());
    const link = await mintAdminClaim(test.orm.em.fork());
    const claim = async (token: string | undefined, email: string | null = 'boss@example.com') => {
      const input = { token, email, password: PASSWORD, acceptPolicyVersion: POLICY };
      return (await test.browser().send(CLAIM, { input })).data?.['adminClaim'];
    };
    expect((await claim(older?.token))?.['userErrors']).toEqual([{ code: 'CREDENTIALS_INVALID' }]);
    expect((await claim(link?.token, null))?.['userErrors']).toEqual([{ code: 'REQUIRED' }]);
    const both = await Promise.all([claim(link?.token), claim(link?.token)]);
    expect(both.filter((answer) => answer?.['viewer'] !== null)).toHaveLength(1);
    expect((await claim(link?.token))?.['userErrors']).toEqual([{ code: 'CREDENTIALS_INVALID' }]);
    expect(await mintAdminClaim(test.orm.em.fork())).toBeNull();
    await test.close();
  });
});
