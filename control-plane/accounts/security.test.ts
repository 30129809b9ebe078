/** Tests access tokens, second factors, re-authentication, profile and closing of accounts over the API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, codesOf, pick, SIGN_IN, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { stepAt, totpCode } from './totp.ts';

const PASSWORD = 'a long enough password';
const ERRORS = 'userErrors { code message field }';
const TOKEN = `mutation ($input: AccessTokenCreateInput!) { accessTokenCreate(input: $input) {
    accessToken { id prefix scopes expiresAt } secret ${ERRORS} } }`;
const PROVE = `mutation ($input: ReauthenticateInput!) { reauthenticate(input: $input) {
    validUntil ${ERRORS} } }`;
const RESET = `mutation ($input: PasswordResetInput!) { passwordReset(input: $input) {
    viewer { id } secondFactorRequired ${ERRORS} } }`;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const codeOf = (answer: Answer) => answer.errors[0]?.extensions.code;

async function tokenOf(browser: Browser, scopes: string[]): Promise<{ id: string; secret: string }> {
  const answer = await browser.send(TOKEN, { input: { name: 'script', scopes, expiresInDays: 7 } });
  expect(codesOf(answer, 'accessTokenCreate')).toEqual([]);
  return {
    id: pick(answer, 'accessTokenCreate', 'accessToken', 'id'),
    secret: pick(answer, 'accessTokenCreate', 'secret'),
  };
}

describe('an access token', () => {
  it('allows what its scopes say and nothing else, until it is revoked', async () => {
    const owner = await test.user('script@example.com');
    const { id, secret } = await tokenOf(owner, ['KEYS_READ']);
    const ask = (source: string) => test.browser().send(source, {}, bearer(secret));
    expect(pick(await ask('{ viewer { email apiKeys { totalCount } } }'), 'viewer', 'email')).toBe(
      'script@example.com',
    );
    const refused = await ask('{ viewer { wallet { balance } } }');
    expect(refused.errors[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', requiredScope: 'WALLET_READ' });
    expect(codeOf(await ask('mutation { signOut { ok } }'))).toBe('FORBIDDEN');
    await owner.send(
      'mutation ($input: IdInput!) { accessTokenRevoke(input: $input) { userErrors { code } } }',
      { input: { id } },
    );
    expect(codeOf(await ask('{ viewer { email } }'))).toBe('UNAUTHENTICATED');
  });

  it('has no ADMIN role without an ADMIN scope, even if its owner is an administrator', async () => {
    const { secret } = await tokenOf(await test.admin(), ['KEYS_READ', 'WALLET_READ']);
    const { data, errors } = await test.browser().send('{ admin { __typename } }', {}, bearer(secret));
    expect([data, errors]).toEqual([{ admin: null }, []]);
  });

  it('loses the ADMIN role when its owner loses it', async () => {
    const admin = await test.admin();
    const second = await test.user('second@example.com');
    const grant = (role: string) =>
      query(test.orm.em.fork(), sql`update users set role = ${role} where email = 'second@example.com'`);
    await grant('ADMIN');
    const { secret } = await tokenOf(second, ['ADMIN_USERS']);
    const users = () => test.browser().send('{ admin { users { totalCount } } }', {}, bearer(secret));
    expect((await users()).data?.['admin']).not.toBeNull();
    await grant('USER');
    expect((await users()).data).toEqual({ admin: null });
    expect(pick(await admin.send('{ admin { users { totalCount } } }'), 'admin', 'users')).toBeDefined();
  });

  it('is stored as a digest, expires within a year, and gets no ADMIN scope from a user', async () => {
    const owner = await test.user('careful@example.com');
    const { secret } = await tokenOf(owner, ['USAGE_READ']);
    const rows = await query<{ row: string }>(
      test.orm.em.fork(),
      sql`select access_token::text as row from access_token`,
    );
    expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
    const wrong = [{ scopes: ['ADMIN_USERS'] }, { expiresInDays: 366 }, { scopes: [] }, { name: ' ' }];
    for (const part of wrong) {
      const input = { name: 'x', scopes: ['KEYS_READ'], expiresInDays: 1, ...part };
      expect(codesOf(await owner.send(TOKEN, { input }), 'accessTokenCreate')).toHaveLength(1);
    }
  });
});

describe('a second factor', () => {
  const signIn = (email: string, more: object = {}) =>
    test
      .browser()
      .send(SIGN_IN.replace('viewer { id }', 'viewer { id } secondFactorRequired'), {
        input: { email, password: PASSWORD, ...more },
      });

  async function enrolled(email: string) {
    const browser = await test.user(email);
    const enrol = await browser.send(`mutation { totpEnrol { secret otpauthUri ${ERRORS} } }`);
    const secret = pick<string>(enrol, 'totpEnrol', 'secret');
    const codeAt = (away: number) => totpCode(secret, stepAt(Date.now()) + away);
    // The current code, not the previous one: the step may end before the code arrives.
    const confirm = await browser.send(
      `mutation ($input: TotpConfirmInput!) { totpConfirm(input: $input) { recoveryCodes ${ERRORS} } }`,
      { input: { code: codeAt(0) } },
    );
    return { browser, codeAt, recoveryCodes: pick<string[]>(confirm, 'totpConfirm', 'recoveryCodes') };
  }

  it('is required after the right password, and each code works once', async () => {
    const { codeAt } = await enrolled('totp@example.com');
    const without = await signIn('totp@example.com');
    expect(pick(without, 'signIn', 'secondFactorRequired')).toBe(true);
    expect(codesOf(without, 'signIn')).toEqual(['TOTP_REQUIRED']);
    expect(codesOf(await signIn('totp@example.com', { totpCode: '000000' }), 'signIn')).toEqual([
      'CREDENTIALS_INVALID',
    ]);
    const totp = codeAt(1);
    expect(codesOf(await signIn('totp@example.com', { totpCode: totp }), 'signIn')).toEqual([]);
    expect(codesOf(await signIn('totp@example.com', { totpCode: totp }), 'signIn')).toEqual([
      'CREDENTIALS_INVALID',
    ]);
  });

  it('accepts each recovery code once, and is disabled after re-authentication', async () => {
    const { browser, recoveryCodes } = await enrolled('codes@example.com');
    expect(new Set(recoveryCodes).size).toBe(10);
    const recoveryCode = recoveryCodes[0]?.toUpperCase();
    expect(codesOf(await signIn('codes@example.com', { recoveryCode }), 'signIn')).toEqual([]);
    expect(codesOf(await signIn('codes@example.com', { recoveryCode }), 'signIn')).toHaveLength(1);
    const disable = `mutation ($input: ReauthenticateInput!) { totpDisable(input: $input) {
      viewer { securityFactors { totpEnabled recoveryCodesLeft } } ${ERRORS} } }`;
    const bare = await browser.send(disable, { input: { password: PASSWORD } });
    expect(codesOf(bare, 'totpDisable')).toEqual(['TOTP_REQUIRED']);
    const input = { password: PASSWORD, recoveryCode: recoveryCodes[1] };
    expect(pick(await browser.send(disable, { input }), 'totpDisable', 'viewer', 'securityFactors')).toEqual({
      totpEnabled: false,
      recoveryCodesLeft: 0,
    });
    expect(codesOf(await signIn('codes@example.com'), 'signIn')).toEqual([]);
  });

  it('is stored encrypted', async () => {
    await enrolled('sealed@example.com');
    const rows = await query<{ sealed_secret: string }>(
      test.orm.em.fork(),
      sql`select sealed_secret from totp_factor`,
    );
    for (const row of rows) expect(row.sealed_secret).toMatch(/^v1\./);
  });
});

describe('an account', () => {
  it('requires re-authentication for sensitive mutations after a while', async () => {
    const owner = await test.user('stale@example.com');
    await query(
      test.orm.em.fork(),
      sql`update session set authenticated_at = now() - interval '1 hour'
      where user_id = (select id from users where email = 'stale@example.com')`,
    );
    const make = () => owner.send(TOKEN, { input: { name: 'x', scopes: ['KEYS_READ'] } });
    expect(codeOf(await make())).toBe('REAUTH_REQUIRED');
    expect(
      codesOf(await owner.send(PROVE, { input: { password: 'wrong password' } }), 'reauthenticate'),
    ).toEqual(['CREDENTIALS_INVALID']);
    expect(codesOf(await owner.send(PROVE, { input: { password: PASSWORD } }), 'reauthenticate')).toEqual([]);
    expect(codesOf(await make(), 'accessTokenCreate')).toEqual([]);
  });

  it('gets a new password once by a link that an administrator created', async () => {
    const owner = await test.user('forgot@example.com');
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const admin = await test.admin();
    const made = await admin.send(
      `mutation ($input: AdminReasonInput!) { adminUserLinkCreate(input: $input) { url ${ERRORS} } }`,
      { input: { id, reason: 'Lost the password.' } },
    );
    const token = pick<string>(made, 'adminUserLinkCreate', 'url').split('#')[1];
    const reset = (newPassword: string) => test.browser().send(RESET, { input: { token, newPassword } });
    expect(codesOf(await reset('short'), 'passwordReset')).toEqual(['PASSWORD_WEAK']);
    expect(codesOf(await reset('another long password'), 'passwordReset')).toEqual([]);
    expect(codesOf(await reset('a third long password'), 'passwordReset')).toEqual(['CREDENTIALS_INVALID']);
    expect((await owner.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    const input = { email: 'forgot@example.com', password: 'another long password' };
    expect(codesOf(await test.browser().send(SIGN_IN, { input }), 'signIn')).toEqual([]);
  });

  it('changes its profile', async () => {
    const owner = await test.user('profile@example.com');
    const change = (input: object) =>
      owner.send(
        `mutation ($input: ProfileUpdateInput!) { profileUpdate(input: $input) { viewer { displayName locale
          timeZone notificationPreferences { poolExpiry paymentReceipts security } } ${ERRORS} } }`,
        { input },
      );
    await change({ displayName: ' Ann ', locale: 'zh-CN', timeZone: 'Europe/Vienna' });
    const answer = await change({ notifications: { poolExpiry: false } });
    expect(pick(answer, 'profileUpdate', 'viewer')).toEqual({
      displayName: 'Ann',
      locale: 'zh-CN',
      timeZone: 'Europe/Vienna',
      notificationPreferences: { poolExpiry: false, paymentReceipts: true, security: true },
    });
    for (const wrong of [{ locale: 'xx' }, { timeZone: 'Moon/Crater' }])
      expect(codesOf(await change(wrong), 'profileUpdate')).toEqual(['INVALID']);
  });

  it('is closed by its owner with all personal data, except the last administrator', async () => {
    const close = `mutation ($input: ReauthenticateInput!) { accountDelete(input: $input) { ok ${ERRORS} } }`;
    const owner = await test.user('leaving@example.com');
    const { secret } = await tokenOf(owner, ['KEYS_READ']);
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const chat = newId('evt');
    await query(
      test.orm.em.fork(),
      sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      values (${chat}, ${id}, 'leaving@', 'm', now(), now())`,
    );
    expect(codesOf(await owner.send(close, { input: {} }), 'accountDelete')).toEqual(['CREDENTIALS_INVALID']);
    expect(pick(await owner.send(close, { input: { password: PASSWORD } }), 'accountDelete', 'ok')).toBe(
      true,
    );
    expect(owner.cookie).toBeNull();
    expect(codeOf(await test.browser().send('{ viewer { id } }', {}, bearer(secret)))).toBe(
      'UNAUTHENTICATED',
    );
    const rows = await query<{ row: string }>(
      test.orm.em.fork(),
      sql`select users::text as row from users union all select session::text from session
      union all select audit_event::text from audit_event
      union all select conversation::text from conversation`,
    );
    expect(rows.filter(({ row }) => row.includes('leaving@'))).toEqual([]);
    expect((await test.user('leaving@example.com')).cookie).not.toBeNull();
    const admin = await test.admin();
    expect(
      codesOf(await admin.send(close, { input: { password: ADMIN.password } }), 'accountDelete'),
    ).toEqual(['CONFLICT']);
  });
});
