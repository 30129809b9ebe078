/** Every list refuses cursors of other lists, of other orders, and any other text, as bad input. */
import { getNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { createOwnedItem } from '../../test/control/owned-items.ts';
import { inTransaction, query, queryRow, sql } from '../database/sql.ts';
import { audit } from '../audit/audit.service.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from '../schema/schema.ts';
import { encryptSecret } from '../upstreams/stored-secrets.ts';
import { creditCash, payFromCash } from '../wallet/movements.ts';
import { SYSTEM_ACTOR } from './context.ts';

const WALK_MS = 120_000;
/** Characters of a cursor that a report shows. */
const SHOWN = 60;
const REFUSED = 'BAD_USER_INPUT';

/** Where an operation finds each list. `#` stands for the list with its arguments. */
const PLACES: Readonly<Record<string, string>> = {
  'AdminQuery.apiKeys': 'admin { # }',
  'AdminQuery.auditLog': 'admin { # }',
  'AdminQuery.ledger': 'admin { # }',
  'AdminQuery.pools': 'admin { # }',
  'AdminQuery.topUps': 'admin { # }',
  'AdminQuery.usage': 'admin { # }',
  'AdminQuery.users': 'admin { # }',
  'Conversation.messages': 'viewer { playground { conversations { nodes { # } } } }',
  'PersonalIntelligence.items': 'viewer { personalIntelligence { # } }',
  'PlaygroundHome.conversations': 'viewer { playground { # } }',
  'Pool.keys': 'viewer { pools { nodes { # } } }',
  'Query.catalog': '#',
  'User.accessTokens': 'viewer { # }',
  'User.apiKeys': 'viewer { # }',
  'User.pools': 'viewer { # }',
  'User.sessions': 'viewer { # }',
  'User.usage': 'viewer { # }',
  'Wallet.history': 'viewer { wallet { # } }',
  'Wallet.ledger': 'viewer { wallet { # } }',
  'Wallet.topUps': 'viewer { wallet { # } }',
  'Wallet.usageOfDay': 'viewer { wallet { # } }',
  'WebhookEndpoint.deliveries': 'webhookEndpoints { # }',
};

/** Further arguments that a list needs. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'Wallet.usageOfDay': `, day: "${new Date().toISOString()}", bucket: CASH`,
};

interface List {
  name: string;
  /** The item type, which lists with the same cursors share. */
  kind: string;
  /** Undefined if the list has one order. */
  order: string | undefined;
}

/** Lists without a choice have the order that is usual in other lists. */
const orderOf = ({ order }: List): string => order ?? 'CREATED_AT';

/** Every list of the schema, in each of its orders. */
const lists = ((): List[] => {
  const schema = createSchema(createBus());
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields())
          .filter(({ args }) => args.some(({ name }) => name === 'after'))
          .flatMap((field) => {
            const orderBy = field.args.find(({ name }) => name === 'orderBy');
            const input = orderBy && getNamedType(orderBy.type);
            const values = isInputObjectType(input) && getNamedType(input.getFields()['field']?.type);
            const orders = isEnumType(values) ? values.getValues().map(({ name }) => name) : [undefined];
            const name = `${type.name}.${field.name}`;
            return orders.map((order) => ({ name, kind: getNamedType(field.type).name, order }));
          })
      : [],
  );
})();

let test: TestApp;
let admin: Browser;
const cursors = new Map<List, string>();

beforeAll(async () => {
  test = await startTestApp({ env: { QUERY_BUDGET: '100000000' } });
  admin = await test.admin();
  await fill();
  for (const list of lists) {
    const answer = await read(list, null);
    const found = /"endCursor":"([^"]+)"/.exec(JSON.stringify(answer.data))?.[1];
    if (found) cursors.set(list, found);
  }
}, WALK_MS);
afterAll(() => test.close());

