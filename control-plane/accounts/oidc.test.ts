/** Tests sign-in with an identity provider and linked identities, against a local OpenID Connect provider. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, POLICY, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { CLIENT, startOidcProvider } from '../../test/control/oidc-provider.ts';
import type { Person, TestProvider } from '../../test/control/oidc-provider.ts';
import { encryptSecret } from '../upstreams/stored-secrets.ts';
import { query, sql } from '../database/sql.ts';
import { ATTEMPTS } from '../limits.ts';
import { UserSchema } from './account.entity.ts';
import { countAction } from './rate-limits.ts';
import { newTotpSecret, stepAt, totpCode } from './totp.ts';

const ERRORS = 'userErrors { code message field }';
const OIDC_SIGN_IN = `mutation ($input: OidcSignInInput!) { oidcSignIn(input: $input) {
    viewer { email displayName emailVerifiedAt policyAcceptances { version { version } } }
    secondFactorRequired ${ERRORS} } }`;
const LINK = `mutation { identityLinkStart { url ${ERRORS} } }`;
const LIST = '{ viewer { email securityFactors { hasPassword linkedIdentities { id provider email } } } }';

let test: TestApp;
let provider: TestProvider;
beforeAll(async () => {
  provider = await startOidcProvider(() => `${test.settings.consoleUrl}/oidc/callback`);
  test = await startTestApp({
    env: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_LABEL: 'Example Company',
    },
  });
});
afterAll(async () => {
  await test.close();
  await provider.close();
});
beforeEach(() => query(em(), sql`delete from attempt_window`));

const em = () => test.orm.em.fork();
const person = (name: string, more: Partial<Person> = {}): Person => ({
  sub: `subject of ${name}`,
  email: `${name}@example.com`,
  email_verified: true,
  name,
  ...more,
});
const locationOf = (response: Response): string => response.headers.get('location') ?? '';
const pathOf = (url: string): string => url.slice(test.settings.consoleUrl.length);

/** Signs in at the provider, and returns the console path to which the browser is redirected. */
async function visit(browser: Browser, who: Person, next = ''): Promise<string> {
  const start = await browser.visit(`/oidc/start${next}`);
  return locationOf(await browser.visit(pathOf(await provider.signIn(locationOf(start), who))));
}

async function ticketOf(browser: Browser, who: Person): Promise<string> {
  return (await visit(browser, who)).split('#oidc=')[1] ?? '';
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: test.settings.databaseUrl });
  await client.connect();
  return client;
}

const signIn = (browser: Browser, ticket: string, more: object = {}): Promise<Answer> =>
  browser.send(OIDC_SIGN_IN, { input: { ticket, ...more } });

