/**
 * A walk over every way through the API that ends at an object: nobody meets things of somebody else, and an
 * access token is stopped at the first step that its scope does not reach.
 */
import { getNamedType, graphql, isLeafType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../test/control/app.ts';
import type { TestApp } from '../test/control/app.ts';
import { NOBODY, smallestOf } from '../test/control/smallest.ts';
import { makeThings } from '../test/control/things.ts';
import type { Things } from '../test/control/things.ts';
import { ruleOf } from './access.ts';
import { UserSchema } from './accounts/account.entity.ts';
import { createToken, viewerOfAccessToken } from './accounts/token.service.ts';
import { Batches } from './batches.ts';
import type { Context, Viewer } from './context.ts';
import { AccessScope } from './enums.ts';
import { createBus } from './events.ts';
import { newId } from './ids.ts';
import { Playground } from './playground/live.ts';
import { createSchema } from './schema.ts';

type Field = GraphQLField<unknown, Context>;
interface Step {
  type: GraphQLObjectType;
  field: Field;
}
/** From a field of Query to an object: each step is a field of what the one before leads to. */
type Way = readonly Step[];

const SCOPES = Object.keys(AccessScope) as AccessScope[];
const schema = createSchema(createBus());
const NODE = { viewer: null, node: { id: NOBODY, name: 'node' } };
const ANYBODY = { viewer: null, node: null };
/** Where nothing stands in this test: nobody can be stopped beyond. A new field is here or has an object. */
const EMPTY = [
  'rateLimit',
  'viewer.policyAcceptances',
  'signInOptions.oidcProviders',
  'catalogModel.deprecation',
  'pool.models',
  'pool.renewalQuote',
  'requestReceipt.place',
  'viewer.policyAcceptances.version',
  'viewer.wallet.leases',
  'viewer.usageSummary.series',
  'viewer.usageSummary.groups',
  'admin.providers.timeouts',
  'admin.routes.pools',
  'catalogModel.deprecation.replacement',
  'pool.models.currentModel',
  'pool.renewalQuote.models',
  'pool.renewalQuote.lines',
  'pool.periods.ledgerEntries',
  'usageEntry.key.allowedModels',
  'usageEntry.key.rotation',
  'usageEntry.key.pool',
  'viewer.wallet.leases.node',
  'viewer.usageSummary.series.totals',
  'viewer.usageSummary.groups.totals',
  'admin.ledger.nodes.reverses',
  'admin.providers.health.nodes',
  'admin.ledgerCheck.rules.violations',
  'viewer.playground.conversations.nodes.messages.nodes.attachments',
  'viewer.playground.conversations.nodes.messages.nodes.usage',
];
const WALK_MS = 170_000;

const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields()) as Field[];

/** The shortest way to each type, and from there one step to each object or value with a rule of its own. */
function waysFromQuery(): Way[] {
  const query = schema.getQueryType();
  if (!query) throw new Error('There is no Query.');
  const shortest = new Map<string, Way>([[query.name, []]]);
  const ways: Way[] = [];
  for (const [name, way] of shortest) {
    const type = schema.getType(name);
    if (!isObjectType(type)) continue;
    for (const field of fieldsOf(type)) {
      const named = getNamedType(field.type);
      const further = [...way, { type, field }];
      if (isObjectType(named) || (isLeafType(named) && ruleOf(type, field) !== 'ANY')) ways.push(further);
      if (!isObjectType(named)) continue;
      if (!shortest.has(named.name)) shortest.set(named.name, further);
    }
  }
  return ways;
}

const WAYS = waysFromQuery();
const nameOf = (way: Way): string => way.map(({ field }) => field.name).join('.');

/** Whether there is an object at the end of these names, in any item of the lists between. */
function isThere(data: unknown, names: readonly string[]): boolean {
  if (data === null || data === undefined) return false;
  if (Array.isArray(data)) return data.some((item) => isThere(item, names));
  const [name, ...rest] = names;
  return name === undefined || isThere(Object(data)[name], rest);
}

/** Plain values of an object, and of the items of a list, without arguments or a rule of their own. */
function leavesOf(type: GraphQLObjectType): string {
  const plain = fieldsOf(type).filter(
    (field) =>
      isLeafType(getNamedType(field.type)) &&
      ruleOf(type, field) === 'ANY' &&
      !field.args.some((one) => isNonNullType(one.type)),
  );
  const list = type.getFields()['nodes'];
  const item = list && getNamedType(list.type);
  const items = isObjectType(item) && type.name.endsWith('Connection') ? [`nodes { ${leavesOf(item)} }`] : [];
  return ['__typename', ...plain.map(({ name }) => name), ...items].join(' ');
}

/** What a way is given for the arguments that name something, by `Type.field`. */
type Names = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const SPAN = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' };

function namesIn(things: Things): Names {
  return {
    'Query.catalogModel': { name: 'swift' },
    'Query.pool': { id: things.Pool },
    'Query.usageEntry': { requestId: things.requestId },
    'Query.requestReceipt': { requestId: things.requestId },
    'AdminQuery.user': { id: things.User },
    'AdminQuery.usageSummary': { range: SPAN },
    'User.usageSummary': { range: SPAN },
    'Pool.usageSummary': { range: SPAN },
    'ApiKey.usageSummary': { range: SPAN },
  };
}

