/** Everything with a global id is found by it, by who may see it and by nobody else. */
import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../test/control/app.ts';
import type { Browser, TestApp } from '../test/control/app.ts';
import { reported } from '../test/money-fixture.ts';
import { UserSchema } from './accounts/account.entity.ts';
import { createToken } from './accounts/token.service.ts';
import { audit } from './audit/audit.service.ts';
import { SYSTEM_ACTOR } from './context.ts';
import type { AccessScope } from './enums.ts';
import { createBus } from './events.ts';
import { newId, prefixOf } from './ids.ts';
import { FINDERS } from './node.finders.ts';
import { TYPE_NAMES } from './node-interface.ts';
import { createSchema } from './schema.ts';
import { inTransaction, query, queryOne, sql } from './sql.ts';
import { settle } from './usage/settlement.service.ts';
import { creditCash } from './wallet/movements.ts';

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
    const userId = pick<string>(await owner.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    const walletId = await one(sql`select id from wallet where user_id = ${userId}`);
    const made = Object.fromEntries(
      Object.entries({
        AccessToken: 'tok',
        Conversation: 'con',
        DataPlaneNode: 'nod',
        LinkedIdentity: 'idn',
        Message: 'msg',
        Passkey: 'psk',
        Pool: 'pool',
        PoolPeriod: 'per',
        PoolQuote: 'quo',
        UpstreamCredential: 'crd',
        UpstreamProvider: 'prv',
        UpstreamRoute: 'rte',
      } as const).map(([type, prefix]) => [type, newId(prefix)]),
    );
    await insertRows(made, userId);
    const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', kind: 'ADJUSTMENT' as const };
    await creditCash(em(), { ...movement, amount: 1_000n, reference: 'cash' });
    await inTransaction(em(), (inner) =>
      audit(inner, { actor: SYSTEM_ACTOR, action: 'x', targetType: 'X', targetId: null, reason: 'test' }),
    );
    const free = { walletId, journalId: null, leaseId: null, seq: null, cost: 0n, status: 'FAILED' as const };
    const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: made['DataPlaneNode'] ?? '' };
    await settle(em(), { node, records: [reported({ ...free, at: new Date(Date.now() - 40 * 3_600_000) })] });
    const key = await owner.send(
      'mutation { apiKeyCreate(input: { name: "x", idempotencyKey: "x" }) { apiKey { id } } }',
    );
    return {
      ...made,
      User: userId,
      Wallet: walletId,
      ApiKey: pick<string>(key, 'apiKeyCreate', 'apiKey', 'id'),
      AuditEvent: await one(sql`select id from audit_event order by seq desc limit 1`),
      CatalogModel: await one(sql`select id from model where name = 'swift'`),
      LedgerEntry: await one(sql`select id from ledger_entry where wallet_id = ${walletId} limit 1`),
      PolicyVersion: await one(sql`select id from policy_version limit 1`),
      Session: await one(sql`select id from session where user_id = ${userId}`),
      UsageEntry: await one(sql`select id from usage_entry where wallet_id = ${walletId}`),
    };
  }

  async function insertRows(made: Readonly<Record<string, string>>, of: string): Promise<void> {
    const { UpstreamProvider: provider, UpstreamRoute: route, UpstreamCredential: credential } = made;
    for (const statement of [
      sql`insert into access_token (id, user_id, name, prefix, token_digest, scopes, expires_at)
        values (${made['AccessToken']}, ${of}, 'x', 'gqt_', 'x', '{KEYS_READ}', now() + interval '1 day')`,
      sql`insert into personal_switch values (${of}, 'PREFERENCE_PROFILE', true, now())`,
      sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
        values (${made['Conversation']}, ${of}, 'x', 'swift', now(), now())`,
      sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
        values (${made['Message']}, ${made['Conversation']}, 'USER', 'x', 'COMPLETE', now())`,
      sql`insert into data_plane_node (id, name, token_digest) values (${made['DataPlaneNode']}, 'one', 'x')`,
      sql`insert into linked_identity (id, user_id, issuer, subject)
        values (${made['LinkedIdentity']}, ${of}, 'x', 'x')`,
      sql`insert into passkey (id, user_id, credential_id, public_key, counter, transports, name)
        values (${made['Passkey']}, ${of}, 'x', 'x', 0, '{}', 'x')`,
      sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, starts_at, ends_at)
        select ${made['Pool']}, ${of}, id, 'x', 'owned', 60, now(), now() + interval '30 days' from wallet
        where user_id = ${of}`,
      sql`insert into pool_quotes (id, user_id, model_ids, lines, total, gift_credit, rpm_cap, period_days,
          starts_at, ends_at, expires_at)
        values (${made['PoolQuote']}, ${of}, '{}', '[]', 1, 0, 60, 30, now(),
          now() + interval '30 days', now() + interval '15 minutes')`,
      sql`insert into pool_periods (id, pool_id, number, quote_id, starts_at, ends_at, paid, gift_granted)
        values (${made['PoolPeriod']}, ${made['Pool']}, 1, ${made['PoolQuote']}, now(),
          now() + interval '30 days', 1, 0)`,
      sql`insert into provider (id, name, protocols, base_url, enabled, timeouts)
        values (${provider}, 'x', '{openai-chat}', 'http://127.0.0.1:9/v1', true, '{}')`,
      sql`insert into credential (id, provider_id, label, suffix, origin, sealed)
        values (${credential}, ${provider}, 'x', '1234', 'http://127.0.0.1:9', 'x')`,
      sql`insert into route (id, model_id, provider_id, upstream_model, families, priority, weight, enabled)
        select ${route}, id, ${provider}, 'x', '{chat_completions}', 1, 1, true from model
        where name = 'swift'`,
    ])
      await query(em(), statement);
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
