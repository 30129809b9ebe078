/** No user or administrator can change objects of another user through the mutations of users. */
import { createHash } from 'node:crypto';
import { getNamedType, graphql, isInputObjectType, isObjectType } from 'graphql';
import type { GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { tableDigests } from '../../test/control/table-digests.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { Batches } from '../database/batches.ts';
import type { Context, Viewer } from './context.ts';
import { createBus } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { createKey } from '../keys/key.service.ts';
import { Playground } from '../playground/playground.ts';
import { createSchema } from '../schema/schema.ts';
import { createOwnedItem } from '../../test/control/owned-items.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { encryptSecret } from '../upstreams/stored-secrets.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';
import { MONTH } from '../wallet/spend-alert.service.ts';

/** Objects of a user whose ids another caller might send. */
type OwnedObject =
  | 'accessToken'
  | 'conversation'
  | 'identity'
  | 'item'
  | 'key'
  | 'message'
  | 'passkey'
  | 'pool'
  | 'quote'
  | 'renewal'
  | 'session'
  | 'spendAlert'
  | 'topUp'
  | 'webhook'
  | 'webhookDelivery';

interface Attempt {
  /** The object whose id each input field takes. */
  ids: Readonly<Record<string, OwnedObject>>;
  /** Other input fields, with values that the owner could send. */
  rest?: Readonly<Record<string, unknown>>;
  /** The code for other callers, if it is not NOT_FOUND. */
  code?: string;
}

const ONCE = { idempotencyKey: 'once' };

/**
 * Every mutation of users that takes the id of an owned object. The test fails for a mutation without an
 * entry.
 */
const ATTEMPTS: Readonly<Record<string, readonly Attempt[]>> = {
  accessTokenRevoke: [{ ids: { id: 'accessToken' } }],
  apiKeyCreate: [{ ids: { poolId: 'pool' }, rest: { ...ONCE, name: 'x', group: 'DEFAULT' } }],
  apiKeyDisable: [{ ids: { id: 'key' } }, { ids: { id: 'key' }, rest: { leaked: true } }],
  apiKeyEnable: [{ ids: { id: 'key' } }],
  apiKeyGraceEnd: [{ ids: { id: 'key' } }],
  apiKeyReveal: [{ ids: { id: 'key' } }],
  apiKeyRevoke: [{ ids: { id: 'key' } }],
  apiKeyRotate: [{ ids: { id: 'key' }, rest: { ...ONCE, graceSeconds: 0 } }],
  apiKeyUpdate: [{ ids: { id: 'key' }, rest: { name: 'taken over', version: 1 } }],
  conversationDelete: [{ ids: { id: 'conversation' } }],
  conversationRename: [{ ids: { id: 'conversation' }, rest: { title: 'taken over' } }],
  // Deleting items that are not found succeeds, and deletes nothing.
  derivedItemDelete: [{ ids: { ids: 'item' }, code: 'DONE' }],
  learnedItemsSeen: [{ ids: { ids: 'item' }, rest: { dismiss: false }, code: 'DONE' }],
  // Before the update: an item that its owner edited cannot be undone.
  learnedItemsUndo: [{ ids: { ids: 'item' } }],
  derivedItemUpdate: [{ ids: { id: 'item' }, rest: { text: 'taken over', version: 1 } }],
  identityUnlink: [{ ids: { id: 'identity' } }],
  messageRegenerate: [{ ids: { messageId: 'message' }, rest: ONCE }],
  messageSend: [{ ids: { conversationId: 'conversation' }, rest: { ...ONCE, content: 'hello' } }],
  messageStop: [{ ids: { id: 'message' } }],
  passkeyDelete: [{ ids: { id: 'passkey' } }],
  passkeyRename: [{ ids: { id: 'passkey' }, rest: { name: 'taken over' } }],
  poolPurchase: [
    {
      ids: { quoteId: 'quote' },
      rest: { ...ONCE, expectedTotal: '1', name: 'x', subdomain: 'taken-over', autoRenew: false },
    },
  ],
  poolQuoteCreate: [{ ids: { renewPoolId: 'pool' }, rest: { modelIds: [] } }],
  poolRenew: [{ ids: { poolId: 'pool', quoteId: 'renewal' }, rest: { ...ONCE, expectedTotal: '1' } }],
  poolUpdate: [{ ids: { id: 'pool' }, rest: { name: 'taken over', version: 1 } }],
  // Revoking a session that is not found succeeds, like one that has ended.
  sessionRevoke: [{ ids: { id: 'session' }, code: 'DONE' }],
  // Dismissing an alert that is not found succeeds, and changes nothing.
  spendAlertDismiss: [{ ids: { id: 'spendAlert' }, code: 'DONE' }],
  topUpCancel: [{ ids: { id: 'topUp' } }],
  webhookDeliveryReplay: [{ ids: { id: 'webhookDelivery' } }],
  webhookEndpointTest: [{ ids: { id: 'webhook' } }],
  webhookEndpointUpdate: [{ ids: { id: 'webhook' }, rest: { description: 'taken over', version: 1 } }],
  webhookSecretRotate: [{ ids: { id: 'webhook' } }],
  webhookEndpointDelete: [{ ids: { id: 'webhook' } }],
};

/** Ids of spend alerts begin with it. */
const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);

