/** Tests passkeys over the API with a software authenticator. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { SoftwarePasskey } from '../../test/control/authenticator.ts';
import type { CredentialOptions, Deviation } from '../../test/control/authenticator.ts';
import { query, sql } from '../database/sql.ts';
import { relyingPartyOf } from './passkey.challenge.ts';

const ERRORS = 'userErrors { code message }';
const REGISTER_OPTIONS = 'mutation { passkeyRegisterOptions { options expiresAt } }';
const SIGN_IN_OPTIONS = 'mutation { passkeySignInOptions { options } }';
const PROOF_OPTIONS = 'mutation { passkeyProofOptions { options } }';
const ADD = `mutation ($input: PasskeyRegisterInput!) { passkeyRegister(input: $input) {
    viewer { securityFactors { passkeys { id name lastUsedAt } } } ${ERRORS} } }`;
const SIGN_IN = `mutation ($input: PasskeySignInInput!) { passkeySignIn(input: $input) {
    viewer { email } session { id } ${ERRORS} } }`;
const PROVE = `mutation ($input: ReauthenticateInput!) { reauthenticate(input: $input) {
    validUntil ${ERRORS} } }`;
const LIST = '{ viewer { securityFactors { passkeys { id name lastUsedAt } } } }';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());
beforeEach(() => query(test.orm.em.fork(), sql`delete from attempt_window`));

const optionsOf = (answer: Answer, mutation: string) => pick<CredentialOptions>(answer, mutation, 'options');

/** Adds a passkey to the browser's account; `deviation` makes the response invalid. */
async function add(browser: Browser, passkey: SoftwarePasskey, deviation: Deviation = {}): Promise<Answer> {
  const options = optionsOf(await browser.send(REGISTER_OPTIONS), 'passkeyRegisterOptions');
  const credential = passkey.create(options, test.settings.consoleUrl, deviation);
  return browser.send(ADD, { input: { credential, name: ' Laptop ' } });
}

/** Signs a new browser in by a passkey; `deviation` makes the response invalid. */
async function enter(passkey: SoftwarePasskey, deviation: Deviation = {}): Promise<[Answer, Browser]> {
  const browser = test.browser();
  const options = optionsOf(await browser.send(SIGN_IN_OPTIONS), 'passkeySignInOptions');
  const credential = passkey.get(options, test.settings.consoleUrl, deviation);
  return [await browser.send(SIGN_IN, { input: { credential } }), browser];
}

async function member(email: string): Promise<[Browser, SoftwarePasskey]> {
  const browser = await test.user(email);
  const passkey = new SoftwarePasskey();
  expect(codesOf(await add(browser, passkey), 'passkeyRegister')).toEqual([]);
  return [browser, passkey];
}

