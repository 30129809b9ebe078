/** All methods by which a browser gets a session. The rights of a session must not depend on its method. */
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserSchema } from '../../control-plane/accounts/account.entity.ts';
import { mintLink } from '../../control-plane/accounts/link.service.ts';
import { requestRegistration } from '../../control-plane/accounts/registration.service.ts';
import { stepAt, totpCode } from '../../control-plane/accounts/totp.ts';
import { createUser } from '../../control-plane/accounts/user.admin.ts';
import { query, sql } from '../../control-plane/database/sql.ts';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { pick, POLICY, SIGN_IN } from './app.ts';
import type { Browser, TestApp } from './app.ts';
import { SoftwarePasskey } from './authenticator.ts';
import type { CredentialOptions } from './authenticator.ts';
import type { TestProvider } from './oidc-provider.ts';

const PASSWORD = 'a long enough password';
const ORIGIN = { ip: '127.0.0.1', userAgent: null };

/** The app, and the identity provider with which it was started. */
interface Parts {
  test: TestApp;
  provider: TestProvider;
}

/** Creates an account with this address, and opens a session. */
type SignInMethod = (parts: Parts, email: string) => Promise<Browser>;

/** The methods by name. */
export const SIGN_IN_METHODS: Readonly<Record<string, SignInMethod>> = {
  password: ({ test }, email) => test.user(email),
  totp: async ({ test }, email) => {
    const first = await test.user(email);
    const secret = pick<string>(await first.send('mutation { totpEnrol { secret } }'), 'totpEnrol', 'secret');
    const code = (away: number) => totpCode(secret, stepAt(Date.now()) + away);
    await first.send(`mutation { totpConfirm(input: { code: "${code(0)}" }) { recoveryCodes } }`);
    return enter(test.browser(), SIGN_IN, { email, password: PASSWORD, totpCode: code(1) });
  },
  passkey: async ({ test }, email) => {
    const passkey = new SoftwarePasskey();
    const first = await test.user(email);
    const origin = test.settings.consoleUrl;
    const made = await first.send('mutation { passkeyRegisterOptions { options } }');
    const options = pick<CredentialOptions>(made, 'passkeyRegisterOptions', 'options');
    const added = { credential: passkey.create(options, origin), name: 'Laptop' };
    await first.send(mutationOf('passkeyRegister', 'PasskeyRegisterInput'), { input: added });
    const browser = test.browser();
    const asked = await browser.send('mutation { passkeySignInOptions { options } }');
    const wanted = pick<CredentialOptions>(asked, 'passkeySignInOptions', 'options');
    const credential = passkey.get(wanted, origin);
    return enter(browser, mutationOf('passkeySignIn', 'PasskeySignInInput'), { credential });
  },
  'identity provider': async ({ test, provider }, email) => {
    const browser = test.browser();
    const start = await browser.visit('/oidc/start');
    const person = { sub: `subject of ${email}`, email, email_verified: true };
    const callback = await provider.signIn(start.headers.get('location') ?? '', person);
    const arrival = await browser.visit(callback.slice(test.settings.consoleUrl.length));
    const ticket = arrival.headers.get('location')?.split('#oidc=')[1];
    const input = { ticket, acceptPolicyVersion: POLICY };
    return enter(browser, mutationOf('oidcSignIn', 'OidcSignInInput'), input);
  },
  'claim link': async ({ test }, email) => {
    const user = { email, role: 'USER' as const, allowedGroups: [], reason: 'Invited.' };
    const { id } = await createUser(test.orm.em.fork(), user, SYSTEM_ACTOR);
    const { token } = await mintLink(test.orm.em.fork(), id);
    const input = { token, password: PASSWORD, acceptPolicyVersion: POLICY };
    return enter(test.browser(), mutationOf('adminClaim', 'AdminClaimInput'), input);
  },
  'mailed link of a registration': async ({ test }, email) => {
    const em = test.orm.em.fork();
    const registration = { email, password: PASSWORD, acceptPolicyVersion: POLICY };
    const { browserToken } = await requestRegistration(em, registration, ORIGIN);
    const token = issueSecret('gwl');
    const digest = digestOf(token);
    await query(em, sql`update pending_registration set token_digest = ${digest} where email = ${email}`);
    const browser = test.browser();
    browser.browserCookie = `browser=${browserToken}`;
    return enter(browser, mutationOf('emailVerify', 'TokenInput'), { token });
  },
  'mailed link for a new password': async ({ test }, email) => {
    await test.user(email);
    const em = test.orm.em.fork();
    const { id } = await em.findOneOrFail(UserSchema, { email });
    const { token } = await mintLink(em, id, { purpose: 'RESET', email });
    const input = { token, newPassword: 'another long password' };
    return enter(test.browser(), mutationOf('passwordReset', 'PasswordResetInput'), input);
  },
};

const mutationOf = (name: string, type: string): string =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { viewer { id } userErrors { code } } }`;

/** Sends a mutation that opens a session in the browser, which has none. Throws if it does not. */
async function enter(browser: Browser, mutation: string, input: object): Promise<Browser> {
  const answer = await browser.send(mutation, { input });
  if (!browser.cookie) throw new Error(`No session: ${JSON.stringify([answer.data, answer.errors])}`);
  return browser;
}
