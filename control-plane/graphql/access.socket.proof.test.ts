/**
 * Sends every root field over WebSocket as every kind of caller, with real credentials: role and scope decide
 * as over HTTP. Sessions of suspended and deleted users are refused, by whichever method they were opened.
 */
import { once } from 'node:events';
import { getNamedType, isLeafType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { CLIENT, startOidcProvider } from '../../test/control/oidc-provider.ts';
import type { TestProvider } from '../../test/control/oidc-provider.ts';
import { NOBODY, smallestInput } from '../../test/control/smallest-input.ts';
import { SIGN_IN_METHODS } from '../../test/control/sign-in-methods.ts';
import { readSources } from '../../test/tidy/sources.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { createToken } from '../accounts/token.service.ts';
import { createBus } from '../database/events.ts';
import { query, sql } from '../database/sql.ts';
import type { RateLimits } from '../limits.ts';
import { createSchema } from '../schema/schema.ts';
import { ruleOf } from './access.ts';
import type { TokenRule } from './access.rules.ts';
import type { Context } from './context.ts';
import { AccessScope } from './enums.ts';

type Field = GraphQLField<unknown, Context>;

/** A caller with its credential, as limits and rules should see it. */
interface Actor {
  name: string;
  role: 'NOBODY' | 'USER' | 'ADMIN' | 'NODE';
  /** The scope of an access token; null for others. */
  scope: AccessScope | null;
  headers: Record<string, string>;
}

const SCOPES = Object.keys(AccessScope) as AccessScope[];
const REFUSALS = ['UNAUTHENTICATED', 'FORBIDDEN', 'REAUTH_REQUIRED'];
/** The node that the smallest inputs name. */
const NODE = { id: NOBODY, name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;
/** These end the caller's credential, or refuse an object that does not exist. */
const SKIPPED = [
  'messageStream',
  'signOut',
  'sessionsRevokeOthers',
  'accountDelete',
  'passwordChange',
  'totpDisable',
];
const ROOTS = ['Query', 'Mutation', 'Subscription'];
const TEST_MS = 180_000;
/** Rate limits far above those of production, because one caller sends thousands of operations. */
const FREELY = { perSecond: 1e6, atOnce: 1e6 };
const UNLIMITED: RateLimits = {
  anonymous: FREELY,
  allAnonymous: FREELY,
  user: FREELY,
  admin: FREELY,
  node: FREELY,
};

const schema = createSchema(createBus());

function rootOf(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`There is no type ${name}.`);
  return type;
}

interface Case {
  root: string;
  field: Field;
  payload: { query: string; variables: Record<string, unknown> };
}

const CASES: Case[] = ROOTS.flatMap((root) =>
  (Object.values(rootOf(root).getFields()) as Field[])
    .filter(({ name }) => !SKIPPED.includes(name))
    .map((field) => ({ root, field, payload: operationOf(root.toLowerCase(), field) })),
);

function operationOf(kind: string, field: Field): Case['payload'] {
  const needed = field.args.filter((one) => isNonNullType(one.type) && one.defaultValue === undefined);
  const types = needed.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const values = needed.map(({ name }) => `${name}: $${name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
  const [head, call] = needed.length > 0 ? [`(${types})`, `(${values})`] : ['', ''];
  return {
    query: `${kind}${head} { ${field.name}${call} ${selection} }`,
    variables: Object.fromEntries(needed.map(({ name, type }) => [name, smallestInput(type)])),
  };
}

/** The expected refusal, computed from role and scope alone. */
function expected({ role, scope }: Actor, access: unknown, rule: TokenRule | undefined): string | null {
  if (scope && (rule === 'BROWSER' || (rule !== 'ANY' && ![rule].flat().some((one) => one === scope))))
    return 'FORBIDDEN';
  if (access === 'PUBLIC' || access === role || (access === 'USER' && role === 'ADMIN')) return null;
  return role === 'NOBODY' ? 'UNAUTHENTICATED' : 'FORBIDDEN';
}

let test: TestApp;
let provider: TestProvider;
async function startApp(): Promise<void> {
  provider = await startOidcProvider(() => `${test.settings.consoleUrl}/oidc/callback`);
  test = await startTestApp({
    env: {
      QUERY_BUDGET: '10000000',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
    },
    rates: { messages: UNLIMITED, reading: UNLIMITED },
    findNode: async (token) => (token === TOKEN ? NODE : null),
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookieOf = ({ cookie }: Browser) => ({ cookie: cookie ?? '' });

async function open(headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(`${test.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers,
  });
  // One listener for each operation.
  socket.setMaxListeners(2 * CASES_PER_SOCKET);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  return socket;
}

interface Message {
  type: string;
  id?: string;
  payload?: { errors?: Failure[] } | Failure[];
}

interface Failure {
  message: string;
  extensions: { code: string };
}

/**
 * The refusal of an operation; null if it was not refused. A subscription that is not refused stays open: the
 * query after it is answered first.
 */
async function refusalOn(
  socket: WebSocket,
  { root, payload }: Case,
  wanted: string | null,
): Promise<string | null> {
  const ids = [`${(count += 1)}`, `${(count += 1)}`];
  const answer = new Promise<Message>((resolve, reject) => {
    socket.once('close', (code) => reject(new Error(`The socket was closed with ${code}: ${payload.query}`)));
    const receive = (data: WebSocket.RawData): void => {
      const message = JSON.parse((data as Buffer).toString()) as Message;
      if (message.type === 'complete' || !ids.includes(message.id ?? '')) return;
      socket.off('message', receive);
      resolve(message);
    };
    socket.on('message', receive);
  });
  socket.send(JSON.stringify({ type: 'subscribe', id: ids[0], payload }));
  if (root === 'Subscription' && wanted === null) {
    setTimeout(() => {
      const after = { query: '{ viewer { id } }' };
      socket.send(JSON.stringify({ type: 'subscribe', id: ids[1], payload: after }));
    }, PATIENCE_MS);
  }
  return codeOf(await answer);
}

/** Cases after which another socket is opened, so that subscriptions do not add up. */
const CASES_PER_SOCKET = 15;
/** Time in which a subscription is refused even on a busy machine. */
const PATIENCE_MS = 100;
let count = 0;

function codeOf({ payload }: Message): string | null {
  const errors = Array.isArray(payload) ? payload : (payload?.errors ?? []);
  return errors.map(({ extensions }) => extensions.code).find((code) => REFUSALS.includes(code)) ?? null;
}

/** Every difference between expected and real refusals of one caller. */
async function differencesOf(actor: Actor, cases: readonly Case[]): Promise<string[]> {
  const wrong: string[] = [];
  for (let from = 0; from < cases.length; from += CASES_PER_SOCKET) {
    const socket = await open(actor.headers);
    for (const one of cases.slice(from, from + CASES_PER_SOCKET)) {
      const wanted = expected(actor, one.field.extensions['access'], ruleOf(rootOf(one.root), one.field));
      const found = await refusalOn(socket, one, wanted);
      if (found !== wanted) wrong.push(`${one.field.name} for ${actor.name}: ${found}, not ${wanted}`);
    }
    socket.close();
  }
  return wrong;
}

async function tokenOf(email: string, scope: AccessScope): Promise<string> {
  const em = test.orm.em.fork();
  const { id, role, allowedGroups } = await em.findOneOrFail(UserSchema, { email });
  const session = { id: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV', authenticatedAt: new Date() };
  const viewer = { id, email, role, allowedGroups, session, token: null };
  const { secret } = await createToken(em, viewer, { name: scope, scopes: [scope], expiresInDays: 1 });
  return secret;
}

/** A session that a new user opened by this method. */
async function sessionBy(method: string, email: string): Promise<Browser> {
  // One address opens more sessions here than its limits permit.
  await query(test.orm.em.fork(), sql`delete from attempt_window`);
  const open = SIGN_IN_METHODS[method];
  if (!open) throw new Error(`There is no method ${method}.`);
  return open({ test, provider }, email);
}

describe('access over WebSocket', () => {
  beforeAll(startApp);
  afterAll(async () => {
    await test.close();
    await provider.close();
  });

  it('is tried with every way in which the control plane opens a session', () => {
    const calls = readSources()
      .filter(({ path }) => path.startsWith('control-plane/') && path.endsWith('.resolver.ts'))
      .flatMap(({ text }) => text.match(/\bsetSessionCookie\(context/g) ?? []);
    expect(calls).toHaveLength(Object.keys(SIGN_IN_METHODS).length);
  });

  it('follows role and scope for every caller and every root field', expectRulesForAll, TEST_MS);

  it.each(['SUSPENDED', 'DELETED'])('ends for every credential of a user who is %s', expectNoAccess, TEST_MS);
});

async function expectRulesForAll(): Promise<void> {
  const none = { scope: null, headers: {} };
  const actors: Actor[] = [
    { ...none, name: 'anonymous', role: 'NOBODY' },
    { ...none, name: 'node', role: 'NODE', headers: bearer(TOKEN) },
  ];
  for (const scope of SCOPES) {
    const role = scope.startsWith('ADMIN') ? 'ADMIN' : 'USER';
    const headers = bearer(await tokenOf('admin@example.com', scope));
    actors.push({ name: `token ${scope}`, role, scope, headers });
  }
  const wrong = actors.map((actor) => differencesOf(actor, CASES));
  for (const [at, method] of Object.keys(SIGN_IN_METHODS).entries()) {
    const headers = cookieOf(await sessionBy(method, `user-${at}@example.com`));
    const actor: Actor = { ...none, name: `user by ${method}`, role: 'USER', headers };
    wrong.push(differencesOf(actor, CASES));
  }
  expect((await Promise.all(wrong)).flat()).toEqual([]);
}

async function expectNoAccess(state: string): Promise<void> {
  const name = state.toLowerCase();
  const actors: Actor[] = [];
  for (const [at, method] of Object.keys(SIGN_IN_METHODS).entries()) {
    const browser = await sessionBy(method, `${name}-${at}@example.com`);
    expect((await browser.send('{ viewer { id } }')).data?.['viewer']).not.toBeNull();
    actors.push({ name: `${state} by ${method}`, role: 'NOBODY', scope: null, headers: cookieOf(browser) });
  }
  const ownScopes = SCOPES.filter((scope) => !scope.startsWith('ADMIN'));
  const tokens = await Promise.all(ownScopes.map((scope) => tokenOf(`${name}-0@example.com`, scope)));
  const em = test.orm.em.fork();
  await query(em, sql`update users set state = ${state} where email like ${`${name}-%`}`);
  const wrong = await Promise.all(actors.map((actor) => differencesOf(actor, CASES)));
  expect(wrong.flat()).toEqual([]);
  for (const token of tokens) expect(await closeCodeOf(token)).toBe(4403);
  const answers = tokens.map((token) => test.browser().send('{ viewer { id } }', {}, bearer(token)));
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([401]));
}

/** The code with which a WebSocket of this access token is closed. */
async function closeCodeOf(token: string): Promise<number> {
  const script = new WebSocket(`${test.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: bearer(token),
  });
  await once(script, 'open');
  script.send(JSON.stringify({ type: 'connection_init' }));
  const [code] = (await once(script, 'close')) as [number];
  return code;
}
