/** Every mutation refuses bad input with a stable code, and changes nothing. */
import { getNamedType, isInputObjectType, isObjectType } from 'graphql';
import type { GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { tableDigests } from '../../test/control/table-digests.ts';
import { startFakeProcessor } from '../../test/control/card-processor.ts';
import type { FakeProcessor } from '../../test/control/card-processor.ts';
import { configure } from '../../test/control/payments.ts';
import { smallestInput } from '../../test/control/smallest-input.ts';
import { FIELD_RULES } from './access.rules.ts';
import type { Context } from './context.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from '../schema/schema.ts';

const TEST_MS = 120_000;
const ALIASES = 10_000;
const DEPTH = 350;
/** One more than the maximum number of aliases, and more than the maximum number of root fields. */
const TOO_MANY = 31;
const OTHER_UPSTREAM = {
  name: 'other',
  baseUrl: 'http://127.0.0.1:2/v1',
  protocols: ['MESSAGES'],
  enabled: false,
};
const STALE_VERSION = 999;

type Input = Record<string, unknown>;

const schema = createSchema(createBus());
const mutations = (() => {
  const type = schema.getType('Mutation');
  if (!isObjectType(type)) throw new Error('There are no mutations.');
  return Object.values(type.getFields()) as GraphQLField<unknown, Context>[];
})();

/** The mutations whose input has a field of this name. */
const withField = (name: string): string[] =>
  mutations
    .filter((field) => {
      const input = field.args[0] && getNamedType(field.args[0].type);
      return isInputObjectType(input) && name in input.getFields();
    })
    .map((field) => field.name);

function operationOf(field: GraphQLField<unknown, Context>, selection: string, times = 1) {
  const [argument] = field.args;
  const call = `${field.name}${argument ? '(input: $input)' : ''} ${selection}`;
  const calls = Array.from({ length: times }, (_, at) => (times === 1 ? call : `a${at}: ${call}`));
  return {
    query: `mutation ${argument ? `($input: ${String(argument.type)})` : ''} { ${calls.join(' ')} }`,
    variables: argument ? { input: smallestInput(argument.type) } : {},
  };
}

describe('a mutation', { timeout: TEST_MS }, () => {
  let test: TestApp;
  let admin: Browser;
  let before: Record<string, string>;
  let processor: FakeProcessor;

  beforeAll(async () => {
    processor = await startFakeProcessor();
    test = await startTestApp({ env: { QUERY_BUDGET: '100000000' } });
    admin = await test.admin();
  });
  afterAll(async () => {
    await test.close();
    await processor.close();
  });

  const now = () => tableDigests(test.orm.em.fork());

  /** Sends every mutation, and returns those that are not refused with the code, each with its own code. */
  async function notRefusedWith(
    expected: string,
    send: (field: GraphQLField<unknown, Context>) => ReturnType<Browser['send']>,
  ): Promise<string[]> {
    const wrong: string[] = [];
    for (const field of mutations) {
      const { errors } = await send(field);
      const code = errors[0]?.extensions.code;
      if (code !== expected) wrong.push(`${field.name}: ${code}`);
    }
    return wrong;
  }

  /** The error code of an administrator's mutation with this input; DONE if it succeeds. */
  async function codeOf(name: string, input: Input): Promise<string> {
    const { data, errors } = await call(name, input, '');
    const payload = data?.[name] as { userErrors: { code: string }[] } | undefined;
    return errors[0]?.extensions.code ?? payload?.userErrors[0]?.code ?? 'DONE';
  }

  function call(name: string, input: Input, selection: string) {
    const type = mutations.find((field) => field.name === name)?.args[0]?.type;
    const query = `mutation ($input: ${String(type)}) { ${name}(input: $input) {
      ${selection} userErrors { code } } }`;
    return admin.send(query, { input });
  }

  /** Calls a mutation as administrator, and returns the value at a path of its payload. */
  async function made(name: string, input: Input, ...path: string[]): Promise<string> {
    const selection = path.reduceRight((inner, one) => (inner ? `${one} { ${inner} }` : one), '');
    return pick<string>(await call(name, input, selection), name, ...path);
  }

  it('is not parsed with 10,000 aliases, and not executed with 31', async () => {
    before = await now();
    const many = (name: string): string =>
      Array.from({ length: ALIASES }, (_, at) => `a${at}: ${name}`).join(' ');
    expect(
      await notRefusedWith('GRAPHQL_PARSE_FAILED', ({ name }) => admin.send(`mutation { ${many(name)} }`)),
    ).toEqual([]);
    expect(
      await notRefusedWith('QUERY_TOO_COMPLEX', (field) => {
        const { query, variables } = operationOf(field, '{ __typename }', TOO_MANY);
        return admin.send(query, variables);
      }),
    ).toEqual([]);
    expect(await now()).toEqual(before);
  });

  it('is refused if a selection, literal or variable is nested 350 levels deep', async () => {
    before = await now();
    const selection = `${'{ userErrors '.repeat(DEPTH)} { code } ${'}'.repeat(DEPTH)}`;
    const send = (field: GraphQLField<unknown, Context>) => {
      const { query, variables } = operationOf(field, selection);
      return admin.send(query, variables);
    };
    expect(await notRefusedWith('GRAPHQL_VALIDATION_FAILED', send)).toEqual([]);
    const literal = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
    expect(
      await notRefusedWith('GRAPHQL_VALIDATION_FAILED', ({ name }) =>
        admin.send(`mutation { ${name}(input: ${literal}) { userErrors { code } } }`),
      ),
    ).toEqual([]);
    const deep: unknown = JSON.parse(literal);
    const taking = mutations.filter(({ args }) => args.length > 0);
    for (const field of taking) {
      const { errors } = await admin.send(operationOf(field, '{ __typename }').query, { input: deep });
      expect([field.name, errors[0]?.extensions.code]).toEqual([field.name, 'BAD_USER_INPUT']);
    }
    const cycle = 'owner { apiKeys { nodes { ';
    const around = `{ apiKey { ${cycle.repeat(DEPTH / 4)} id ${'} } } '.repeat(DEPTH / 4)} } }`;
    const key = mutations.find(({ name }) => name === 'apiKeyCreate');
    if (!key) throw new Error('There is no apiKeyCreate.');
    const { query, variables } = operationOf(key, around);
    expect((await admin.send(query, variables)).errors[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(await now()).toEqual(before);
  });

  it('is FORBIDDEN for a token without the scope, and the error names the scope', async () => {
    const create = { name: 'x', scopes: ['CATALOG_READ'], expiresInDays: 1 };
    const token = await made('accessTokenCreate', create, 'secret');
    const script = test.browser();
    const headers = { authorization: `Bearer ${token}` };
    await script.send('{ viewer { id } }', {}, headers);
    before = await now();
    for (const field of mutations) {
      const rule = FIELD_RULES[`Mutation.${field.name}`];
      if (rule === 'ANY') continue;
      const { query, variables } = operationOf(field, '{ __typename }');
      const [error] = (await script.send(query, variables, headers)).errors;
      expect([field.name, error?.extensions.code]).toEqual([field.name, 'FORBIDDEN']);
      if (rule && rule !== 'BROWSER')
        expect([rule].flat()).toContain((error?.extensions as Input | undefined)?.['requiredScope']);
    }
    expect(await now()).toEqual(before);
  });

  describe('of existing objects', () => {
    let objects: Record<
      'incident' | 'item' | 'key' | 'model' | 'pool' | 'provider' | 'route' | 'webhook',
      string
    >;
    /** For each mutation with an idempotency key: the input that was sent with the key, and another input. */
    let pairs: Record<string, [Input, Input]>;

    beforeAll(async () => {
      const viewer = await admin.send('{ viewer { id } catalogModel(name: "swift") { id } }');
      const userId = pick<string>(viewer, 'viewer', 'id');
      const model = pick<string>(viewer, 'catalogModel', 'id');
      const reason = 'x';
      const money = { userId, bucket: 'CASH', amount: '900', reason, idempotencyKey: 'w' };
      await made('adminWalletAdjust', money, 'wallet', 'balance');
      const sale = { version: 1, state: 'OPEN', confirmPrices: true, reason };
      await made('adminStorefrontSet', sale, 'storefront', 'state');
      const key = await made('apiKeyCreate', { name: 'x', idempotencyKey: 'k' }, 'apiKey', 'id');
      await made('apiKeyReveal', { id: key }, 'secret');
      const rotation = { id: key, graceSeconds: 60, idempotencyKey: 'r' };
      await made('apiKeyRotate', rotation, 'apiKey', 'id');
      const bought = await purchase({ modelIds: [model] }, { name: 'x', subdomain: 'bad-input' });
      const pool = await made('poolPurchase', bought, 'pool', 'id');
      const renewed = await purchase({ renewPoolId: pool }, { poolId: pool });
      await made('poolRenew', renewed, 'pool', 'id');
      const chat = { modelName: 'swift', temporary: true };
      const conversationId = await made('conversationCreate', chat, 'conversation', 'id');
      const message = { conversationId, content: 'x', idempotencyKey: 'm' };
      const messageId = await made('messageSend', message, 'reply', 'id');
      const upstream = { ...OTHER_UPSTREAM, name: 'x', protocols: ['CHAT_COMPLETIONS'], enabled: true };
      const provider = await made('adminProviderUpsert', { ...upstream, reason }, 'provider', 'id');
      const route = await made('adminRouteUpsert', { ...routeOf(model, provider), reason }, 'route', 'id');
      const topUp = { amount: '25', idempotencyKey: 't' };
      const refund = await refundOf(topUp);
      const note = { kind: 'WORKING_ON', text: 'x' };
      const item = await made('derivedItemCreate', note, 'item', 'id');
      const receiver = { url: 'http://127.0.0.1:1', events: ['KEY_DISABLED'] };
      const webhook = await made('webhookEndpointCreate', receiver, 'endpoint', 'id');
      const outage = { kind: 'OUTAGE', state: 'IDENTIFIED', title: 'x', message: 'x', reason: 'x' };
      const incident = await made('adminIncidentCreate', outage, 'incident', 'id');
      objects = { incident, item, key, model, pool, provider, route, webhook };
      pairs = {
        adminWalletAdjust: [money, { ...money, amount: '901' }],
        apiKeyCreate: [
          { name: 'x', idempotencyKey: 'k' },
          { name: 'y', idempotencyKey: 'k' },
        ],
        apiKeyRotate: [rotation, { ...rotation, graceSeconds: 61 }],
        adminTopUpRefund: [refund, { ...refund, amount: '2' }],
        // In the Playground one idempotency key covers both mutations.
        messageRegenerate: [message, { messageId, modelName: 'budget', idempotencyKey: 'm' }],
        messageSend: [message, { ...message, content: 'y' }],
        poolPurchase: [bought, { ...bought, name: 'y' }],
        poolRenew: [renewed, { ...renewed, expectedTotal: '1.00' }],
        topUpCardCreate: [topUp, { ...topUp, amount: '26' }],
      };
    });

    /** Pays a top-up by card and refunds a part of it; returns the input of the refund. */
    async function refundOf(topUp: Input): Promise<Input> {
      await configure(admin, processor);
      const topUpId = await made('topUpCardCreate', topUp, 'topUp', 'id');
      const session = [...processor.things.values()].find(
        (thing) => thing['client_reference_id'] === topUpId,
      );
      processor.pay(session?.id ?? '');
      await processor.send(test.url, processor.event('checkout.session.completed', session?.id ?? ''));
      const refund = { topUpId, amount: '1', reason: 'x', idempotencyKey: 'f' };
      await made('adminTopUpRefund', refund, 'topUp', 'state');
      return refund;
    }

    const routeOf = (modelId: string, providerId: string): Input => ({
      modelId,
      providerId,
      upstreamModel: 'x',
      families: ['CHAT_COMPLETIONS'],
      priority: 1,
      weight: 1,
      enabled: true,
    });

    async function purchase(quote: Input, rest: Input): Promise<Input> {
      const answer = await call('poolQuoteCreate', quote, 'quote { id total }');
      const quoteId = pick<string>(answer, 'poolQuoteCreate', 'quote', 'id');
      const expectedTotal = pick<string>(answer, 'poolQuoteCreate', 'quote', 'total');
      return { ...rest, quoteId, expectedTotal, idempotencyKey: quoteId };
    }

    it('answers IDEMPOTENCY_MISMATCH if its idempotency key was used with another input', async () => {
      expect(Object.keys(pairs).toSorted()).toEqual(withField('idempotencyKey').toSorted());
      before = await now();
      const answers: Record<string, string> = {};
      for (const [name, [, other]] of Object.entries(pairs)) answers[name] = await codeOf(name, other);
      const wanted = Object.keys(pairs).map((name) => [name, 'IDEMPOTENCY_MISMATCH']);
      expect(answers).toEqual(Object.fromEntries(wanted));
      expect(await now()).toEqual(before);
      const again = Object.entries(pairs).filter(([name]) => name !== 'messageRegenerate');
      for (const [name, [first]] of again) expect([name, await codeOf(name, first)]).toEqual([name, 'DONE']);
      expect(await now()).toEqual(before);
    });

    it('answers STALE_VERSION for an outdated or missing version', async () => {
      const { incident, item, key, model, pool, provider, route, webhook } = objects;
      const reason = 'x';
      const changes: Record<string, Input> = {
        adminGroupRatioSet: { group: 'VIP', ratio: '0.1', reason },
        adminIncidentUpdate: { id: incident, state: 'IDENTIFIED', message: 'x', reason },
        adminModelRoutingSet: { id: model, routing: 'FASTEST', hedged: true, reason },
        adminModelUpsert: {
          id: model,
          name: 'swift',
          displayName: 'Other',
          description: 'x',
          tier: 'BUDGET_A',
          traits: [],
          contextTokens: 1_000,
          pricePerRequest: '0.01',
          groups: ['DEFAULT'],
          families: ['CHAT_COMPLETIONS'],
          reason,
        },
        adminPaymentSettingsSet: { cardEnabled: false, reason },
        adminPoolUpdate: { id: pool, rpmCap: 1, reason },
        adminProviderProbingSet: { id: provider, probeMinutes: 5, reason },
        adminProviderUpsert: { id: provider, ...OTHER_UPSTREAM, reason },
        adminQuirksSet: { id: provider, quirks: [], reason },
        adminRouteUpsert: { id: route, ...routeOf(model, provider), priority: 2, reason },
        adminStorefrontSet: { state: 'CLOSED', reason },
        apiKeyUpdate: { id: key, name: 'other' },
        poolUpdate: { id: pool, name: 'other' },
        derivedItemUpdate: { id: item, pinned: true },
        webhookEndpointUpdate: { id: webhook, description: 'other' },
      };
      const versioned = withField('version').filter((name) => !VERSIONS_OF_TEXTS.has(name));
      expect(Object.keys(changes).toSorted()).toEqual(versioned.toSorted());
      before = await now();
      const answers: Record<string, string> = {};
      for (const [name, input] of Object.entries(changes))
        answers[name] = await codeOf(name, { ...input, version: STALE_VERSION });
      const wanted = Object.keys(changes).map((name) => [name, 'STALE_VERSION']);
      expect(answers).toEqual(Object.fromEntries(wanted));
      for (const name of ['adminModelUpsert', 'adminProviderUpsert', 'adminRouteUpsert']) {
        for (const unread of [{ version: null }, {}])
          expect([name, await codeOf(name, { ...changes[name], ...unread })]).toEqual([
            name,
            'STALE_VERSION',
          ]);
      }
      expect(await now()).toEqual(before);
    });
  });

  it('answers QUERY_TOO_COMPLEX for many sign-ins at once, before a password is checked', async () => {
    const guess = (at: number, password: string): string =>
      `g${at}: signIn(input: { email: "${ADMIN.email}", password: "${password}" }) { viewer { id } }`;
    const guesses = Array.from({ length: 19 }, (_, at) => guess(at, `wrong password ${at}`));
    const attacker = test.browser();
    const { data, errors } = await attacker.send(
      `mutation { ${[...guesses, guess(19, ADMIN.password)].join(' ')} }`,
    );
    expect([data, errors[0]?.extensions.code, attacker.cookie]).toEqual([null, 'QUERY_TOO_COMPLEX', null]);
    const array = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ query: `mutation { ${guess(0, ADMIN.password)} }` }]),
    });
    expect([array.status, array.headers.getSetCookie()]).toEqual([400, []]);
  });
});

/** Mutations whose `version` is that of a policy or a build, not of an object. */
const VERSIONS_OF_TEXTS: ReadonlySet<string> = new Set([
  'adminPolicyPublish',
  'nodeRegister',
  'policyAccept',
]);