describe('sign-in with an identity provider', () => {
  it('is offered if a provider is configured', async () => {
    const options = '{ signInOptions { oidcProviders { id label startUrl } } }';
    expect(pick(await test.browser().send(options), 'signInOptions', 'oidcProviders')).toEqual([
      { id: 'oidc', label: 'Example Company', startUrl: `${test.settings.consoleUrl}/oidc/start` },
    ]);
  });

  it('creates an account when the policy is accepted, and signs in to that account afterwards', async () => {
    const browser = test.browser();
    const ann = person('ann');
    const arrival = await visit(browser, ann, '?next=/keys');
    expect(arrival).toMatch(/^\/sign-in\?next=%2Fkeys#oidc=gwo_\w+$/);
    const ticket = arrival.split('#oidc=')[1] ?? '';
    expect(codesOf(await signIn(browser, ticket), 'oidcSignIn')).toEqual(['POLICY_NOT_ACCEPTED']);
    expect(await em().count(UserSchema, { email: 'ann@example.com' })).toBe(0);
    const old = await signIn(browser, ticket, { acceptPolicyVersion: '0.1' });
    expect(codesOf(old, 'oidcSignIn')).toEqual(['POLICY_VERSION_OUTDATED']);
    const entered = await signIn(browser, ticket, { acceptPolicyVersion: POLICY });
    expect(pick(entered, 'oidcSignIn', 'viewer')).toMatchObject({
      email: 'ann@example.com',
      displayName: 'ann',
      emailVerifiedAt: expect.any(String),
      policyAcceptances: [{ version: { version: POLICY } }],
    });
    const again = test.browser();
    expect(codesOf(await signIn(again, await ticketOf(again, ann)), 'oidcSignIn')).toEqual([]);
    expect(pick(await again.send(LIST), 'viewer')).toMatchObject({
      email: 'ann@example.com',
      securityFactors: { hasPassword: false, linkedIdentities: [{ provider: provider.issuer }] },
    });
  });

  it('finds the account by the subject, even if the address at the provider has changed', async () => {
    const browser = test.browser();
    const bob = person('bob');
    await signIn(browser, await ticketOf(browser, bob), { acceptPolicyVersion: POLICY });
    const later = test.browser();
    const renamed = { ...bob, email: 'robert@example.com' };
    const answer = await signIn(later, await ticketOf(later, renamed));
    expect(pick(answer, 'oidcSignIn', 'viewer', 'email')).toBe('bob@example.com');
  });

  it('does not open an existing account with the same verified address', async () => {
    await test.user('cat@example.com');
    const browser = test.browser();
    const answer = await signIn(browser, await ticketOf(browser, person('cat')), {
      acceptPolicyVersion: POLICY,
    });
    expect(codesOf(answer, 'oidcSignIn')).toEqual(['CONFLICT']);
    expect(browser.cookie).toBeNull();
  });

  it.each<[string, Partial<Person>]>([
    ['is not verified', { email_verified: false }],
    ['is missing', { email: undefined, email_verified: undefined }],
    ['is a list of two', { email: 'eve@example.com, all@example.com' }],
    ['contains a mail header', { email: 'eve@example.com\r\nBcc: all@example.com' }],
    ['contains a display name', { email: 'Eve <eve@example.com>' }],
    ['is too long', { email: `eve@${'a.'.repeat(130)}example` }],
  ])('creates no account if the address from the provider %s', async (name, more) => {
    const browser = test.browser();
    const ticket = await ticketOf(browser, person(`dan-${name.length}`, more));
    const answer = await signIn(browser, ticket, { acceptPolicyVersion: POLICY });
    expect(codesOf(answer, 'oidcSignIn')).toEqual(['INVALID']);
    const kept = await query(em(), sql`select email from oidc_ticket where email like '%eve%'`);
    expect(kept).toEqual([]);
  });

  it('requires the second factor of an account that has one', async () => {
    const browser = test.browser();
    await signIn(browser, await ticketOf(browser, person('eve')), { acceptPolicyVersion: POLICY });
    const user = await em().findOneOrFail(UserSchema, { email: 'eve@example.com' });
    const secret = newTotpSecret();
    const place = { table: 'totp_factor', id: user.id, field: 'secret' };
    await query(
      em(),
      sql`insert into totp_factor (user_id, sealed_secret, confirmed_at)
      values (${user.id}, ${encryptSecret(test.settings.secretKey, secret, place)}, now())`,
    );
    const later = test.browser();
    const ticket = await ticketOf(later, person('eve'));
    const asked = await signIn(later, ticket);
    expect(pick(asked, 'oidcSignIn', 'secondFactorRequired')).toBe(true);
    expect(later.cookie).toBeNull();
    const wrong = await signIn(later, ticket, { totpCode: '000000' });
    expect(codesOf(wrong, 'oidcSignIn')).toEqual(['CREDENTIALS_INVALID']);
    const right = await signIn(later, ticket, { totpCode: totpCode(secret, stepAt(Date.now())) });
    expect(codesOf(right, 'oidcSignIn')).toEqual([]);
  });

  it('works for an account that wrong passwords of strangers have locked', async () => {
    const who = person('locked');
    const first = test.browser();
    await signIn(first, await ticketOf(first, who), { acceptPolicyVersion: POLICY });
    const attempt = (at: number) =>
      countAction(em(), { purpose: 'sign-in', email: 'locked@example.com', ip: `198.51.100.${at}` });
    for (let at = 0; at < ATTEMPTS['sign-in'].account; at += 1) await attempt(at);
    await expect(attempt(200)).rejects.toThrow('Too many attempts');
    const later = test.browser();
    expect(codesOf(await signIn(later, await ticketOf(later, who)), 'oidcSignIn')).toEqual([]);
    expect(later.cookie).not.toBeNull();
  });

  it('can be completed only once, in the browser that started it', async () => {
    const [browser, other] = [test.browser(), test.browser()];
    const start = await browser.visit('/oidc/start');
    const back = pathOf(await provider.signIn(locationOf(start), person('fay')));
    await other.visit('/oidc/start');
    expect(locationOf(await other.visit(back))).toBe('/sign-in?oidc=failed');
    const ticket = locationOf(await browser.visit(back)).split('#oidc=')[1] ?? '';
    expect(locationOf(await browser.visit(back))).toBe('/sign-in?oidc=failed');
    const accepted = { acceptPolicyVersion: POLICY };
    expect(codesOf(await signIn(other, ticket, accepted), 'oidcSignIn')).toEqual(['CREDENTIALS_INVALID']);
    expect(codesOf(await signIn(browser, ticket, accepted), 'oidcSignIn')).toEqual([]);
    expect(codesOf(await signIn(browser, ticket, accepted), 'oidcSignIn')).toEqual(['CREDENTIALS_INVALID']);
  });

  it('opens one session when a ticket is used on every database connection at once', async () => {
    const browser = test.browser();
    await signIn(browser, await ticketOf(browser, person('pat')), { acceptPolicyVersion: POLICY });
    const ticket = await ticketOf(browser, person('pat'));
    const [holder, watcher] = [await connect(), await connect()];
    await holder.query('begin');
    await holder.query('select from oidc_ticket for update');
    const answers = Promise.all(Array.from({ length: 8 }, () => signIn(browser, ticket)));
    const waiting = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%oidc_ticket%'`;
    while ((await watcher.query(waiting)).rowCount !== 8);
    await holder.query('commit');
    await Promise.all([holder.end(), watcher.end()]);
    const codes = (await answers).map((answer) => codesOf(answer, 'oidcSignIn'));
    expect(codes.filter((list) => list.length === 0)).toHaveLength(1);
    expect(codes.flat()).toEqual(Array(7).fill('CREDENTIALS_INVALID'));
  });

  it.each([
    ['an unknown state', '/oidc/callback?code=x&state=y'],
    ['no parameters', '/oidc/callback'],
  ])('redirects to the sign-in page with an error if the callback has %s', async (_name, path) => {
    expect(locationOf(await test.browser().visit(path))).toBe('/sign-in?oidc=failed');
  });

  it('redirects to the sign-in page with an error if the user refused or the code is wrong', async () => {
    for (const change of [
      (url: URL) => url.searchParams.set('code', 'another'),
      (url: URL) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', 'access_denied');
      },
    ]) {
      const browser = test.browser();
      const back = new URL(
        await provider.signIn(locationOf(await browser.visit('/oidc/start')), person('gus')),
      );
      change(back);
      expect(locationOf(await browser.visit(pathOf(back.href)))).toBe('/sign-in?oidc=failed');
    }
  });

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', '/a#b', 'keys'])(
    'ignores the unsafe next path %s',
    async (next) => {
      const arrival = await visit(test.browser(), person('hal'), `?next=${encodeURIComponent(next)}`);
      expect(arrival).toMatch(/^\/sign-in#oidc=/);
    },
  );

  it('answers 404 if no provider is configured', async () => {
    const plain = await startTestApp();
    expect((await plain.browser().visit('/oidc/start')).status).toBe(404);
    await plain.close();
  });
});

