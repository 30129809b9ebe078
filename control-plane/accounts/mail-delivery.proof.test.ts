/** Tests the mails about accounts, from the request to the mailbox, and what their links do. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN, codesOf, pick, POLICY, REGISTER, SIGN_IN, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { startMailbox } from '../../test/control/mailbox.ts';
import type { Mailbox, Received } from '../../test/control/mailbox.ts';
import { requested } from '../../test/quick-argon2.ts';
import { startMailer } from '../mail/mailer.ts';
import { query, sql } from '../database/sql.ts';
import { composeLinkMails } from './link-mails.ts';
import { recordSignInPlace } from './notices.ts';
import { createAccount } from './registration.service.ts';
import { UserSchema } from './account.entity.ts';

const PASSWORD = 'several quite usual words';
const NEW_PASSWORD = 'other quite usual words';
const ERRORS = 'userErrors { code message field }';
const VERIFY = `mutation ($input: TokenInput!) { emailVerify(input: $input) { viewer { email } ${ERRORS} } }`;
const REQUEST = `mutation ($input: EmailInput!) { passwordResetRequest(input: $input) { ok ${ERRORS} } }`;
const RESET = `mutation ($input: PasswordResetInput!) { passwordReset(input: $input) {
    viewer { email } secondFactorRequired ${ERRORS} } }`;
const CHANGE = `mutation ($input: EmailInput!) { emailChangeRequest(input: $input) { ok ${ERRORS} } }`;
const VIEWER = '{ viewer { email emailVerifiedAt policyAcceptances { ip version { version } } } }';

let mailbox: Mailbox;
let test: TestApp;
let post: ReturnType<typeof startMailer>;
beforeAll(async () => {
  mailbox = await startMailbox();
  test = await startTestApp({ env: { SMTP_URL: mailbox.url } });
  post = startMailer({ orm: test.orm, settings: test.settings, compose: composeLinkMails(test.settings) });
});
afterAll(async () => {
  await post.stop();
  await test.close();
  await mailbox.close();
});
beforeEach(async () => {
  await query(em(), sql`delete from attempt_window`);
  await mails();
  mailbox.mails.length = 0;
});

const em = () => test.orm.em.fork();
const tokenIn = (mail: Received | undefined): string => /#(gwl_\w+)/.exec(mail?.text ?? '')?.[1] ?? '';

/** Sends all queued mail and returns what has arrived. */
async function mails(): Promise<Received[]> {
  while (
    Number((await query<{ n: number }>(em(), sql`select count(*)::integer as n from mail_outbox`))[0]?.n)
  )
    await post.sendDue();
  return mailbox.mails;
}

function register(email: string, more: object = {}, browser = test.browser()) {
  return browser.send(REGISTER, {
    input: { email, password: PASSWORD, acceptPolicyVersion: POLICY, ...more },
  });
}

/** Registers an account by its mailed link and returns the signed-in browser. */
async function member(email: string): Promise<Browser> {
  const browser = test.browser();
  await register(email, {}, browser);
  const token = tokenIn((await mails()).findLast(({ to }) => to === email));
  expect(codesOf(await browser.send(VERIFY, { input: { token } }), 'emailVerify')).toEqual([]);
  mailbox.mails.length = 0;
  return browser;
}