describe('a walk over the API', () => {
  let test: TestApp;
  let admin: Viewer;
  let other: Viewer;
  let owner: Viewer;
  /** What only the owner, and administrators where they ask for it, may meet. */
  let marks: string[];
  let named: Readonly<Record<'owner' | 'other' | 'admin', Names>>;

  beforeAll(async () => {
    test = await startTestApp();
    for (const name of ['owner', 'other']) await test.user(`${name}@example.com`);
    await test.admin();
    admin = await viewer('admin@example.com');
    other = await viewer('other@example.com');
    owner = await viewer('owner@example.com');
    const things = {
      owner: await makeThings(em, owner),
      other: await makeThings(em, other),
      admin: await makeThings(em, admin),
    };
    marks = [owner.email, ...Object.values(things.owner)];
    named = { owner: namesIn(things.owner), other: namesIn(things.other), admin: namesIn(things.admin) };
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function viewer(email: string): Promise<Viewer> {
    const { id, role, allowedGroups } = await em().findOneOrFail(UserSchema, { email });
    const session = { id: newId('ses'), authenticatedAt: new Date() };
    return { id, email, role, allowedGroups, session, token: null };
  }

  async function script(who: Viewer, scope: AccessScope): Promise<Viewer> {
    const { secret } = await createToken(em(), who, { name: scope, scopes: [scope], expiresInDays: 1 });
    const found = await viewerOfAccessToken(em(), secret);
    if (!found) throw new Error('The token is not known.');
    return found;
  }

  async function walk(way: Way, who: Pick<Context, 'viewer' | 'node'>, names = named.admin) {
    const fork = em();
    const context: Partial<Context> = {
      em: fork,
      ...who,
      ip: '192.0.2.1',
      userAgent: null,
      requestId: 'test',
      settings: test.settings,
      batches: new Batches(fork),
      playground: new Playground(em),
      budget: null,
    };
    const variableValues: Record<string, unknown> = {};
    const declared: string[] = [];
    const calls = way.map(({ type, field }, at) => {
      const given = field.args
        .filter((one) => isNonNullType(one.type) && one.defaultValue === undefined)
        .map((one) => {
          const name = `a${at}${one.name}`;
          declared.push(`$${name}: ${String(one.type)}`);
          variableValues[name] = names[`${type.name}.${field.name}`]?.[one.name] ?? smallestOf(one.type);
          return `${one.name}: $${name}`;
        });
      return field.name + (given.length > 0 ? `(${given.join(', ')})` : '');
    });
    const last = way.at(-1);
    const end = last && getNamedType(last.field.type);
    const selection = calls.reduceRight(
      (inner, call) => (inner === '' ? call : `${call} { ${inner} }`),
      isObjectType(end) ? leavesOf(end) : '',
    );
    const source = `query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${selection} }`;
    const { data, errors } = await graphql({
      schema,
      source,
      variableValues,
      contextValue: context as Context,
    });
    return { data, codes: (errors ?? []).map(({ extensions, message }) => extensions['code'] ?? message) };
  }

  it(
    'leads nobody to what belongs to somebody else',
    async () => {
      const wrong: string[] = [];
      for (const way of WAYS)
        for (const [name, who] of [
          ['anybody', ANYBODY],
          ['another user', { viewer: other, node: null }],
          ['a node', NODE],
        ] as const)
          for (const names of [named.owner, named.other]) {
            const met = JSON.stringify((await walk(way, who, names)).data);
            for (const mark of marks)
              if (met.includes(mark)) wrong.push(`${nameOf(way)} for ${name}: ${mark}`);
          }
      expect(wrong).toEqual([]);
    },
    WALK_MS,
  );

  it(
    'leads the owner to all of it but what is for administrators, so that nothing met means something',
    async () => {
      const met = [];
      for (const way of WAYS)
        met.push(JSON.stringify((await walk(way, { viewer: owner, node: null }, named.owner)).data));
      const all = met.join();
      expect(marks.filter((mark) => !all.includes(mark)).map((mark) => mark.split('_')[0])).toEqual([
        'nod',
        'quo',
        'crd',
        'prv',
        'rte',
      ]);
    },
    WALK_MS,
  );

  it(
    'stops a script at the first step that its scope does not reach, and at no other',
    async () => {
      const scripts = await Promise.all(
        SCOPES.map(async (scope) => [scope, await script(admin, scope)] as const),
      );
      const wrong: string[] = [];
      const seen = new Set<string>();
      for (const way of WAYS) {
        const whole = await walk(way, { viewer: admin, node: null });
        const names = way.map(({ field }) => field.name);
        if (isThere(whole.data, names)) seen.add(nameOf(way));
        for (const [scope, who] of scripts) {
          const stop = way.findIndex(({ type, field }) => {
            const rule = ruleOf(type, field);
            return rule !== 'ANY' && ![rule].flat().includes(scope);
          });
          const { data, codes } = await walk(way, { viewer: who, node: null });
          if (stop < 0 && codes.includes('FORBIDDEN')) wrong.push(`${nameOf(way)} for ${scope}: stopped`);
          if (stop >= 0 && isThere(data, names.slice(0, stop + 1)))
            wrong.push(`${nameOf(way)} for ${scope}: passed`);
        }
      }
      expect(wrong).toEqual([]);
      expect(WAYS.map(nameOf).filter((name) => !seen.has(name))).toEqual(EMPTY);
    },
    WALK_MS,
  );
});
