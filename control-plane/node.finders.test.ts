/** Everything with a global id is found by it, by who may see it and by nobody else. */
import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../test/control/app.ts';
import type { Browser, TestApp } from '../test/control/app.ts';
import { makeThings } from '../test/control/things.ts';
import { UserSchema } from './accounts/account.entity.ts';
import { createToken } from './accounts/token.service.ts';
import type { AccessScope } from './enums.ts';
import { createBus } from './events.ts';
import { prefixOf } from './ids.ts';
import { FINDERS } from './node.finders.ts';
import { TYPE_NAMES } from './node-interface.ts';
import { createSchema } from './schema.ts';
import { queryOne, sql } from './sql.ts';

const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';

/** Who finds an object beside its owner, an administrator or, of what is for all, anybody. */
const ADMINISTRATORS: ReadonlySet<string> = new Set([
  ...['UpstreamProvider', 'UpstreamCredential', 'UpstreamRoute', 'DataPlaneNode', 'AuditEvent'],
]);
const EVERYBODY: ReadonlySet<string> = new Set(['CatalogModel', 'PolicyVersion']);
/** What administrators do not read of others: chats, tokens, offers. */
const PERSONAL: ReadonlySet<string> = new Set(['AccessToken', 'Conversation', 'Message', 'PoolQuote']);

const schema = createSchema(createBus());

function typesWithIds(): string[] {
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) throw new Error('There is no Node.');
  return schema
    .getPossibleTypes(node)
    .filter((type) => isObjectType(type))
    .map(({ name }) => name)
    .toSorted();
}

describe('an id', () => {
  let test: TestApp;
  let ids: Readonly<Record<string, string>>;
  let owner: Browser;
  let admin: Browser;
  let other: Browser;

  beforeAll(async () => {
    test = await startTestApp();
    owner = await test.user('owner@example.com');
    other = await test.user('other@example.com');
    admin = await test.admin();
    ids = await makeEverything();
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();
  const one = async (statement: ReturnType<typeof sql>): Promise<string> =>
    (await queryOne<{ id: string }>(em(), statement))?.id ?? '';
  const find = async (browser: Browser, id: string): Promise<unknown> => {
    const { data, errors } = await browser.send(NODE, { id });
    return errors.length > 0 ? errors[0]?.extensions.code : data?.['node'];
  };

  /** One object of each type, of one owner, by its type's name. */
  async function makeEverything(): Promise<Record<string, string>> {
    const of = { email: 'owner@example.com' };
    const { id, email, role, allowedGroups } = await em().findOneOrFail(UserSchema, of);
    const { requestId: _, ...made } = await makeThings(em, {
      id,
      email,
      role,
      allowedGroups,
      session: null,
      token: null,
    });
    return {
      ...made,
      AuditEvent: await one(sql`select id from audit_event order by seq desc limit 1`),
      CatalogModel: await one(sql`select id from model where name = 'swift'`),
      PolicyVersion: await one(sql`select id from policy_version limit 1`),
      Session: await one(sql`select id from session where user_id = ${id}`),
    };
  }

  it('has a prefix and a finder for every type that has ids', () => {
    expect(Object.values(TYPE_NAMES).toSorted()).toEqual(typesWithIds());
    expect(Object.keys(FINDERS).toSorted()).toEqual(Object.keys(TYPE_NAMES).toSorted());
  });

  it.each(typesWithIds())('of type %s finds it for who may see it, and for nobody else', async (type) => {
    const id = ids[type] ?? '';
    expect(TYPE_NAMES[prefixOf(id) ?? '']).toBe(type);
    const found = { __typename: type, id };
    const isOwned = !ADMINISTRATORS.has(type) && !EVERYBODY.has(type);
    expect({
      owner: await find(owner, id),
      administrator: await find(admin, id),
      other: await find(other, id),
      nobody: await find(test.browser(), id),
    }).toEqual({
      owner: ADMINISTRATORS.has(type) ? null : found,
      administrator: PERSONAL.has(type) ? null : found,
      other: isOwned || ADMINISTRATORS.has(type) ? null : found,
      nobody: EVERYBODY.has(type) ? found : null,
    });
  });

  it.each(Object.entries(TYPE_NAMES))('with the prefix %s that nobody has finds nothing', async (prefix) => {
    for (const rest of ['0'.repeat(26), 'Z'.repeat(26), '01ARZ3NDEKTSV4RRFFQ69G5FAV'])
      expect(await find(admin, `${prefix}_${rest}`)).toBeNull();
  });

  it.each<[AccessScope, readonly string[]]>([
    ['ADMIN_NODES', ['DataPlaneNode']],
    ['ADMIN_AUDIT_READ', ['AuditEvent']],
    ['ADMIN_UPSTREAMS', ['UpstreamProvider', 'UpstreamCredential', 'UpstreamRoute']],
    ['ADMIN_WALLET', ['Wallet', 'LedgerEntry']],
    ['ADMIN_STOREFRONT', ['Pool', 'PoolPeriod']],
  ])("finds for an administrator's script with %s no more than that", async (scope, wanted) => {
    const { id, email, role, allowedGroups } = await em().findOneOrFail(UserSchema, {
      email: 'admin@example.com',
    });
    const viewer = { id, email, role, allowedGroups, session: null, token: null };
    const { secret } = await createToken(em(), viewer, { name: scope, scopes: [scope], expiresInDays: 1 });
    const seen: string[] = [];
    for (const type of typesWithIds().filter((name) => !EVERYBODY.has(name))) {
      const answer = await test
        .browser()
        .send(NODE, { id: ids[type] ?? '' }, { authorization: `Bearer ${secret}` });
      if (answer.data?.['node']) seen.push(type);
    }
    expect(seen).toEqual([...wanted].toSorted());
  });
});