describe('registration with mail', () => {
  it('creates the account when the link is opened, and signs in the browser that registered', async () => {
    const browser = test.browser();
    const answer = await register('ann@example.com', { locale: 'zh-CN' }, browser);
    expect(answer.data?.['register']).toMatchObject({ viewer: null, userErrors: [] });
    expect(browser.cookie).toBeNull();
    const early = await browser.send(SIGN_IN, { input: { email: 'ann@example.com', password: PASSWORD } });
    expect(codesOf(early, 'signIn')).toEqual(['CREDENTIALS_INVALID']);
    const [mail] = await mails();
    expect(mail).toMatchObject({ to: 'ann@example.com', subject: '确认您的邮箱地址' });
    expect(mail?.text).toContain(`${test.settings.consoleUrl}/verify#`);
    const token = tokenIn(mail);
    const verified = await browser.send(VERIFY, { input: { token } });
    expect(pick(verified, 'emailVerify', 'viewer', 'email')).toBe('ann@example.com');
    expect(pick(await browser.send(VIEWER), 'viewer')).toMatchObject({
      emailVerifiedAt: expect.any(String),
      policyAcceptances: [{ ip: '127.0.0.1', version: { version: POLICY } }],
    });
    const again = await test.browser().send(VERIFY, { input: { token } });
    expect(codesOf(again, 'emailVerify')).toEqual(['CREDENTIALS_INVALID']);
  });

  it('does not sign in another browser that opens the link', async () => {
    await register('bob@example.com');
    const other = test.browser();
    const answer = await other.send(VERIFY, { input: { token: tokenIn((await mails())[0]) } });
    expect(answer.data?.['emailVerify']).toEqual({ viewer: null, userErrors: [] });
    expect(other.cookie).toBeNull();
    const signedIn = await other.send(SIGN_IN, { input: { email: 'bob@example.com', password: PASSWORD } });
    expect(codesOf(signedIn, 'signIn')).toEqual([]);
  });

  it('gives the same response and does the same work for known and unknown addresses', async () => {
    await member('carl@example.com');
    const seen = [];
    await query(em(), sql`delete from attempt_window`);
    for (const email of ['carl@example.com', 'nobody@example.com']) {
      const before = requested.length;
      const answer = await register(email);
      const rows = await query<{ table: string; n: number }>(
        em(),
        sql`select 'outbox' as table, count(*)::integer as n from mail_outbox union all
          select 'pending', count(*)::integer from pending_registration where email = ${email} union all
          select 'attempts', count(*)::integer from attempt_window`,
      );
      const cookies = answer.headers.getSetCookie().map((line) => line.replace(/gwb_\w+|Expires=[^;]*/g, ''));
      seen.push({ data: answer.data, cookies, hashes: requested.length - before, rows });
      await mails();
      await query(em(), sql`delete from attempt_window`);
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.hashes).toBe(1);
    const [known, unknown] = mailbox.mails;
    expect(known?.subject).toBe('You already have an account');
    expect(tokenIn(known)).toBe('');
    expect(tokenIn(unknown)).not.toBe('');
  });

  it('does not reserve an address, and the first link that is opened creates the account', async () => {
    await register('dora@example.com', { password: 'the password of a thief' });
    await register('dora@example.com');
    const [thiefs, doras] = (await mails()).map(tokenIn);
    await test.browser().send(VERIFY, { input: { token: doras } });
    const late = await test.browser().send(VERIFY, { input: { token: thiefs } });
    expect(codesOf(late, 'emailVerify')).toEqual(['CREDENTIALS_INVALID']);
    const signedIn = await test
      .browser()
      .send(SIGN_IN, { input: { email: 'dora@example.com', password: PASSWORD } });
    expect(codesOf(signedIn, 'signIn')).toEqual([]);
  });

  it('sends at most five mails to an address in 15 minutes, for all purposes together', async () => {
    const codes = [];
    for (let at = 0; at < 3; at += 1) {
      codes.push((await register('eve@example.com')).errors[0]?.extensions.code);
      const reset = await test.browser().send(REQUEST, { input: { email: 'eve@example.com' } });
      codes.push(reset.errors[0]?.extensions.code);
    }
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(1);
    expect(codes.at(-1)).toBe('RATE_LIMITED');
  });
});

