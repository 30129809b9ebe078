/** The real control-plane app on a fresh database, and browsers that talk to it. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { createApp } from '../../control-plane/app.ts';
import type { App, AppParts } from '../../control-plane/app.ts';
import { createOrm } from '../../control-plane/orm.ts';
import { seed } from '../../control-plane/seeds.ts';
import { readSettings } from '../../control-plane/settings.ts';
import type { Settings } from '../../control-plane/settings.ts';
import { createTestDatabase } from '../database.ts';

export const ADMIN = { email: 'admin@example.com', password: 'correct horse battery staple' };
export const POLICY = '1.0';

export interface Answer {
  status: number;
  headers: Headers;
  data: Loose | null;
  errors: { message: string; extensions: { code: string } & Record<string, unknown> }[];
}

/** What a test reads from an answer without saying its whole type. */
export interface Loose {
  readonly [key: string]: Loose;
}

/** What stands at a path of the answer's data, as the type the test expects there. */
export function pick<T>(answer: Answer, ...path: string[]): T {
  const found = path.reduce<Loose | undefined>((value, name) => value?.[name], answer.data ?? undefined);
  if (found === undefined) throw new Error(`Nothing at ${path.join('.')}: ${JSON.stringify(answer.errors)}`);
  const value: unknown = found;
  return value as T;
}

/** The codes of a mutation's user errors. */
export function codesOf(answer: Answer, mutation: string): string[] {
  const payload = answer.data?.[mutation] as { userErrors: { code: string }[] } | undefined;
  if (!payload) throw new Error(`No payload: ${JSON.stringify(answer.errors)}`);
  return payload.userErrors.map((error) => error.code);
}

/** One browser: keeps its cookies. */
export interface Browser {
  /** Its session; null while it is signed out. */
  cookie: string | null;
  /** What marks it as the same browser, where it was marked. */
  mark: string | null;
  /** Visits a page of the API's own, without following a redirect. */
  visit(path: string): Promise<Response>;
  send(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
}

export interface TestApp {
  app: App;
  orm: MikroORM;
  settings: Settings;
  url: string;
  browser(): Browser;
  /** A browser whose user just registered. */
  user(email: string): Promise<Browser>;
  admin(): Promise<Browser>;
  close(): Promise<void>;
}

/** Starts the app on a free port. `findNode` stands for the nodes domain where a test needs one. */
export async function startTestApp(
  options: { env?: Record<string, string>; findNode?: AppParts['findNode'] } = {},
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
    settings,
    findNode: options.findNode ?? (async () => null),
    log: printErrors,
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
  const cookies = (): string => [browser.cookie, browser.mark].filter((pair) => pair !== null).join('; ');
  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const pair = line.split(';')[0] ?? '';
      const kept = pair.endsWith('=') ? null : pair;
      if (/^(__Host-)?session=/.test(pair)) browser.cookie = kept;
      else browser.mark = kept;
    }
  };
  const browser: Browser = {
    cookie: null,
    mark: null,
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

/** What callers must not see, a reader of a failing test must. */
function printErrors(line: Record<string, unknown>): void {
  if (line['level'] === 'error' && process.env['TEST_LOG'])
    process.stderr.write(`${String(line['stack'])}\n`);
}
