/** Which callers may use which fields: anonymous, user, administrator, node, and a token with each scope. */
import { getNamedType, graphql, isLeafType, isNonNullType, isObjectType, parse, subscribe } from 'graphql';
import type { GraphQLArgument, GraphQLField, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { NOBODY, smallestInput } from '../../test/control/smallest-input.ts';
import { freshUntil, ruleOf } from './access.ts';
import type { TokenRule } from './access.rules.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { createToken, viewerOfAccessToken } from '../accounts/token.service.ts';
import { Batches } from '../database/batches.ts';
import type { Context, Viewer } from './context.ts';
import { AccessScope } from './enums.ts';
import { createBus } from '../database/events.ts';
import { createKey } from '../keys/key.service.ts';
import { createSchema } from '../schema/schema.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';

const SCOPES = Object.keys(AccessScope) as AccessScope[];
const REFUSALS = ['UNAUTHENTICATED', 'FORBIDDEN', 'REAUTH_REQUIRED'];

interface Actor {
  name: string;
  viewer: Viewer | null;
  node: Context['node'];
}

const schema = createSchema(createBus());

function rootOf(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`There is no type ${name}.`);
  return type;
}

const fieldsOf = (name: string): GraphQLField<unknown, Context>[] =>
  Object.values(rootOf(name).getFields()) as GraphQLField<unknown, Context>[];

