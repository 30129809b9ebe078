/**
 * Queries every path of fields that leads to an object: no caller reads objects of another user, and an
 * access token is refused at the first field that its scope does not allow.
 */
import { execute, getNamedType, isLeafType, isNonNullType, isObjectType, parse, validate } from 'graphql';
import type { DocumentNode, GraphQLArgument, GraphQLField, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { NOBODY, smallestInput } from '../../test/control/smallest-input.ts';
import { createOwnedObjects } from '../../test/control/owned-objects.ts';
import type { OwnedObjects } from '../../test/control/owned-objects.ts';
import { ruleOf } from './access.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { createToken, viewerOfAccessToken } from '../accounts/token.service.ts';
import { Batches } from '../database/batches.ts';
import type { Context, Viewer } from './context.ts';
import { AccessScope } from './enums.ts';
import { createBus } from '../database/events.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { newId } from '../database/ids.ts';
import { Playground } from '../playground/playground.ts';
import { createSchema } from '../schema/schema.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';

type Field = GraphQLField<unknown, Context>;
interface Step {
  type: GraphQLObjectType;
  field: Field;
}
/**
 * A path from a field of Query to an object; each step is a field of the type that the step before returns.
 */
type Path = readonly Step[];

const SCOPES = Object.keys(AccessScope) as AccessScope[];
const schema = createSchema(createBus());
const NODE = { viewer: null, node: { id: NOBODY, name: 'node' } };
const ANONYMOUS = { viewer: null, node: null };
/**
 * Paths without an object in this test, which therefore prove nothing. Every other path must have an object.
 */
const EMPTY = [
  'rateLimit',
  'viewer.policyAcceptances',
  'signInOptions.oidcProviders',
  'catalogModel.dailyTimes',
  'catalogModel.deprecation',
  'pool.models',
  'pool.renewalQuote',
  'requestReceipt.place',
  'paymentOptions.card',
  'viewer.policyAcceptances.version',
  'viewer.wallet.leases',
  'viewer.wallet.spendAlerts',
  'viewer.wallet.spendAlerts.keyId',
  'viewer.wallet.spendAlerts.keyName',
  'viewer.wallet.history.nodes.usage',
  'viewer.personalIntelligence.injectionPreview',
  'viewer.usageSummary.series',
  'viewer.usageSummary.groups',
  'viewer.usageSummary.timings.series',
  'viewer.usageSummary.timings.series.timings',
  'viewer.usageSummary.timings.groups',
  'viewer.usageSummary.timings.groups.timings',
  'viewer.usageSummary.timings.totals.duration',
  'viewer.usageSummary.timings.totals.ttft',
  'admin.traffic.extraByModel',
  'admin.traffic.extraByModel.extra',
  'admin.traffic.rows',
  'admin.traffic.rows.figures',
  'admin.traffic.series',
  'admin.traffic.series.figures',
  'admin.providers.access',
  'admin.providers.timeouts',
  'admin.routes.pools',
  'admin.upstreamPresets.access.headers',
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
  'admin.providers.quirks',
  'admin.routes.quirks',
  'admin.ledgerCheck.rules.violations',
  'viewer.personalIntelligence.injectionPreview.items',
  'viewer.playground.conversations.nodes.messages.nodes.attachments',
  'viewer.playground.conversations.nodes.messages.nodes.usage',
  'viewer.playground.conversations.nodes.messages.nodes.usedItems',
];
const TEST_MS = 170_000;

const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields()) as Field[];

/** The shortest path to each type, continued by one step to each object and each value with its own rule. */
function pathsFromQuery(): Path[] {
  const query = schema.getQueryType();
  if (!query) throw new Error('There is no Query.');
  const shortest = new Map<string, Path>([[query.name, []]]);
  const paths: Path[] = [];
  for (const [name, path] of shortest) {
    const type = schema.getType(name);
    if (!isObjectType(type)) continue;
    for (const field of fieldsOf(type)) {
      const named = getNamedType(field.type);
      const longer = [...path, { type, field }];
      if (isObjectType(named) || (isLeafType(named) && ruleOf(type, field) !== 'ANY')) paths.push(longer);
      if (!isObjectType(named)) continue;
      if (!shortest.has(named.name)) shortest.set(named.name, longer);
    }
  }
  return paths;
}