describe('a password reset by mail', () => {
  it('ends all sessions, works once, and notifies the owner', async () => {
    const owner = await member('fay@example.com');
    await test.browser().send(REQUEST, { input: { email: 'fay@example.com' } });
    const token = tokenIn((await mails())[0]);
    const input = { token, newPassword: NEW_PASSWORD };
    const browser = test.browser();
    expect(pick(await browser.send(RESET, { input }), 'passwordReset', 'viewer', 'email')).toBe(
      'fay@example.com',
    );
    expect(codesOf(await browser.send(RESET, { input }), 'passwordReset')).toEqual(['CREDENTIALS_INVALID']);
    expect((await owner.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    expect((await mails()).map(({ subject }) => subject)).toContain('Your password was reset');
  });

  it('gives the same response and does the same work for known and unknown addresses', async () => {
    await member('gus@example.com');
    const seen = [];
    for (const email of ['gus@example.com', 'nobody@example.com']) {
      const { data, headers } = await test.browser().send(REQUEST, { input: { email } });
      const [outbox] = await query<{ n: number; links: number }>(
        em(),
        sql`select count(*)::integer as n, (select count(*)::integer from account_link
          where used_at is null and purpose = 'RESET') as links from mail_outbox`,
      );
      seen.push({ data, cookies: headers.getSetCookie(), outbox });
      await mails();
      await query(em(), sql`delete from account_link`);
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(mailbox.mails.map(({ to }) => to)).toEqual(['gus@example.com']);
  });

  it('accepts only the newest link, for one hour, and not as a claim link', async () => {
    await member('hal@example.com');
    for (let at = 0; at < 2; at += 1) {
      await test.browser().send(REQUEST, { input: { email: 'hal@example.com' } });
      await mails();
    }
    const [older = '', newer = ''] = mailbox.mails.map(tokenIn);
    const reset = async (token: string) =>
      codesOf(
        await test.browser().send(RESET, { input: { token, newPassword: NEW_PASSWORD } }),
        'passwordReset',
      );
    expect(await reset(older)).toEqual(['CREDENTIALS_INVALID']);
    const claim = await test
      .browser()
      .send(`mutation ($input: AdminClaimInput!) { adminClaim(input: $input) { ${ERRORS} } }`, {
        input: { token: newer, email: 'x@example.com', password: PASSWORD, acceptPolicyVersion: POLICY },
      });
    expect(codesOf(claim, 'adminClaim')).toEqual(['CREDENTIALS_INVALID']);
    await query(em(), sql`update account_link set expires_at = expires_at - interval '1 hour'`);
    expect(await reset(newer)).toEqual(['CREDENTIALS_INVALID']);
  });

  it('removes all other credentials if the address was never verified before', async () => {
    const admin = test.browser();
    await admin.send(SIGN_IN, { input: ADMIN });
    const token = await admin.send(
      `mutation { accessTokenCreate(input: { name: "x", scopes: [KEYS_READ] }) { secret ${ERRORS} } }`,
    );
    const secret = pick<string>(token, 'accessTokenCreate', 'secret');
    await test.browser().send(REQUEST, { input: { email: ADMIN.email } });
    const link = tokenIn((await mails()).find(({ subject }) => subject === 'Set a new password'));
    await test.browser().send(RESET, { input: { token: link, newPassword: ADMIN.password } });
    const script = await test.browser().send('{ viewer { id } }', {}, { authorization: `Bearer ${secret}` });
    expect(script.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    const found = await em().findOneOrFail(UserSchema, { email: ADMIN.email });
    expect(found.emailVerifiedAt).not.toBeNull();
  });
});

describe('a change of the e-mail address', () => {
  it('takes effect when the link is opened, and notifies the old address', async () => {
    const owner = await member('ida@example.com');
    await owner.send(CHANGE, { input: { email: 'ida@new.example' } });
    expect(pick(await owner.send(VIEWER), 'viewer', 'email')).toBe('ida@example.com');
    const [mail] = await mails();
    expect(mail).toMatchObject({ to: 'ida@new.example', subject: 'Confirm your new e-mail address' });
    const answer = await owner.send(VERIFY, { input: { token: tokenIn(mail) } });
    expect(pick(answer, 'emailVerify', 'viewer', 'email')).toBe('ida@new.example');
    const notice = (await mails()).at(-1);
    expect(notice).toMatchObject({ to: 'ida@example.com', subject: 'Your e-mail address was changed' });
    const old = await test
      .browser()
      .send(SIGN_IN, { input: { email: 'ida@example.com', password: PASSWORD } });
    expect(codesOf(old, 'signIn')).toEqual(['CREDENTIALS_INVALID']);
  });

  it('does not reveal that another account has the address, but notifies that account', async () => {
    const owner = await member('jon@example.com');
    await member('kim@example.com');
    const answer = await owner.send(CHANGE, { input: { email: 'kim@example.com' } });
    expect(answer.data?.['emailChangeRequest']).toEqual({ ok: true, userErrors: [] });
    const [mail] = await mails();
    expect(mail).toMatchObject({ to: 'kim@example.com', subject: 'You already have an account' });
    expect(tokenIn(mail)).toBe('');
  });
});

describe('the verification of an address', () => {
  it('can be requested later, for an account that was created without mail', async () => {
    const admin = test.browser();
    await query(em(), sql`update users set email_verified_at = null where email = ${ADMIN.email}`);
    await admin.send(SIGN_IN, { input: ADMIN });
    const ask = `mutation { emailVerificationRequest { ok ${ERRORS} } }`;
    expect(codesOf(await admin.send(ask), 'emailVerificationRequest')).toEqual([]);
    const link = (await mails()).find(({ subject }) => subject === 'Confirm your e-mail address');
    await admin.send(VERIFY, { input: { token: tokenIn(link) } });
    expect(pick(await admin.send(VIEWER), 'viewer', 'emailVerifiedAt')).toEqual(expect.any(String));
    expect(codesOf(await admin.send(ask), 'emailVerificationRequest')).toEqual(['CONFLICT']);
  });
});

describe('notices about the security of an account', () => {
  it('are sent for a new password, access token or network, in the language of the owner', async () => {
    const owner = await member('lea@example.com');
    await owner.send('mutation { profileUpdate(input: { locale: "zh-CN" }) { userErrors { code } } }');
    await owner.send(
      `mutation ($input: PasswordChangeInput!) { passwordChange(input: $input) { ${ERRORS} } }`,
      { input: { currentPassword: PASSWORD, newPassword: NEW_PASSWORD } },
    );
    await owner.send(
      `mutation { accessTokenCreate(input: { name: "click here", scopes: [KEYS_READ] }) { ${ERRORS} } }`,
    );
    const user = await em().findOneOrFail(UserSchema, { email: 'lea@example.com' });
    for (const ip of ['127.0.0.1', '2001:db8::1', '2001:db8::2']) await recordSignInPlace(em(), user, { ip });
    const sent = await mails();
    expect(sent.map(({ subject }) => subject).toSorted()).toEqual(
      ['您的密码已更改', '已创建访问令牌', '新的登录'].toSorted(),
    );
    expect(sent.find(({ subject }) => subject === '新的登录')?.text).toContain('2001:db8::1');
    expect(JSON.stringify(sent)).not.toMatch(/click here|gqt_/);
  });

  it('tell whether a password change ended the other sessions', async () => {
    const owner = await member('nils@example.com');
    const other = test.browser();
    const signIn = { input: { email: 'nils@example.com', password: PASSWORD } };
    await other.send(SIGN_IN, signIn);
    const isSignedIn = async () => (await other.send(VIEWER)).data?.['viewer'] !== null;
    const change = async (currentPassword: string, newPassword: string, more: object) =>
      codesOf(
        await owner.send(
          `mutation ($input: PasswordChangeInput!) { passwordChange(input: $input) { ${ERRORS} } }`,
          { input: { currentPassword, newPassword, ...more } },
        ),
        'passwordChange',
      );
    expect(await change(PASSWORD, NEW_PASSWORD, { revokeOtherSessions: false })).toEqual([]);
    expect(await isSignedIn()).toBe(true);
    expect((await mails()).at(-1)?.text).toContain('Other sessions stay signed in.');
    expect(await change(NEW_PASSWORD, PASSWORD, {})).toEqual([]);
    expect(await isSignedIn()).toBe(false);
    expect((await mails()).at(-1)?.text).toContain('All other sessions were signed out.');
  });

  it('are not sent for the first sign-in of an account', async () => {
    const account = { email: 'mia@example.com', passwordHash: null, displayName: null, locale: 'en' };
    const user = await createAccount(em(), account);
    await recordSignInPlace(em(), user, { ip: '192.0.2.1' });
    expect(await mails()).toEqual([]);
  });
});

describe('an installation without mail', () => {
  it('says so in signInOptions, and refuses mutations that need mail with CONFLICT', async () => {
    const plain = await startTestApp();
    const options = '{ signInOptions { mail passkeys oidcProviders { id } } }';
    expect(pick(await plain.browser().send(options), 'signInOptions')).toEqual({
      mail: false,
      passkeys: true,
      oidcProviders: [],
    });
    const refused = await plain.browser().send(REQUEST, { input: { email: ADMIN.email } });
    expect(codesOf(refused, 'passwordResetRequest')).toEqual(['CONFLICT']);
    const user = await plain.user('nick@example.com');
    expect(
      codesOf(await user.send(CHANGE, { input: { email: 'n@example.com' } }), 'emailChangeRequest'),
    ).toEqual(['CONFLICT']);
    expect(await query(plain.orm.em.fork(), sql`select from mail_outbox`)).toEqual([]);
    await plain.close();
  });
});
