/** Global objects are found by their ids, and only by callers who may see them. */
import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { createOwnedObjects } from '../../test/control/owned-objects.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { createToken } from '../accounts/token.service.ts';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { createBus } from '../database/events.ts';
import { prefixOf } from '../database/ids.ts';
import { FINDERS } from './lookup.finders.ts';
import { TYPE_NAMES } from '../graphql/global-object.ts';
import { createSchema } from './schema.ts';
import { inTransaction, queryOne, sql } from '../database/sql.ts';

const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';

/** Types that only administrators may see. */
const FOR_ADMINISTRATORS: ReadonlySet<string> = new Set([
  ...['UpstreamProvider', 'UpstreamCredential', 'UpstreamRoute', 'DataPlaneNode', 'AuditEvent'],
]);
/** Types that anybody may see. */
const PUBLIC: ReadonlySet<string> = new Set(['CatalogModel', 'PolicyVersion']);
/** Types that administrators may not see of other users. */
const PERSONAL: ReadonlySet<string> = new Set([
  'AccessToken',
  'Conversation',
  'DerivedItem',
  'Message',
  'PoolQuote',
]);

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

describe('a global object', () => {
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
    ids = await createObjects();
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();
  const one = async (statement: ReturnType<typeof sql>): Promise<string> =>
    (await queryOne<{ id: string }>(em(), statement))?.id ?? '';
  const find = async (browser: Browser, id: string): Promise<unknown> => {
    const { data, errors } = await browser.send(NODE, { id });
    return errors.length > 0 ? errors[0]?.extensions.code : data?.['node'];
  };

  /** A new access token of the administrator. */
  async function tokenOf(scopes: AccessScope[]): Promise<string> {
    const { id, email, role, allowedGroups } = await em().findOneOrFail(UserSchema, {
      email: 'admin@example.com',
    });
    const viewer = { id, email, role, allowedGroups, session: null, token: null };
    return (await createToken(em(), viewer, { name: scopes.join(), scopes, expiresInDays: 1 })).secret;
  }

  /** The id of one object of each type, all of one owner, by type name. */
  async function createObjects(): Promise<Record<string, string>> {
    const of = { email: 'owner@example.com' };
    const { id, email, role, allowedGroups } = await em().findOneOrFail(UserSchema, of);
    const { requestId: _, ...made } = await createOwnedObjects(test, {
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

  it('has an id prefix and a finder, whatever its type', () => {
    expect(Object.values(TYPE_NAMES).toSorted()).toEqual(typesWithIds());
    expect(Object.keys(FINDERS).toSorted()).toEqual(Object.keys(TYPE_NAMES).toSorted());
  });

  it.each(typesWithIds())('is returned by id only to callers who may see it: %s', async (type) => {
    const id = ids[type] ?? '';
    expect(TYPE_NAMES[prefixOf(id) ?? '']).toBe(type);
    const found = { __typename: type, id };
    const isOwned = !FOR_ADMINISTRATORS.has(type) && !PUBLIC.has(type);
    expect({
      owner: await find(owner, id),
      administrator: await find(admin, id),
      other: await find(other, id),
      anonymous: await find(test.browser(), id),
    }).toEqual({
      owner: FOR_ADMINISTRATORS.has(type) ? null : found,
      administrator: PERSONAL.has(type) ? null : found,
      other: isOwned || FOR_ADMINISTRATORS.has(type) ? null : found,
      anonymous: PUBLIC.has(type) ? found : null,
    });
  });

  it.each(Object.entries(TYPE_NAMES))('is null for an unknown id with the prefix %s', async (prefix) => {
    for (const rest of ['0'.repeat(26), 'Z'.repeat(26), '01ARZ3NDEKTSV4RRFFQ69G5FAV'])
      expect(await find(admin, `${prefix}_${rest}`)).toBeNull();
  });

  it.each<[AccessScope, readonly string[]]>([
    ['ADMIN_NODES', ['DataPlaneNode']],
    ['ADMIN_AUDIT_READ', ['AuditEvent']],
    ['ADMIN_UPSTREAMS', ['UpstreamProvider', 'UpstreamCredential', 'UpstreamRoute']],
    ['ADMIN_WALLET', ['Wallet', 'LedgerEntry', 'TopUp']],
    ['ADMIN_STOREFRONT', ['Pool', 'PoolPeriod']],
  ])("is found by an administrator's token with %s only if its type is %j", async (scope, wanted) => {
    const secret = await tokenOf([scope]);
    const seen: string[] = [];
    for (const type of typesWithIds().filter((name) => !PUBLIC.has(name))) {
      const answer = await test
        .browser()
        .send(NODE, { id: ids[type] ?? '' }, { authorization: `Bearer ${secret}` });
      if (answer.data?.['node']) seen.push(type);
    }
    expect(seen).toEqual([...wanted].toSorted());
  });

  const AUDITED = [
    ...['ApiKey', 'CatalogModel', 'DataPlaneNode', 'PolicyVersion', 'Pool', 'UpstreamProvider'],
    ...['TopUp', 'UpstreamRoute', 'User', 'Wallet'],
  ];

  it.each<[AccessScope[] | 'a browser', readonly string[]]>([
    ['a browser', AUDITED],
    [['ADMIN_AUDIT_READ'], []],
    [
      ['ADMIN_AUDIT_READ', 'ADMIN_USERS'],
      ['ApiKey', 'PolicyVersion', 'User'],
    ],
    [
      ['ADMIN_AUDIT_READ', 'ADMIN_CATALOG', 'ADMIN_UPSTREAMS'],
      ['CatalogModel', 'UpstreamProvider', 'UpstreamRoute'],
    ],
    [
      ['ADMIN_AUDIT_READ', 'ADMIN_WALLET', 'ADMIN_STOREFRONT', 'ADMIN_NODES'],
      ['DataPlaneNode', 'Pool', 'TopUp', 'Wallet'],
    ],
  ])('is shown as the target of audit events to %s only if its type is %j', async (scopes, wanted) => {
    const action = `test.${String(scopes)}`;
    await inTransaction(em(), async (inner) => {
      for (const targetId of [...typesWithIds().map((type) => ids[type] ?? ''), 'default', null])
        await audit(inner, { actor: SYSTEM_ACTOR, action, targetType: 'Test', targetId, reason: 'test' });
    });
    const headers: Record<string, string> =
      scopes === 'a browser' ? {} : { authorization: `Bearer ${await tokenOf(scopes)}` };
    const answer = await (scopes === 'a browser' ? admin : test.browser()).send(
      `query ($action: String!) { admin { auditLog(first: 100, filter: { actions: [$action] }) { nodes {
        targetId target { __typename id } } } } }`,
      { action },
      headers,
    );
    expect(answer.errors).toEqual([]);
    const events = pick<{ targetId: string | null; target: { __typename: string; id: string } | null }[]>(
      answer,
      'admin',
      'auditLog',
      'nodes',
    );
    expect(events).toHaveLength(typesWithIds().length + 2);
    const targets = events.flatMap(({ targetId, target }) => (target ? [{ targetId, ...target }] : []));
    expect(targets.map(({ __typename }) => __typename).toSorted()).toEqual([...wanted].toSorted());
    for (const { targetId, id } of targets) expect(id).toBe(targetId);
  });
});