const PATHS = pathsFromQuery();
const nameOf = (path: Path): string => path.map(({ field }) => field.name).join('.');

/** Whether the data has a value at the end of these field names, in any item of the lists between. */
function hasValueAt(data: unknown, names: readonly string[]): boolean {
  if (data === null || data === undefined) return false;
  if (Array.isArray(data)) return data.some((item) => hasValueAt(item, names));
  const [name, ...rest] = names;
  return name === undefined || hasValueAt(Object(data)[name], rest);
}

/** Selection of the plain values of an object, or of a list's items, that need no arguments and no rule. */
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

/** Arguments of fields on the paths, by `Type.field`. */
type Arguments = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const SPAN = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' };

function argumentsFor(objects: OwnedObjects): Arguments {
  return {
    'Query.catalogModel': { name: 'swift' },
    'Query.pool': { id: objects.Pool },
    'Query.usageEntry': { requestId: objects.requestId },
    'Query.topUp': { id: objects.TopUp },
    'Query.requestReceipt': { requestId: objects.requestId },
    'AdminQuery.user': { id: objects.User },
    'AdminQuery.usageSummary': { range: SPAN },
    'AdminQuery.traffic': { subject: 'NODE', range: SPAN, bucket: 'DAY' },
    'User.usageSummary': { range: SPAN },
    'Pool.usageSummary': { range: SPAN },
    'ApiKey.usageSummary': { range: SPAN },
  };
}

const isRequired = (argument: GraphQLArgument): boolean =>
  isNonNullType(argument.type) && argument.defaultValue === undefined;

/** The variables of a path's document, one for each required argument. */
function variablesOf(path: Path, given: Arguments): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [at, { type, field }] of path.entries())
    for (const one of field.args.filter(isRequired))
      values[`a${at}${one.name}`] =
        given[`${type.name}.${field.name}`]?.[one.name] ?? smallestInput(one.type);
  return values;
}

const documents = new Map<Path, DocumentNode>();

/** The query along a path, checked. The same for all callers, so it is built once. */
function documentOf(path: Path): DocumentNode {
  const known = documents.get(path);
  if (known) return known;
  const required = path.flatMap(({ field }, at) => field.args.filter(isRequired).map((one) => ({ at, one })));
  const declared = required.map(({ at, one }) => `$a${at}${one.name}: ${String(one.type)}`);
  const calls = path.map(({ field }, at) => {
    const passed = field.args.filter(isRequired).map(({ name }) => `${name}: $a${at}${name}`);
    return field.name + (passed.length > 0 ? `(${passed.join(', ')})` : '');
  });
  const last = path.at(-1);
  const end = last && getNamedType(last.field.type);
  const selection = calls.reduceRight(
    (inner, call) => (inner === '' ? call : `${call} { ${inner} }`),
    isObjectType(end) ? leavesOf(end) : '',
  );
  const document = parse(`query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${selection} }`);
  expect(validate(schema, document)).toEqual([]);
  documents.set(path, document);
  return document;
}

/** Arguments for a path: each list that names another object. Most paths name none. */
function distinct(path: Path, lists: readonly Arguments[]): readonly Arguments[] {
  const texts = new Map(lists.map((given) => [JSON.stringify(variablesOf(path, given)), given]));
  return [...texts.values()];
}

