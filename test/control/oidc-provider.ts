/** A real OpenID Connect provider in the test's process, which signs people in without showing a page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import { generateKeyPairSync } from 'node:crypto';

export const CLIENT = { id: 'gateway', secret: 'a secret between gateway and provider' };

/** Somebody with an account at the provider. */
export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export interface TestProvider {
  issuer: string;
  /** Signs the person in at an address of the provider, and returns the address of the final redirect. */
  signIn(url: string, person: Person): Promise<string>;
  close(): Promise<void>;
}

/** Starts the provider for one client with this redirect URI. */
export async function startOidcProvider(redirectUri: () => string): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  let handle: ReturnType<Provider['callback']> | undefined;
  // The client's address is known only once the gateway listens.
  server.on('request', (request, response) => {
    handle ??= createProvider(issuer, redirectUri(), people).callback();
    void handle(request, response);
  });
  return {
    issuer,
    signIn: (url, person) => {
      people.set(person.sub, person);
      return followRedirects(url, { issuer, sub: person.sub });
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function createProvider(issuer: string, redirectUri: string, people: ReadonlyMap<string, Person>): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' } as JWK] },
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ ...people.get(id), sub: id }) }),
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next();
    const { prompt, params, grantId } = await provider.interactionDetails(context.req, context.res);
    const sub = context.get('x-person');
    if (prompt.name === 'login')
      return provider.interactionFinished(context.req, context.res, { login: { accountId: sub } });
    const grant =
      (grantId ? await provider.Grant.find(grantId) : undefined) ??
      new provider.Grant({ accountId: sub, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile');
    const result = { consent: { grantId: await grant.save() } };
    return provider.interactionFinished(context.req, context.res, result);
  });
  return provider;
}

const STEPS_MAX = 10;

/** Follows redirects as one browser until one leads away from the provider. */
async function followRedirects(
  url: string,
  { issuer, sub }: { issuer: string; sub: string },
): Promise<string> {
  const cookies = new Map<string, string>();
  let at = url;
  for (let step = 0; step < STEPS_MAX && at.startsWith(issuer); step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie, 'x-person': sub } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (!next) throw new Error(`The provider stays at ${at}: ${response.status} ${await response.text()}`);
    at = new URL(next, at).href;
  }
  return at;
}