/** Gives the administrator one object in most lists. */
async function fill(): Promise<void> {
  const em = test.orm.em.fork();
  await admin.send(`mutation { apiKeyCreate(input: { name: "x", group: DEFAULT, idempotencyKey: "x" }) {
    userErrors { code } } }`);
  const { id, wallet } = await queryRow<{ id: string; wallet: string }>(
    em,
    sql`select u.id, w.id as wallet from users u join wallet w on w.user_id = u.id
      where u.email = ${ADMIN.email}`,
  );
  const place = { table: 'webhook_endpoint', id: 'whe_x', field: 'sealed_secret' };
  const sealed = encryptSecret(test.settings.secretKey, 'whsec_x', place);
  for (const statement of [
    sql`insert into access_token (id, user_id, name, prefix, token_digest, scopes, expires_at)
      values ('tok_x', ${id}, 'x', 'gqt_', 'x', '{KEYS_READ}', now() + interval '1 day')`,
    sql`insert into personal_switch values (${id}, 'PREFERENCE_PROFILE', true, now())`,
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      values ('con_x', ${id}, 'x', 'swift', now(), now())`,
    sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
      values ('msg_x', 'con_x', 'USER', 'x', 'COMPLETE', now())`,
    sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, starts_at, ends_at)
      values ('pool_x', ${id}, ${wallet}, 'x', 'owned', 60, now(), now() + interval '30 days')`,
    sql`insert into top_up (id, user_id, wallet_id, method, stage, state, amount)
      values ('top_x', ${id}, ${wallet}, 'CARD', 'EXPIRED', 'EXPIRED', 5)`,
    sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
      values ('whe_x', ${id}, 'https://x.example/', '', '{KEY_DISABLED}', 'ENABLED', ${sealed})`,
    sql`insert into webhook_delivery (id, event_id, endpoint_id, owner_id, type, payload, state)
      values ('whd_x', 'x', 'whe_x', ${id}, 'x', '{}', 'DELIVERED')`,
    sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
        model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
      values ('req_x', 'use_x', now(), 'node_x', 'key_x', ${wallet}, 'default', 'API_KEY', 'swift', 'chat',
        0, '1', 0, 'SUCCEEDED', 'DELIVERED', 200, false, 5)`,
  ])
    await query(em, statement);
  await creditCash(em, {
    ...{ walletId: wallet, actor: SYSTEM_ACTOR, description: 'test', amount: 2n },
    ...{ kind: 'ADJUSTMENT', reference: 'cursors' },
  });
  await payFromCash(em, {
    ...{ walletId: wallet, actor: SYSTEM_ACTOR, description: 'test', amount: 1n },
    ...{ kind: 'USAGE', reference: 'usage' },
  });
  const event = { actor: SYSTEM_ACTOR, action: 'test', targetType: 'User', targetId: id, reason: 'test' };
  await inTransaction(em, (inner) => audit(inner, event));
  await createOwnedItem(test, id, { conversationId: 'con_x', messageId: 'msg_x' });
}

function read({ name, order }: List, cursor: string | null) {
  const field = name.split('.')[1] ?? '';
  const ordered = order ? `, orderBy: { field: ${order}, direction: ASC }` : '';
  const given = `first: 1, after: $after${ordered}${ARGUMENTS[name] ?? ''}`;
  const list = `${field}(${given}) { pageInfo { endCursor } }`;
  return admin.send(`query ($after: String) { ${PLACES[name]?.replace('#', list)} }`, { after: cursor });
}

/** The lists that do not answer a cursor with one of these codes, each with its own code. */
async function wrong(of: readonly List[], cursor: string, expected: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const list of of) {
    const code = (await read(list, cursor)).errors[0]?.extensions.code ?? 'DONE';
    if (!expected.includes(code))
      found.push(`${list.name} ${list.order ?? ''} ${cursor.slice(0, SHOWN)}: ${code}`);
  }
  return found;
}

describe('a list', { timeout: WALK_MS }, () => {
  it('is in this test with all of its orders, and most lists have an item', () => {
    expect([...new Set(lists.map(({ name }) => name))].toSorted()).toEqual(Object.keys(PLACES).toSorted());
    const empty = lists.filter((list) => !cursors.has(list)).map(({ name }) => name);
    expect([...new Set(empty)].toSorted()).toEqual(['Pool.keys']);
  });

  it.each([
    ['that is empty', ''],
    ['that is garbage', 'garbage'],
    ['that is JSON without a list', Buffer.from('{"a":1}').toString('base64url')],
    [
      'that is huge',
      Buffer.from(JSON.stringify(['x'.repeat(90_000)]))
        .toString('base64url')
        .slice(0, 80_000),
    ],
  ])('refuses a cursor %s as bad input', async (_, cursor) => {
    expect(await wrong(lists, cursor, [REFUSED])).toEqual([]);
  });

  it('refuses the cursor of another list and of another order as bad input', async () => {
    for (const [own, cursor] of cursors) {
      const { kind } = own;
      const order = orderOf(own);
      const foreign = lists.filter((list) => list.kind !== kind || orderOf(list) !== order);
      expect(await wrong(foreign, cursor, [REFUSED])).toEqual([]);
    }
  });

  it('answers or refuses its own cursor with other values, without an internal error', async () => {
    const values = ['\0', "'", 1.5, 1e300, '9'.repeat(19), -1, '2026-02-31 00:00:00+00', '', null, {}, []];
    for (const [list, cursor] of cursors) {
      const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
      if (!Array.isArray(parts)) throw new Error('The cursor is not a list.');
      for (const at of parts.keys())
        for (const value of values) {
          const forged = Buffer.from(JSON.stringify(parts.with(at, value))).toString('base64url');
          expect(await wrong([list], forged, [REFUSED, 'DONE'])).toEqual([]);
        }
    }
  });
});
