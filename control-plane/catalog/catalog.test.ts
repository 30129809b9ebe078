/** Tests the catalog over the API: seed, filters, drafts, retirement, ratios, audit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { chargeFor } from '@gateway/shared/money';
import { checkChain } from '../audit/audit.service.ts';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { pricesOf } from './model.record.ts';
import { retireDueModels } from './retirement.ts';

const MODEL = `mutation ($input: AdminModelInput!) { adminModelUpsert(input: $input) {
  model { id name state version pricePerRequest } userErrors { code field } } }`;
const STATE = `mutation ($input: AdminModelStateInput!) { adminModelSetState(input: $input) {
    model { state } userErrors { code } } }`;
const RATIO = `mutation ($input: AdminGroupRatioInput!) { adminGroupRatioSet(input: $input) {
    groupRatio { ratio version } userErrors { code } } }`;
const NEW_MODEL = {
  name: 'newcomer',
  displayName: 'Newcomer',
  description: 'New.',
  tier: 'BALANCED',
  traits: ['TOOLS'],
  contextTokens: 1000,
  pricePerRequest: '0.123457',
  groups: ['DEFAULT', 'SVIP'],
  families: ['CHAT_COMPLETIONS'],
  reason: 'for a test',
};

describe('the catalog', () => {
  let test: TestApp;
  let admin: Browser;
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
  });
  afterAll(() => test.close());

  const record = async (id: string) =>
    (
      await query<{ payload: { prices: object; passUnknown: boolean } | null }>(
        test.orm.em.fork(),
        sql`select payload from config_log where kind = 'MODEL' and key = ${id}`,
      )
    )[0]?.payload;

  it('starts with ten models and their prices, which everybody can read', async () => {
    const answer = await test
      .browser()
      .send('{ catalog { totalCount nodes { name pricePerRequest groups } } }');
    const nodes = pick<{ name: string; pricePerRequest: string; groups: string[] }[]>(
      answer,
      'catalog',
      'nodes',
    );
    expect(nodes.map((node) => [node.name, node.pricePerRequest])).toEqual([
      ['flagship-max', '0.60'],
      ['flagship', '0.45'],
      ['coder-max', '0.30'],
      ['coder', '0.30'],
      ['reasoner', '0.28'],
      ['balanced', '0.25'],
      ['balanced-vision', '0.25'],
      ['swift', '0.10'],
      ['budget', '0.03'],
      ['budget-plus', '0.05'],
    ]);
    for (const node of nodes) expect(node.groups).toEqual(['DEFAULT', 'VIP', 'SVIP']);
  });

  it('is seeded only once', async () => {
    const { seedCatalog } = await import('./catalog.service.ts');
    await Promise.all([seedCatalog(test.orm.em.fork()), seedCatalog(test.orm.em.fork())]);
    expect(pick(await test.browser().send('{ catalog { totalCount } }'), 'catalog', 'totalCount')).toBe(10);
  });

  it('shows a model with its price in each group and its endpoints', async () => {
    const answer = await test.browser()
      .send(`{ catalogModel(name: "swift") { contextTokens traits inputModalities
      prices { group ratio pricePerRequest } endpoints { family method path } } }`);
    expect(pick(answer, 'catalogModel')).toMatchObject({
      contextTokens: 128_000,
      traits: ['FAST_CHEAP', 'TOOLS'],
      inputModalities: ['text', 'audio'],
      prices: [
        { group: 'DEFAULT', ratio: '1', pricePerRequest: '0.10' },
        { group: 'VIP', ratio: '0.9', pricePerRequest: '0.09' },
        { group: 'SVIP', ratio: '0.8', pricePerRequest: '0.08' },
      ],
    });
    const paths = pick<{ path: string }[]>(answer, 'catalogModel', 'endpoints');
    expect(paths.map(({ path }) => path)).toContain('/v1beta/models/swift:generateContent');
  });

  it('filters by trait, family, price, group and name, page by page', async () => {
    const names = async (filter: string) =>
      pick<{ name: string }[]>(
        await test.browser().send(`{ catalog(filter: { ${filter} }) { nodes { name } } }`),
        'catalog',
        'nodes',
      ).map((node) => node.name);
    expect(await names('traits: [AGENTIC_CODING, REASONING]')).toEqual(['coder-max']);
    expect(await names('families: [EMBEDDINGS]')).toEqual(['budget', 'budget-plus']);
    expect(await names('maxPrice: "0.05"')).toEqual(['budget', 'budget-plus']);
    expect(await names('search: "FLAG"')).toEqual(['flagship-max', 'flagship']);
    expect(await names('search: "%"')).toEqual([]);
    expect(await names('states: [DRAFT]')).toEqual([]);
    const first = await test.browser().send('{ catalog(first: 4) { pageInfo { endCursor } } }');
    const after = pick<string>(first, 'catalog', 'pageInfo', 'endCursor');
    const next = await test
      .browser()
      .send('query ($after: String) { catalog(first: 1, after: $after) { nodes { name } } }', { after });
    expect(pick(next, 'catalog', 'nodes')).toEqual([{ name: 'reasoner' }]);
  });

  it('creates a model as a draft that users do not see until it is published', async () => {
    const made = await admin.send(MODEL, { input: NEW_MODEL });
    expect(codesOf(made, 'adminModelUpsert')).toEqual([]);
    const id = pick<string>(made, 'adminModelUpsert', 'model', 'id');
    expect(await record(id)).toBeNull();
    expect((await test.browser().send('{ catalogModel(name: "newcomer") { id } }')).data).toEqual({
      catalogModel: null,
    });
    await admin.send(STATE, { input: { id, state: 'PUBLISHED', reason: 'go' } });
    expect((await record(id))?.prices).toEqual({
      default: { base: '123457', ratio: '1', price: '123457' },
      svip: { base: '123457', ratio: '0.8', price: '98766' },
    });
    expect(await record(id)).toMatchObject({ passUnknown: false });
    const refuse = async (more: object) =>
      codesOf(await admin.send(MODEL, { input: { ...NEW_MODEL, ...more } }), 'adminModelUpsert');
    expect(await refuse({})).toEqual(['TAKEN']);
    expect(await refuse({ id, version: 1, pricePerRequest: '1' })).toEqual(['STALE_VERSION']);
    expect(await refuse({ id, version: 2, name: 'renamed' })).toEqual(['INVALID']);
    expect(await refuse({ name: 'Upper' })).toEqual(['INVALID']);
    expect(await refuse({ name: 'free', pricePerRequest: '0' })).toEqual(['INVALID']);
    expect(
      codesOf(
        await admin.send(STATE, { input: { id, state: 'DRAFT', reason: 'back' } }),
        'adminModelSetState',
      ),
    ).toEqual(['CONFLICT']);
    await admin.send(STATE, { input: { id, state: 'RETIRED', reason: 'gone' } });
    expect(await record(id)).toBeNull();
  });

  it('lets unknown members of requests pass only for a model that says so, until it is changed', async () => {
    const input = { ...NEW_MODEL, name: 'passing', passUnknown: true };
    const made = await admin.send(MODEL, { input });
    const id = pick<string>(made, 'adminModelUpsert', 'model', 'id');
    await admin.send(STATE, { input: { id, state: 'PUBLISHED', reason: 'go' } });
    expect(await record(id)).toMatchObject({ passUnknown: true });
    const change = async (version: number, more: object) =>
      admin.send(MODEL, { input: { ...NEW_MODEL, name: 'passing', id, version, ...more } });
    await change(2, {});
    expect(await record(id)).toMatchObject({ passUnknown: true });
    await change(2, { passUnknown: false });
    expect(await record(id)).toMatchObject({ passUnknown: false });
    const read = await test.browser().send('{ catalogModel(name: "passing") { passUnknown } }');
    expect(read.data).toEqual({ catalogModel: { passUnknown: false } });
    await admin.send(STATE, { input: { id, state: 'RETIRED', reason: 'gone' } });
  });

  it('shows everybody whether the provider of a model stores state, and for how long', async () => {
    const made = await admin.send(MODEL, { input: { ...NEW_MODEL, name: 'storing' } });
    const id = pick<string>(made, 'adminModelUpsert', 'model', 'id');
    await admin.send(STATE, { input: { id, state: 'PUBLISHED', reason: 'go' } });
    expect(await record(id)).toMatchObject({ storesState: false, stateRetentionDays: 30 });
    const change = async (version: number, more: object) =>
      codesOf(
        await admin.send(MODEL, { input: { ...NEW_MODEL, name: 'storing', id, version, ...more } }),
        'adminModelUpsert',
      );
    expect(await change(2, { storesState: true, stateRetentionDays: 3_651 })).toEqual(['INVALID']);
    expect(await change(2, { storesState: true, stateRetentionDays: 7 })).toEqual([]);
    expect(await change(3, {})).toEqual([]);
    expect(await record(id)).toMatchObject({ storesState: true, stateRetentionDays: 7 });
    const text = '{ catalogModel(name: "storing") { storesState stateRetentionDays } }';
    const read = await test.browser().send(text);
    expect(read.data).toEqual({ catalogModel: { storesState: true, stateRetentionDays: 7 } });
    await admin.send(STATE, { input: { id, state: 'RETIRED', reason: 'gone' } });
  });

  it('retires a deprecated model at its announced time, once if several jobs run together', async () => {
    const { id } = pick<{ id: string }>(
      await admin.send('{ catalogModel(name: "reasoner") { id } }'),
      'catalogModel',
    );
    const deprecate = async (retiresAt: string, note = ' Answers become shorter. ') =>
      codesOf(
        await admin.send(STATE, { input: { id, state: 'DEPRECATED', retiresAt, note, reason: 'old' } }),
        'adminModelSetState',
      );
    expect(await deprecate(new Date(Date.now() - 1000).toISOString())).toEqual(['INVALID']);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    expect(await deprecate(soon, 'x'.repeat(501))).toEqual(['INVALID']);
    expect(await deprecate(soon)).toEqual([]);
    const readByVisitor = () =>
      test
        .browser()
        .send('query ($id: ID!) { node(id: $id) { ... on CatalogModel { deprecation { note } } } }', { id });
    expect(pick(await readByVisitor(), 'node', 'deprecation')).toEqual({ note: 'Answers become shorter.' });
    const em = () => test.orm.em.fork();
    const stateNow = () =>
      query(em(), sql`select state, retires_at <= now() as due from model where id = ${id}`);
    await retireDueModels(em());
    expect(await stateNow()).toEqual([{ state: 'DEPRECATED', due: false }]);
    expect(await record(id)).not.toBeNull();
    await query(em(), sql`update model set retires_at = now() - interval '1 second' where id = ${id}`);
    await Promise.all([retireDueModels(em()), retireDueModels(em()), retireDueModels(em())]);
    expect(await stateNow()).toEqual([{ state: 'RETIRED', due: true }]);
    expect(await record(id)).toBeNull();
    const events = await query(
      em(),
      sql`select actor_kind, before->>'state' as before, after->>'state' as after from audit_event
        where target_id = ${id} and after->>'state' = 'RETIRED'`,
    );
    expect(events).toEqual([{ actor_kind: 'SYSTEM', before: 'DEPRECATED', after: 'RETIRED' }]);
    expect(await query(em(), sql`select deprecation_note as note from model where id = ${id}`)).toEqual([
      { note: 'Answers become shorter.' },
    ]);
    await admin.send(STATE, { input: { id, state: 'PUBLISHED', reason: 'back' } });
    expect(pick(await readByVisitor(), 'node', 'deprecation')).toBeNull();
  });

  it('publishes new prices of all models to nodes when a ratio changes', async () => {
    const set = (input: object) => admin.send(RATIO, { input: { group: 'VIP', reason: 'sale', ...input } });
    expect(codesOf(await set({ ratio: '0.55555', version: 1 }), 'adminGroupRatioSet')).toEqual(['INVALID']);
    expect(codesOf(await set({ ratio: '0.5', version: 9 }), 'adminGroupRatioSet')).toEqual(['STALE_VERSION']);
    expect(codesOf(await set({ ratio: '0.5', version: 1 }), 'adminGroupRatioSet')).toEqual([]);
    const rows = await query<{ payload: { name: string; prices: { vip: { price: string } } } }>(
      test.orm.em.fork(),
      sql`select payload from config_log where kind = 'MODEL' and not removed`,
    );
    expect(rows).toHaveLength(10);
    expect(rows.find(({ payload }) => payload.name === 'flagship')?.payload.prices.vip.price).toBe('225000');
  });

  it('can be changed by administrators only, and records each change in the audit chain', async () => {
    const user = await test.user('user@example.com');
    for (const browser of [user, test.browser()]) {
      expect((await browser.send(MODEL, { input: NEW_MODEL })).errors[0]?.extensions.code).toMatch(
        /FORBIDDEN|UNAUTHENTICATED/,
      );
    }
    expect(await checkChain(test.orm.em.fork(), null)).toMatchObject({ brokenAt: null, complete: true });
    const log = await admin.send(
      '{ admin { auditLog { nodes { action actor { kind label } before after prevHash hash } } } }',
    );
    const events = pick<{ action: string; hash: string; prevHash: string }[]>(
      log,
      'admin',
      'auditLog',
      'nodes',
    );
    expect(events.map((event) => event.action)).toContain('group-ratio.set');
    events.slice(1).forEach((event, at) => expect(events[at]?.prevHash).toBe(event.hash));
  });
});

describe('pricesOf', () => {
  it("returns price × ratio for each of the model's groups, and for no other", () => {
    const groups = fc.subarray(['default', 'vip', 'svip'] as const);
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(0n, 100_000n), groups, (price, ratio, own) => {
        const rows = (['default', 'vip', 'svip'] as const).map((name) => ({
          name,
          ratio,
          description: null,
          updatedAt: new Date(),
          version: 1,
        }));
        const prices = pricesOf({ price, groups: own }, rows);
        expect(prices.map((item) => item.group)).toEqual(
          rows.map((row) => row.name).filter((name) => own.includes(name)),
        );
        for (const item of prices) expect(item.price).toBe(chargeFor(price, ratio));
      }),
    );
  });
});