describe('a linked identity', () => {
  /** Links the person's identity to the browser's account, and returns where the browser is redirected. */
  async function link(browser: Browser, who: Person): Promise<string> {
    const url = pick<string>(await browser.send(LINK), 'identityLinkStart', 'url');
    return locationOf(await browser.visit(pathOf(await provider.signIn(url, who))));
  }

  it('signs in to the account of the user who linked it, until it is unlinked', async () => {
    const owner = await test.user('ida@example.com');
    const ida = person('ida-at-work');
    expect(await link(owner, ida)).toBe('/profile/security?oidc=linked');
    const browser = test.browser();
    const answer = await signIn(browser, await ticketOf(browser, ida));
    expect(pick(answer, 'oidcSignIn', 'viewer', 'email')).toBe('ida@example.com');
    const [{ id } = { id: '' }] = pick<{ id: string }[]>(
      await owner.send(LIST),
      'viewer',
      'securityFactors',
      'linkedIdentities',
    );
    const unlink = `mutation ($input: IdInput!) { identityUnlink(input: $input) { ${ERRORS} } }`;
    const stranger = await test.user('jon@example.com');
    expect(codesOf(await stranger.send(unlink, { input: { id } }), 'identityUnlink')).toEqual(['NOT_FOUND']);
    expect(codesOf(await owner.send(unlink, { input: { id } }), 'identityUnlink')).toEqual([]);
    const later = test.browser();
    const refused = await signIn(later, await ticketOf(later, ida));
    expect(codesOf(refused, 'oidcSignIn')).toEqual(['POLICY_NOT_ACCEPTED']);
  });

  it('belongs to one account, and cannot be unlinked if it is the only way to sign in', async () => {
    const browser = test.browser();
    await signIn(browser, await ticketOf(browser, person('kim')), { acceptPolicyVersion: POLICY });
    const other = await test.user('lea@example.com');
    expect(await link(other, person('kim'))).toBe('/profile/security?oidc=taken');
    const [{ id } = { id: '' }] = pick<{ id: string }[]>(
      await browser.send(LIST),
      'viewer',
      'securityFactors',
      'linkedIdentities',
    );
    const unlink = `mutation ($input: IdInput!) { identityUnlink(input: $input) { ${ERRORS} } }`;
    expect(codesOf(await browser.send(unlink, { input: { id } }), 'identityUnlink')).toEqual(['CONFLICT']);
  });

  it('is not linked if another user signed in to the same browser meanwhile', async () => {
    const owner = await test.user('mia@example.com');
    const url = pick<string>(await owner.send(LINK), 'identityLinkStart', 'url');
    const back = pathOf(await provider.signIn(url, person('mia-at-work')));
    owner.cookie = (await test.user('nick@example.com')).cookie;
    expect(locationOf(await owner.visit(back))).toBe('/sign-in?oidc=failed');
    expect(
      await query(em(), sql`select from linked_identity where subject = 'subject of mia-at-work'`),
    ).toEqual([]);
  });

  it('lets a user without a password close the account after a recent sign-in', async () => {
    const browser = test.browser();
    await signIn(browser, await ticketOf(browser, person('olga')), { acceptPolicyVersion: POLICY });
    const close = `mutation { accountDelete(input: {}) { ok ${ERRORS} } }`;
    await query(em(), sql`update session set authenticated_at = now() - interval '1 hour'`);
    expect(codesOf(await browser.send(close), 'accountDelete')).toEqual(['REAUTH_REQUIRED']);
    await query(em(), sql`update session set authenticated_at = now()`);
    expect(codesOf(await browser.send(close), 'accountDelete')).toEqual([]);
    expect(await query(em(), sql`select from linked_identity where email = 'olga@example.com'`)).toEqual([]);
  });
});