describe('a passkey', () => {
  it('signs in without an e-mail address, and shows when it was last used', async () => {
    const [owner, passkey] = await member('ann@example.com');
    const [answer, browser] = await enter(passkey);
    expect(pick(answer, 'passkeySignIn', 'viewer', 'email')).toBe('ann@example.com');
    expect(pick(await browser.send(LIST), 'viewer', 'securityFactors', 'passkeys')).toMatchObject([
      { name: 'Laptop', lastUsedAt: expect.any(String) },
    ]);
    expect(pick(await owner.send(LIST), 'viewer', 'securityFactors', 'passkeys')).toHaveLength(1);
  });

  it('replaces password and second factor', async () => {
    const [owner, passkey] = await member('bea@example.com');
    await query(
      test.orm.em.fork(),
      sql`insert into totp_factor (user_id, sealed_secret, confirmed_at)
      select id, 'x', now() from users where email = 'bea@example.com'`,
    );
    const [answer] = await enter(passkey);
    expect(codesOf(answer, 'passkeySignIn')).toEqual([]);
    expect(owner.cookie).not.toBeNull();
  });

  it('must be discoverable and verify its user', async () => {
    const browser = await test.user('cem@example.com');
    const creation = optionsOf(await browser.send(REGISTER_OPTIONS), 'passkeyRegisterOptions');
    expect(creation).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const request = optionsOf(await browser.send(SIGN_IN_OPTIONS), 'passkeySignInOptions');
    expect(request).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] });
  });

  it.each<[string, Deviation]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['without user verification', { verified: false }],
    ['for an unknown challenge', { challenge: Buffer.from('made up').toString('base64url') }],
  ])('is refused with a response %s, when it is added and at sign-in', async (name, deviation) => {
    const email = `${name.replaceAll(' ', '-')}@example.com`;
    const browser = await test.user(email);
    const refused = await add(browser, new SoftwarePasskey(), deviation);
    expect(codesOf(refused, 'passkeyRegister')).toEqual(['CREDENTIALS_INVALID']);
    const passkey = new SoftwarePasskey();
    await add(browser, passkey);
    const [answer, visitor] = await enter(passkey, deviation);
    expect(codesOf(answer, 'passkeySignIn')).toEqual(['CREDENTIALS_INVALID']);
    expect(visitor.cookie).toBeNull();
  });

  it('gets the same error if it is unknown, of another user, or of a suspended account', async () => {
    const [, passkey] = await member('dan@example.com');
    const [unknown] = await enter(new SoftwarePasskey());
    const [stolen] = await enter(passkey, { userHandle: Buffer.from('usr_other').toString('base64url') });
    await query(
      test.orm.em.fork(),
      sql`update users set state = 'SUSPENDED' where email = 'dan@example.com'`,
    );
    const [suspended] = await enter(passkey);
    for (const answer of [unknown, stolen, suspended])
      expect(answer.data).toEqual({
        passkeySignIn: {
          viewer: null,
          session: null,
          userErrors: [{ code: 'CREDENTIALS_INVALID', message: expect.any(String) }],
        },
      });
    expect(stolen.data).toEqual(unknown.data);
    expect(suspended.data).toEqual(unknown.data);
  });

  it('can use a challenge once, for its purpose, until it expires', async () => {
    const [owner, passkey] = await member('eli@example.com');
    const browser = test.browser();
    const origin = test.settings.consoleUrl;
    const options = optionsOf(await browser.send(SIGN_IN_OPTIONS), 'passkeySignInOptions');
    const input = { credential: passkey.get(options, origin) };
    expect(
      codesOf(await owner.send(PROVE, { input: { passkey: input.credential } }), 'reauthenticate'),
    ).toEqual(['CREDENTIALS_INVALID']);
    const both = await Promise.all([
      browser.send(SIGN_IN, { input }),
      test.browser().send(SIGN_IN, { input }),
    ]);
    expect(both.filter((answer) => codesOf(answer, 'passkeySignIn').length === 0)).toHaveLength(1);
    const late = optionsOf(await browser.send(SIGN_IN_OPTIONS), 'passkeySignInOptions');
    await query(test.orm.em.fork(), sql`update passkey_challenge set expires_at = now()`);
    const answer = await browser.send(SIGN_IN, { input: { credential: passkey.get(late, origin) } });
    expect(codesOf(answer, 'passkeySignIn')).toEqual(['CREDENTIALS_INVALID']);
  });

  it('re-authenticates the user of its own account only', async () => {
    const [owner, passkey] = await member('flo@example.com');
    const [, others] = await member('gil@example.com');
    const prove = async (used: SoftwarePasskey) => {
      const options = optionsOf(await owner.send(PROOF_OPTIONS), 'passkeyProofOptions');
      return owner.send(PROVE, { input: { passkey: used.get(options, test.settings.consoleUrl) } });
    };
    await query(test.orm.em.fork(), sql`update session set authenticated_at = now() - interval '1 hour'`);
    const stale = await owner.send('mutation { personalDataExport { userErrors { code } } }');
    expect(stale.errors[0]?.extensions.code).toBe('REAUTH_REQUIRED');
    expect(codesOf(await prove(others), 'reauthenticate')).toEqual(['CREDENTIALS_INVALID']);
    expect(pick(await prove(passkey), 'reauthenticate', 'validUntil')).toEqual(expect.any(String));
    const fresh = await owner.send('mutation { personalDataExport { userErrors { code } } }');
    expect(fresh.errors).toEqual([]);
  });

  it('can be renamed and removed by its owner only', async () => {
    const [owner, passkey] = await member('hex@example.com');
    const stranger = await test.user('ivy@example.com');
    const [{ id } = { id: '' }] = pick<{ id: string }[]>(
      await owner.send(LIST),
      'viewer',
      'securityFactors',
      'passkeys',
    );
    const rename = `mutation ($input: PasskeyRenameInput!) { passkeyRename(input: $input) {
      viewer { securityFactors { passkeys { name } } } ${ERRORS} } }`;
    const remove = `mutation ($input: IdInput!) { passkeyDelete(input: $input) { ${ERRORS} } }`;
    const renaming = { input: { id, name: 'Phone' } };
    expect(codesOf(await stranger.send(rename, renaming), 'passkeyRename')).toEqual(['NOT_FOUND']);
    expect(codesOf(await stranger.send(remove, { input: { id } }), 'passkeyDelete')).toEqual(['NOT_FOUND']);
    const renamed = await owner.send(rename, renaming);
    expect(pick(renamed, 'passkeyRename', 'viewer', 'securityFactors', 'passkeys')).toEqual([
      { name: 'Phone' },
    ]);
    expect(codesOf(await owner.send(remove, { input: { id } }), 'passkeyDelete')).toEqual([]);
    const [answer] = await enter(passkey);
    expect(codesOf(answer, 'passkeySignIn')).toEqual(['CREDENTIALS_INVALID']);
  });

  it('cannot be removed if it is the only way to sign in', async () => {
    const [owner] = await member('jim@example.com');
    await query(
      test.orm.em.fork(),
      sql`update users set password_hash = null where email = 'jim@example.com'`,
    );
    const [{ id } = { id: '' }] = pick<{ id: string }[]>(
      await owner.send(LIST),
      'viewer',
      'securityFactors',
      'passkeys',
    );
    const answer = await owner.send(
      `mutation ($input: IdInput!) { passkeyDelete(input: $input) { ${ERRORS} } }`,
      { input: { id } },
    );
    expect(codesOf(answer, 'passkeyDelete')).toEqual(['CONFLICT']);
    expect(pick(await owner.send(LIST), 'viewer', 'securityFactors', 'passkeys')).toHaveLength(1);
  });

  it('is refused with CREDENTIALS_INVALID if the credential is malformed', async () => {
    const owner = await test.user('kit@example.com');
    for (const credential of [{}, [], 'text', 1, { type: 'public-key', id: 'x', rawId: 'x', response: {} }]) {
      const added = await owner.send(ADD, { input: { credential, name: 'x' } });
      expect(codesOf(added, 'passkeyRegister')).toEqual(['CREDENTIALS_INVALID']);
      const entered = await test.browser().send(SIGN_IN, { input: { credential } });
      expect(codesOf(entered, 'passkeySignIn')).toEqual(['CREDENTIALS_INVALID']);
    }
  });
});

describe('relyingPartyOf', () => {
  it.each([
    ['https://console.example.com', { id: 'console.example.com', origin: 'https://console.example.com' }],
    ['http://localhost:4000', { id: 'localhost', origin: 'http://localhost:4000' }],
    ['http://console.example.com', null],
    ['https://192.0.2.1', null],
    ['https://[2001:db8::1]', null],
  ])('returns for the console address %s: %o', (consoleUrl, party) => {
    expect(relyingPartyOf({ consoleUrl })).toEqual(party);
  });
});