/** An operation that selects this field, inside the root field `below` if it belongs to another type. */
function operationOf(kind: string, field: GraphQLField<unknown, Context>, below?: string) {
  const needed = field.args.filter(
    ({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined,
  );
  const list = (write: (argument: GraphQLArgument) => string): string =>
    needed.length > 0 ? `(${needed.map(write).join(', ')})` : '';
  const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
  const call = `${field.name}${list(({ name }) => `${name}: $${name}`)} ${selection}`;
  return {
    source: `${kind}${list(({ name, type }) => `$${name}: ${String(type)}`)} {
      ${below ? `${below} { ${call} }` : call} }`,
    variableValues: Object.fromEntries(needed.map(({ name, type }) => [name, smallestInput(type)])),
  };
}

describe('access to fields', () => {
  let test: TestApp;
  let actors: Actor[];
  let admin: Viewer;

  beforeAll(async () => {
    test = await startTestApp();
    await test.user('user@example.com');
    const [owner, user] = [await viewer('admin@example.com'), await viewer('user@example.com')];
    admin = owner;
    const scripts = await Promise.all(
      SCOPES.map(async (scope) => ({ name: `token ${scope}`, viewer: await script(scope), node: null })),
    );
    actors = [
      { name: 'anonymous', viewer: null, node: null },
      { name: 'user', viewer: user, node: null },
      { name: 'admin', viewer: owner, node: null },
      { name: 'node', viewer: null, node: { id: NOBODY, name: 'node' } },
      ...scripts,
    ];
  });
  afterAll(() => test.close());

  async function viewer(email: string): Promise<Viewer> {
    const { id, role, allowedGroups } = await test.orm.em.fork().findOneOrFail(UserSchema, { email });
    const session = { id: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV', authenticatedAt: new Date() };
    return { id, email, role, allowedGroups, session, token: null };
  }

  async function script(scope: AccessScope): Promise<Viewer> {
    const em = test.orm.em.fork();
    const { secret } = await createToken(em, admin, { name: scope, scopes: [scope], expiresInDays: 1 });
    const found = await viewerOfAccessToken(test.orm.em.fork(), secret);
    if (!found) throw new Error('The token is not known.');
    return found;
  }

  /** A context with the parts that access rules use. */
  const contextOf = ({ viewer: who, node }: Omit<Actor, 'name'>): Context => {
    const context: Partial<Context> = {
      em: test.orm.em.fork(),
      viewer: who,
      node,
      ip: '192.0.2.1',
      userAgent: null,
      requestId: 'test',
      settings: test.settings,
      batches: new Batches(test.orm.em.fork()),
      budget: null,
      usage: POSTGRES_USAGE,
      setSession: () => {},
    };
    return context as Context;
  };

  /** The code with which the actor is refused; null if it is not. */
  async function refusal(actor: Actor, operation: ReturnType<typeof operationOf>): Promise<string | null> {
    const contextValue = contextOf(actor);
    const { source, variableValues } = operation;
    const result = source.startsWith('subscription')
      ? await subscribe({ schema, document: parse(source), variableValues, contextValue })
      : await graphql({ schema, source, variableValues, contextValue });
    if (Symbol.asyncIterator in result) {
      await result.return?.(undefined);
      return null;
    }
    const codes = (result.errors ?? []).map((error) => String(error.extensions['code']));
    return codes.find((code) => REFUSALS.includes(code)) ?? null;
  }

  /** The expected refusal by role and scopes, computed independently of production code. */
  function expected(actor: Actor, access: unknown, rule: TokenRule | undefined): string | null {
    const { viewer: who, node } = actor;
    const scopes = who?.token?.scopes;
    const lacks = rule === 'BROWSER' || (rule !== 'ANY' && ![rule].flat().some((one) => isIn(scopes, one)));
    if (scopes && lacks) return 'FORBIDDEN';
    if (access === 'PUBLIC') return null;
    if (access === 'NODE' ? node : who && (access === 'USER' || who.role === 'ADMIN')) return null;
    return who || node ? 'FORBIDDEN' : 'UNAUTHENTICATED';
  }

  it.each(['Query', 'Mutation', 'Subscription'])(
    'follows role and scope for every caller (%s)',
    async (root) => {
      const wrong: string[] = [];
      for (const field of fieldsOf(root)) {
        const operation = operationOf(root.toLowerCase(), field);
        const rule = ruleOf(rootOf(root), field);
        for (const actor of actors) {
          const wanted = expected(actor, field.extensions['access'], rule);
          const found = await refusal(actor, operation);
          if (found !== wanted)
            wrong.push(`${root}.${field.name} for ${actor.name}: ${found}, not ${wanted}`);
        }
      }
      expect(wrong).toEqual([]);
    },
    60_000,
  );

  it.each([
    ['AdminQuery', 'admin'],
    ['User', 'viewer'],
  ])(
    'follows role and scope for every caller (%s, below the field %s)',
    async (type, below) => {
      const wrong: string[] = [];
      for (const field of fieldsOf(type)) {
        const operation = operationOf('query', field, below);
        const rule = ruleOf(rootOf(type), field);
        for (const actor of actors) {
          const isHidden = type === 'AdminQuery' ? actor.viewer?.role !== 'ADMIN' : actor.viewer === null;
          const wanted = isHidden ? null : expected(actor, 'PUBLIC', rule);
          const found = await refusal(actor, operation);
          if (found !== wanted)
            wrong.push(`${type}.${field.name} for ${actor.name}: ${found}, not ${wanted}`);
        }
      }
      expect(wrong).toEqual([]);
    },
    60_000,
  );

  it("is limited through node(id:) by the scopes of an administrator's token", async () => {
    const owner = actors.find(({ name }) => name === 'user')?.viewer;
    if (!owner) throw new Error('There is no user.');
    const input = { name: 'x', group: 'default', idempotencyKey: 'x' } as const;
    const { key } = await createKey(test.orm.em.fork(), owner, input);
    for (const actor of actors) {
      const source = `{ node(id: "${key.id}") { id } }`;
      const { data } = await graphql({ schema, source, contextValue: contextOf(actor) });
      const sees = ['user', 'admin', 'token ADMIN_USERS'].includes(actor.name);
      expect([actor.name, data?.['node']]).toEqual([actor.name, sees ? { id: key.id } : null]);
    }
  });

  it('requires a recent authentication of the browser session for sensitive fields', async () => {
    const past = new Date(Date.now() - (freshUntil(new Date(0)).getTime() + 1000));
    const stale = { ...admin, session: { id: 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAV', authenticatedAt: past } };
    const refused = [];
    for (const field of fieldsOf('Mutation')) {
      const actor = { name: 'stale', viewer: stale, node: null };
      const code = await refusal(actor, operationOf('mutation', field));
      if (code === 'REAUTH_REQUIRED') refused.push(field.name);
    }
    expect(refused).toEqual(
      expect.arrayContaining([
        ...['accessTokenCreate', 'apiKeyReveal', 'apiKeyRotate', 'totpEnrol'],
        ...['adminWalletAdjust', 'adminGroupRatioSet', 'adminModelUpsert'],
        ...['adminUserCreate', 'adminUserUpdate', 'adminUserLinkCreate'],
        ...['adminCredentialAdd', 'adminCredentialRemove', 'adminNodeCreate', 'adminNodeTokenRotate'],
      ]),
    );
    expect(refused).not.toContain('apiKeyCreate');
  }, 30_000);
});

function isIn(scopes: readonly AccessScope[] | undefined, scope: TokenRule | undefined): boolean {
  return scopes?.some((one) => one === scope) ?? false;
}
