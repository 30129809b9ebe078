/** Starts the control-plane app on a fresh database for tests, with clients that behave like browsers. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { createApp } from '../../control-plane/app.ts';
import type { App, AppParts } from '../../control-plane/app.ts';
import type { NodeFeed } from '../../control-plane/database/config-log.ts';
import { contentKeysOf } from '../../control-plane/intelligence/open-keys.ts';
import { createOrm } from '../../control-plane/database/orm.ts';
import { seed } from '../../control-plane/seeds.ts';
import { readSettings } from '../../control-plane/process/settings.ts';
import type { Settings } from '../../control-plane/process/settings.ts';
import { createTestDatabase } from '../database.ts';

export const ADMIN = { email: 'admin@example.com', password: 'correct horse battery staple' };
export const POLICY = '1.0';

export interface Answer {
  status: number;
  headers: Headers;
  data: Loose | null;
  errors: { message: string; extensions: { code: string } & Record<string, unknown> }[];
}

/** Data of an answer, which a test reads by path. */
interface Loose {
  readonly [key: string]: Loose;
}

/** The value at the path in `answer.data`. Its type is not checked. Throws if the value is undefined. */
export function pick<T>(answer: Answer, ...path: string[]): T {
  const found = path.reduce<Loose | undefined>((value, name) => value?.[name], answer.data ?? undefined);
  if (found === undefined)
    throw new Error(`No value at data.${path.join('.')}. GraphQL errors: ${JSON.stringify(answer.errors)}`);
  const value: unknown = found;
  return value as T;
}

/** The codes of a mutation's user errors. */
export function codesOf(answer: Answer, mutation: string): string[] {
  const payload = answer.data?.[mutation] as { userErrors: { code: string }[] } | undefined;
  if (!payload) throw new Error(`No answer to ${mutation}. GraphQL errors: ${JSON.stringify(answer.errors)}`);
  return payload.userErrors.map((error) => error.code);
}

/** A client with its own cookies. */
export interface Browser {
  /** The session cookie as `name=value`; null while signed out. */
  cookie: string | null;
  /**
   * The cookie that binds a started sign-in to this browser, as `name=value`; null until a sign-in starts.
   */
  browserCookie: string | null;
  /** The cookie that marks this browser after its first sign-in, as `name=value`; null until then. */
  deviceCookie: string | null;
  /** Gets a path of the control plane, without following a redirect. */
  visit(path: string): Promise<Response>;
  /** Sends a GraphQL operation over HTTP. */
  send(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
}

export interface TestApp {
  app: App;
  orm: MikroORM;
  settings: Settings;
  url: string;
  browser(): Browser;
  /** Registers a user in a new browser, and returns the browser. */
  user(email: string): Promise<Browser>;
  /** Signs the first administrator in in a new browser, and returns the browser. */
  admin(): Promise<Browser>;
  close(): Promise<void>;
}

/** A feed without nodes: there is no acknowledgement to wait for. */
export const NO_NODES: NodeFeed = {
  waitForAcks: async () => ({ appliedNodes: 0, pendingNodes: [] }),
  acknowledge: async () => undefined,
  follow: () => {
    throw new Error('NO_NODES cannot be followed. Use a real feed in this test.');
  },
};

/** Starts the app on a free port. `findNode` finds the node of a token; the default finds none. */
export async function startTestApp(
  options: { env?: Record<string, string> } & Partial<
    Pick<AppParts, 'findNode' | 'times' | 'rates' | 'documents' | 'log' | 'tracing'>
  > = {},
): Promise<TestApp> {
  const database = await createTestDatabase();
  const settings = readSettings({
    DATABASE_URL: database.url,
    SECRET_KEY: 'a secret of at least thirty-two bytes',
    CONTROL_PORT: '0',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ALLOW_PRIVATE_UPSTREAMS: 'on',
    ...options.env,
  });
  const orm = await createOrm(settings.databaseUrl, { connectionsMax: 8 });
  await seed(orm.em.fork(), settings);
  const app = await createApp({
    orm,
    contentKeys: contentKeysOf({ orm, settings }),
    settings,
    findNode: options.findNode ?? (async () => null),
    ...(options.times && { times: options.times }),
    ...(options.rates && { rates: options.rates }),
    ...(options.documents && { documents: options.documents }),
    ...(options.tracing && { tracing: options.tracing }),
    nodeFeed: NO_NODES,
    log: options.log ?? printErrors,
  });
  const url = `http://127.0.0.1:${await app.listen()}`;
  const browser = () => createBrowser(url);
  return {
    app,
    orm,
    settings,
    url,
    browser,
    user: (email) =>
      enter(browser(), REGISTER, { email, password: 'a long enough password', acceptPolicyVersion: POLICY }),
    admin: () => enter(browser(), SIGN_IN, ADMIN),
    close: async () => {
      await app.close();
      await orm.close(true);
      await database.drop();
    },
  };
}

export const REGISTER = `mutation ($input: RegisterInput!) { register(input: $input) {
    viewer { id } userErrors { code message field } } }`;
export const SIGN_IN = `mutation ($input: SignInInput!) { signIn(input: $input) {
    viewer { id } userErrors { code message field } } }`;

async function enter(browser: Browser, mutation: string, input: Record<string, unknown>): Promise<Browser> {
  const answer = await browser.send(mutation, { input });
  if (!browser.cookie) throw new Error(`No session: ${JSON.stringify(answer)}`);
  return browser;
}

function createBrowser(url: string): Browser {
  const cookies = (): string =>
    [browser.cookie, browser.browserCookie, browser.deviceCookie].filter((pair) => pair !== null).join('; ');
  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const pair = line.split(';')[0] ?? '';
      const kept = pair.endsWith('=') ? null : pair;
      if (/^(__Host-)?session=/.test(pair)) browser.cookie = kept;
      else if (/^(__Host-)?device=/.test(pair)) browser.deviceCookie = kept;
      else browser.browserCookie = kept;
    }
  };
  const browser: Browser = {
    cookie: null,
    browserCookie: null,
    deviceCookie: null,
    visit: async (path) => {
      const response = await fetch(`${url}${path}`, { redirect: 'manual', headers: { cookie: cookies() } });
      keep(response.headers);
      return response;
    },
    send: async (query, variables, headers) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(cookies() && { cookie: cookies() }), ...headers },
        body: JSON.stringify({ query, variables }),
      });
      keep(response.headers);
      const body = (await response.json()) as Partial<Answer>;
      return {
        status: response.status,
        headers: response.headers,
        data: body.data ?? null,
        errors: body.errors ?? [],
      };
    },
  };
  return browser;
}

/** With TEST_LOG set, prints errors that the API hides from callers. */
function printErrors(line: Record<string, unknown>): void {
  if (line['level'] === 'error' && process.env['TEST_LOG'])
    process.stderr.write(`${String(line['stack'])}\n`);
}