/** Id fields of public objects, or that have no effect without an owned id of ATTEMPTS. */
const NOT_OWNED: ReadonlySet<string> = new Set([
  'apiKeyCreate.allowedModelIds',
  'apiKeyUpdate.allowedModelIds',
  'messageSend.parentId',
  'messageSend.replacesId',
  'poolQuoteCreate.modelIds',
]);

const schema = createSchema(createBus());

const mutations = (): GraphQLField<unknown, Context>[] => {
  const type = schema.getType('Mutation');
  if (!isObjectType(type)) throw new Error('There are no mutations.');
  return Object.values(type.getFields()) as GraphQLField<unknown, Context>[];
};

/** The names of the input's fields that are ids. */
function idFieldsOf(field: GraphQLField<unknown, Context>): string[] {
  const input = field.args[0] && getNamedType(field.args[0].type);
  if (!isInputObjectType(input)) return [];
  return Object.values(input.getFields())
    .filter((one) => getNamedType(one.type).name === 'ID')
    .map((one) => one.name);
}

describe('objects of another user', () => {
  let test: TestApp;
  let objects: Record<OwnedObject, string>;
  let actors: Record<'owner' | 'other' | 'administrator', Viewer>;

  beforeAll(async () => {
    test = await startTestApp();
    await Promise.all(['owner', 'other'].map((name) => test.user(`${name}@example.com`)));
    actors = {
      owner: await viewer('owner@example.com'),
      other: await viewer('other@example.com'),
      administrator: await viewer('admin@example.com'),
    };
    objects = await createObjects(actors.owner);
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function viewer(email: string): Promise<Viewer> {
    const { id, role, allowedGroups } = await em().findOneOrFail(UserSchema, { email });
    const session = { id: newId('ses'), authenticatedAt: new Date() };
    return { id, email, role, allowedGroups, session, token: null };
  }

  async function createObjects(owner: Viewer): Promise<Record<OwnedObject, string>> {
    const input = { name: 'x', group: 'default', idempotencyKey: 'x' } as const;
    const { key } = await createKey(em(), owner, input);
    const made = {
      accessToken: newId('tok'),
      conversation: newId('con'),
      identity: newId('idn'),
      item: '',
      key: key.id,
      message: newId('msg'),
      passkey: newId('psk'),
      pool: newId('pool'),
      quote: newId('quo'),
      renewal: newId('quo'),
      session: '',
      spendAlert: `${digestOf(key.id)}:${new Date().toISOString().slice(0, 7)}:50`,
      topUp: newId('top'),
      webhook: newId('whe'),
      webhookDelivery: newId('whd'),
    };
    const of = owner.id;
    for (const statement of [
      sql`update storefront set state = 'OPEN', prices_confirmed_at = now()`,
      sql`insert into access_token (id, user_id, name, prefix, token_digest, scopes, expires_at)
        values (${made.accessToken}, ${of}, 'x', 'gqt_', 'x', '{KEYS_READ}', now() + interval '1 day')`,
      sql`insert into personal_switch values (${of}, 'PREFERENCE_PROFILE', true, now())`,
      sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
        values (${made.conversation}, ${of}, 'x', 'swift', now(), now())`,
      sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
        values (${made.message}, ${made.conversation}, 'USER', 'x', 'COMPLETE', now())`,
      sql`insert into linked_identity (id, user_id, issuer, subject)
        values (${made.identity}, ${of}, 'x', 'x')`,
      sql`insert into passkey (id, user_id, credential_id, public_key, counter, transports, name)
        values (${made.passkey}, ${of}, 'x', 'x', 0, '{}', 'x')`,
      sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, starts_at, ends_at)
        select ${made.pool}, ${of}, id, 'x', 'owned', 60, now(), now() + interval '30 days' from wallet
        where user_id = ${of}`,
      // Cancelling an expired top-up of one's own changes nothing and asks no processor.
      sql`insert into top_up (id, user_id, wallet_id, method, stage, state, amount)
        select ${made.topUp}, ${of}, id, 'CARD', 'EXPIRED', 'EXPIRED', 5 from wallet where user_id = ${of}`,
      sql`insert into spend_alert (subject_id, month, percent) values (${key.id}, ${MONTH}, 50)`,
      ...quoteRows(made, of),
      ...webhookRows(made, of),
    ])
      await query(em(), statement);
    const row = await queryOne<{ id: string }>(em(), sql`select id from session where user_id = ${of}`);
    const source = { conversationId: made.conversation, messageId: made.message };
    return { ...made, item: await createOwnedItem(test, of, source), session: row?.id ?? '' };
  }

  /** A quote of a new pool, and one of a renewal. */
  function quoteRows(made: Record<'pool' | 'quote' | 'renewal', string>, of: string): Statement[] {
    return [made.quote, made.renewal].map((id) => {
      const renewed = id === made.renewal ? made.pool : null;
      return sql`insert into pool_quotes (id, user_id, renew_pool_id, renew_from, model_ids, lines, total,
          gift_credit, rpm_cap, period_days, starts_at, ends_at, expires_at)
        values (${id}, ${of}, ${renewed}, case when ${renewed}::text is null then null else now() end, '{}',
          '[]', 1000000, 0, 60, 30, now(), now() + interval '30 days', now() + interval '15 minutes')`;
    });
  }

  /** A webhook with a finished delivery. */
  function webhookRows(made: Record<'webhook' | 'webhookDelivery', string>, of: string): Statement[] {
    const place = { table: 'webhook_endpoint', id: made.webhook, field: 'sealed_secret' };
    const sealed = encryptSecret(test.settings.secretKey, 'whsec_x', place);
    return [
      sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
        values (${made.webhook}, ${of}, 'https://x.example/', '', '{KEY_DISABLED}', 'ENABLED', ${sealed})`,
      sql`insert into webhook_delivery (id, event_id, endpoint_id, owner_id, type, payload, state)
        values (${made.webhookDelivery}, 'x', ${made.webhook}, ${of}, 'x', '{}', 'DELIVERED')`,
    ];
  }

  function contextOf(who: Viewer): Context {
    const fork = em();
    const context: Partial<Context> = {
      em: fork,
      viewer: who,
      node: null,
      ip: '192.0.2.1',
      userAgent: null,
      requestId: 'test',
      settings: test.settings,
      playground: new Playground(em, contentKeysOf(test)),
      batches: new Batches(fork),
      budget: null,
      usage: POSTGRES_USAGE,
      setSession: () => {},
    };
    return context as Context;
  }

  /** The error code of the attempt; DONE if it succeeds. */
  async function attempt(who: Viewer, name: string, { ids, rest }: Attempt): Promise<unknown> {
    const field = mutations().find((one) => one.name === name);
    const input = Object.fromEntries(Object.entries(ids).map(([one, object]) => [one, objects[object]]));
    const result = await graphql({
      schema,
      source: `mutation ($input: ${String(field?.args[0]?.type)}) { ${name}(input: $input) {
        userErrors { code } } }`,
      variableValues: { input: { ...rest, ...input } },
      contextValue: contextOf(who),
    });
    if (result.errors) return result.errors[0]?.extensions['code'] ?? result.errors[0]?.message;
    const payload = result.data?.[name] as { userErrors: { code: string }[] };
    return payload.userErrors[0]?.code ?? 'DONE';
  }

  it('are tried with every mutation that takes their ids', () => {
    const missing = mutations()
      .filter((field) => field.extensions['access'] === 'USER')
      .flatMap((field) => {
        const tried = new Set((ATTEMPTS[field.name] ?? []).flatMap(({ ids }) => Object.keys(ids)));
        return idFieldsOf(field)
          .map((one) => [one, `${field.name}.${one}`] as const)
          .filter(([one, name]) => !tried.has(one) && !NOT_OWNED.has(name))
          .map(([, name]) => name);
      });
    expect(missing).toEqual([]);
    const names = new Set(mutations().map(({ name }) => name));
    expect(Object.keys(ATTEMPTS).filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(['other', 'administrator'] as const)(
    'are NOT_FOUND for the caller "%s" in every mutation, and nothing changes',
    async (name) => {
      const before = await tableDigests(em());
      const answers: Record<string, unknown> = {};
      const wanted: Record<string, unknown> = {};
      for (const [mutation, attempts] of Object.entries(ATTEMPTS))
        for (const [at, one] of attempts.entries()) {
          wanted[`${mutation} ${at}`] = one.code ?? 'NOT_FOUND';
          answers[`${mutation} ${at}`] = await attempt(actors[name], mutation, one);
        }
      expect(answers).toEqual(wanted);
      expect(await tableDigests(em())).toEqual(before);
    },
    60_000,
  );

  it('are found by their owner, which proves that the attempts are valid', async () => {
    const refused: string[] = [];
    const last = [
      'derivedItemDelete',
      'conversationDelete',
      'apiKeyRevoke',
      'sessionRevoke',
      'accessTokenRevoke',
      'passkeyDelete',
    ];
    const inOrder = Object.entries(ATTEMPTS).toSorted(
      ([one], [other]) => last.indexOf(one) - last.indexOf(other),
    );
    for (const [mutation, [first]] of inOrder)
      if (first && (await attempt(actors.owner, mutation, first)) === 'NOT_FOUND') refused.push(mutation);
    expect(refused).toEqual([]);
    const dismissed = sql`select from spend_alert where dismissed_at is not null`;
    expect(await query(em(), dismissed)).toHaveLength(1);
  }, 60_000);
});