describe('a query along every path of the API', () => {
  let test: TestApp;
  let admin: Viewer;
  let other: Viewer;
  let owner: Viewer;
  /** E-mail address and ids that only the owner and administrators may read. */
  let privateValues: string[];
  let argumentsOf: Readonly<Record<'owner' | 'other' | 'admin', Arguments>>;

  beforeAll(async () => {
    test = await startTestApp();
    for (const name of ['owner', 'other']) await test.user(`${name}@example.com`);
    await test.admin();
    admin = await viewer('admin@example.com');
    other = await viewer('other@example.com');
    owner = await viewer('owner@example.com');
    const objects = {
      owner: await createOwnedObjects(test, owner),
      other: await createOwnedObjects(test, other),
      admin: await createOwnedObjects(test, admin),
    };
    privateValues = [owner.email, ...Object.values(objects.owner)];
    argumentsOf = {
      owner: argumentsFor(objects.owner),
      other: argumentsFor(objects.other),
      admin: argumentsFor(objects.admin),
    };
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

  async function query(path: Path, who: Pick<Context, 'viewer' | 'node'>, given = argumentsOf.admin) {
    const fork = em();
    const context: Partial<Context> = {
      em: fork,
      ...who,
      ip: '192.0.2.1',
      userAgent: null,
      requestId: 'test',
      settings: test.settings,
      batches: new Batches(fork),
      playground: new Playground(em, contentKeysOf(test)),
      budget: null,
      usage: POSTGRES_USAGE,
    };
    const { data, errors } = await execute({
      schema,
      document: documentOf(path),
      variableValues: variablesOf(path, given),
      contextValue: context as Context,
    });
    return { data, codes: (errors ?? []).map(({ extensions, message }) => extensions['code'] ?? message) };
  }

  it(
    'returns no private value to anonymous callers, other users and nodes',
    async () => {
      const wrong: string[] = [];
      for (const path of PATHS)
        for (const [name, who] of [
          ['anonymous', ANONYMOUS],
          ['another user', { viewer: other, node: null }],
          ['a node', NODE],
        ] as const)
          for (const given of distinct(path, [argumentsOf.owner, argumentsOf.other])) {
            const data = JSON.stringify((await query(path, who, given)).data);
            for (const value of privateValues)
              if (data.includes(value)) wrong.push(`${nameOf(path)} for ${name}: ${value}`);
          }
      expect(wrong).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'returns to the owner all private values except those for administrators, so that the paths are complete',
    async () => {
      const found = [];
      for (const path of PATHS)
        found.push(
          JSON.stringify((await query(path, { viewer: owner, node: null }, argumentsOf.owner)).data),
        );
      const all = found.join();
      const missing = privateValues.filter((value) => !all.includes(value));
      expect(missing.map((value) => value.split('_')[0])).toEqual(['nod', 'quo', 'crd', 'prv', 'rte']);
    },
    TEST_MS,
  );

  it(
    'refuses an access token at the first field that its scope does not allow, and at no other',
    async () => {
      const scripts = await Promise.all(
        SCOPES.map(async (scope) => [scope, await script(admin, scope)] as const),
      );
      const wrong: string[] = [];
      const seen = new Set<string>();
      for (const path of PATHS) {
        const whole = await query(path, { viewer: admin, node: null });
        const names = path.map(({ field }) => field.name);
        if (hasValueAt(whole.data, names)) seen.add(nameOf(path));
        for (const [scope, who] of scripts) {
          const refusedAt = path.findIndex(({ type, field }) => {
            const rule = ruleOf(type, field);
            return rule !== 'ANY' && ![rule].flat().includes(scope);
          });
          const { data, codes } = await query(path, { viewer: who, node: null });
          if (refusedAt < 0 && codes.includes('FORBIDDEN'))
            wrong.push(`${nameOf(path)} for ${scope}: refused`);
          if (refusedAt >= 0 && hasValueAt(data, names.slice(0, refusedAt + 1)))
            wrong.push(`${nameOf(path)} for ${scope}: allowed`);
        }
      }
      expect(wrong).toEqual([]);
      const empty = PATHS.map(nameOf).filter((name) => !seen.has(name));
      expect(empty.toSorted()).toEqual(EMPTY.toSorted());
    },
    TEST_MS,
  );
});
