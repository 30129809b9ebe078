/** Tests of dedicated pools on the API: storefront, quotes, purchases, keys, lists, renewals, cancelling. */
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { follow, socketClient } from '../../test/control/subscribe.ts';
import type { Followed } from '../../test/control/subscribe.ts';
import { publish } from '../database/events.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';

const POOL = `id name subdomain baseUrl state rpmCap autoRenew version startsAt endsAt rpmNow rpmPeak24h
  throttled24h models { modelName displayName frozenAt currentModel { name } } owner { email }
  periods { number paid giftGranted refunded ledgerEntries { kind bucket amount } } renewalQuote { id }`;
const ENTRY = 'kind amount subject { topic pool }';
const QUOTE = `quote { id total giftCredit rpmCap periodDays startsAt endsAt expiresAt payableFrom shortfall
  lines { label quantity unitPrice amount } models { name } }`;
const ERRORS = 'userErrors { code message field }';

/** How long a test polls for a condition, in ms; generous because the machine may be busy. */
const PATIENCE = { timeout: 30_000 };

describe('dedicated pools on the API', () => {
  let test: TestApp;
  let ann: Browser;
  let bob: Browser;
  let admin: Browser;
  let modelIds: string[];

  beforeAll(async () => {
    test = await startTestApp();
    [ann, bob, admin] = await Promise.all([
      test.user('ann@example.com'),
      test.user('bob@example.com'),
      test.admin(),
    ]);
    const catalog = await ann.send('{ catalog { nodes { id } } }');
    modelIds = pick<{ id: string }[]>(catalog, 'catalog', 'nodes').map(({ id }) => id);
  });
  afterAll(async () => {
    expect(await checkInvariants(test.orm.em.fork())).toEqual([]);
    await test.close();
  });

  const call = (browser: Browser, mutation: string, [type, fields]: [string, string], input: object) =>
    browser.send(`mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} ${ERRORS} } }`, {
      input,
    });

  const creditCash = async (browser: Browser, amount: string, key: string): Promise<void> => {
    const userId = pick<string>(await browser.send('{ viewer { id } }'), 'viewer', 'id');
    const answer = await call(admin, 'adminWalletAdjust', ['AdminWalletAdjustInput', 'replayed'], {
      userId,
      bucket: 'CASH',
      amount,
      reason: 'test',
      idempotencyKey: key,
    });
    expect(codesOf(answer, 'adminWalletAdjust')).toEqual([]);
  };

  const storefront = async (): Promise<Record<string, unknown>> =>
    pick(
      await admin.send(`{ poolStorefront { state message basePrice includedModels extraModelPrice periodDays
        rpmCap giftCredit maxModels poolRequestsFree pricesConfirmed openQuotes version
        offeredModels { name } } }`),
      'poolStorefront',
    );

  const setStorefront = async (input: object): Promise<Answer> =>
    call(
      admin,
      'adminStorefrontSet',
      ['AdminStorefrontInput', 'storefront { state version poolRequestsFree }'],
      { version: (await storefront())['version'], reason: 'test', ...input },
    );

  const quote = (browser: Browser, input: object): Promise<Answer> =>
    call(browser, 'poolQuoteCreate', ['PoolQuoteInput', QUOTE], input);

  const buy = async (browser: Browser, subdomain: string): Promise<Answer> => {
    const quoted = await quote(browser, { modelIds: modelIds.slice(0, 4) });
    return call(
      browser,
      'poolPurchase',
      [
        'PoolPurchaseInput',
        `pool { ${POOL} } period { number paid } wallet { cash gift } ledgerEntries { ${ENTRY} } replayed`,
      ],
      {
        quoteId: pick<string>(quoted, 'poolQuoteCreate', 'quote', 'id'),
        name: 'Team',
        subdomain,
        expectedTotal: '118.00',
        idempotencyKey: `buy-${subdomain}`,
      },
    );
  };

  /** Subscribes ann to `poolUpdated` of a pool; resolves when updates arrive. */
  const listenTo = async (id: string): Promise<Followed> => {
    const { received, client } = await follow(
      socketClient(test, ann),
      'subscription ($id: ID) { poolUpdated(id: $id) { id endsAt } }',
      { id },
    );
    const audience = pick<string>(await ann.send('{ viewer { id } }'), 'viewer', 'id');
    await vi.waitFor(async () => {
      await publish(test.orm.em.fork(), 'poolUpdated', { audience, id });
      expect(received.length).toBeGreaterThan(0);
    }, PATIENCE);
    return { received, client };
  };

  it('are not on sale at first; opening requires confirmed prices and is published live', async () => {
    expect(await storefront()).toMatchObject({
      state: 'CLOSED',
      basePrice: '99.00',
      extraModelPrice: '19.00',
      includedModels: 3,
      periodDays: 30,
      rpmCap: 60,
      giftCredit: '10.00',
      poolRequestsFree: true,
      pricesConfirmed: false,
    });
    expect(codesOf(await quote(ann, { modelIds }), 'poolQuoteCreate')).toEqual(['STOREFRONT_CLOSED']);
    const client = createClient({
      url: `${test.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
    });
    const states: unknown[] = [];
    const stop = client.subscribe(
      { query: 'subscription { storefrontUpdated { state message } }' },
      { next: ({ data }) => states.push(data?.['storefrontUpdated']), error: () => {}, complete: () => {} },
    );
    await vi.waitFor(async () => {
      await setStorefront({ message: 'Soon' });
      expect(states.length).toBeGreaterThan(0);
    }, PATIENCE);
    expect(codesOf(await setStorefront({ state: 'OPEN' }), 'adminStorefrontSet')).toEqual(['REQUIRED']);
    const opened = await setStorefront({ state: 'OPEN', confirmPrices: true, message: null });
    expect(codesOf(opened, 'adminStorefrontSet')).toEqual([]);
    await vi.waitFor(() => expect(states.at(-1)).toEqual({ state: 'OPEN', message: null }), PATIENCE);
    stop();
    await client.dispose();
    expect(codesOf(await setStorefront({ version: 1, rpmCap: 5 }), 'adminStorefrontSet')).toEqual([
      'STALE_VERSION',
    ]);
    const log = await admin.send(
      '{ admin { auditLog(filter: { actions: ["storefront.set"] }) { totalCount } } }',
    );
    expect(log.errors).toEqual([]);
  });

  it('are quoted line by line, with the missing cash', async () => {
    const answer = await quote(ann, { modelIds: modelIds.slice(0, 4) });
    expect(answer.data?.['poolQuoteCreate']?.['quote']).toMatchObject({
      total: '118.00',
      giftCredit: '10.00',
      rpmCap: 60,
      payableFrom: '0.00',
      shortfall: '118.00',
      lines: [
        { quantity: 1, unitPrice: '99.00', amount: '99.00' },
        { quantity: 1, unitPrice: '19.00', amount: '19.00' },
      ],
    });
    expect((await storefront())['openQuotes']).toBe(1);
    for (const input of [{ modelIds: [] }, { modelIds: [modelIds[0], modelIds[0]] }])
      expect(codesOf(await quote(ann, input), 'poolQuoteCreate')).toEqual(['INVALID']);
    const unknown = await quote(ann, { modelIds: ['mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV'] });
    expect(codesOf(unknown, 'poolQuoteCreate')).toEqual(['MODEL_UNAVAILABLE']);
  });

  let teamId = '';

  it('are bought from cash, with a receipt', async () => {
    expect(codesOf(await buy(ann, 'ann-team'), 'poolPurchase')).toEqual(['INSUFFICIENT_BALANCE']);
    await creditCash(ann, '400.00', 'ann-1');
    const bought = await buy(ann, 'ann-team');
    expect(bought.data?.['poolPurchase']).toMatchObject({
      replayed: false,
      wallet: { cash: '282.00', gift: '10.00' },
      ledgerEntries: [
        {
          kind: 'POOL_PURCHASE',
          amount: '-118.00',
          subject: { topic: 'POOL_FIRST_PERIOD', pool: 'ann-team' },
        },
        { kind: 'GIFT_POOL', amount: '10.00', subject: { topic: 'POOL_GIFT', pool: 'ann-team' } },
      ],
      pool: {
        state: 'ACTIVE',
        baseUrl: 'http://ann-team.localhost:8080',
        models: [
          { modelName: 'flagship-max' },
          {},
          {},
          { modelName: 'coder', currentModel: { name: 'coder' } },
        ],
        periods: [{ number: 1, paid: '118.00', giftGranted: '10.00' }],
        rpmNow: 0,
      },
    });
    teamId = pick<string>(bought, 'poolPurchase', 'pool', 'id');
  });

  it('are visible to their owner and administrators only, and changed by their owner only', async () => {
    const id = teamId;
    const version = pick<number>(await ann.send(`{ pool(id: "${id}") { version } }`), 'pool', 'version');
    const taken = 'query { subdomainAvailability(subdomain: "ann-team") { available reason suggestion } }';
    expect((await bob.send(taken)).data?.['subdomainAvailability']).toEqual({
      available: false,
      reason: 'SUBDOMAIN_TAKEN',
      suggestion: 'ann-team-2',
    });
    const single = `query ($id: ID!) { pool(id: $id) { name } node(id: $id) { id } }`;
    expect((await bob.send(single, { id })).data).toEqual({ pool: null, node: null });
    expect((await admin.send(single, { id })).data).toMatchObject({ pool: { name: 'Team' }, node: { id } });
    const update: [string, string] = ['PoolUpdateInput', 'pool { name autoRenew version }'];
    expect(codesOf(await call(bob, 'poolUpdate', update, { id, version, name: 'x' }), 'poolUpdate')).toEqual([
      'NOT_FOUND',
    ]);
    const renamed = await call(ann, 'poolUpdate', update, { id, version, name: ' Crew ', autoRenew: true });
    expect(renamed.data?.['poolUpdate']?.['pool']).toMatchObject({ name: 'Crew', autoRenew: true });
  });

  it('have their own keys, with their own base address', async () => {
    const id = teamId;
    const made = await call(
      ann,
      'apiKeyCreate',
      ['ApiKeyCreateInput', 'apiKey { id baseUrl pool { id name } }'],
      { name: 'pool key', poolId: id, idempotencyKey: 'key-1' },
    );
    expect(made.data?.['apiKeyCreate']?.['apiKey']).toMatchObject({
      baseUrl: 'http://ann-team.localhost:8080',
      pool: { id, name: 'Crew' },
    });
    await call(ann, 'apiKeyCreate', ['ApiKeyCreateInput', 'apiKey { id }'], {
      name: 'main',
      idempotencyKey: 'key-2',
    });
    const keys = async (filter: string): Promise<unknown> =>
      (await ann.send(`{ viewer { apiKeys(filter: { ${filter} }) { nodes { name baseUrl } } } }`)).data?.[
        'viewer'
      ];
    expect(await keys(`poolId: "${id}"`)).toMatchObject({ apiKeys: { nodes: [{ name: 'pool key' }] } });
    expect(await keys('mainDomainOnly: true')).toMatchObject({
      apiKeys: { nodes: [{ name: 'main', baseUrl: 'http://localhost:8080' }] },
    });
    const stranger = await call(bob, 'apiKeyCreate', ['ApiKeyCreateInput', 'apiKey { id }'], {
      name: 'x',
      poolId: id,
      idempotencyKey: 'key-3',
    });
    expect(codesOf(stranger, 'apiKeyCreate')).toEqual(['NOT_FOUND']);
  });

  it('are listed in pages for their owner, and searched by administrators', async () => {
    await buy(ann, 'ann-second');
    const page = async (after: string | null): Promise<Answer> =>
      ann.send(
        `query ($after: String) { viewer { pools(first: 1, after: $after) {
          totalCount nodes { subdomain keys { totalCount } } pageInfo { endCursor hasNextPage } } } }`,
        { after },
      );
    const first = await page(null);
    expect(first.data?.['viewer']?.['pools']).toMatchObject({
      totalCount: 2,
      nodes: [{ subdomain: 'ann-second', keys: { totalCount: 0 } }],
      pageInfo: { hasNextPage: true },
    });
    const second = await page(pick<string>(first, 'viewer', 'pools', 'pageInfo', 'endCursor'));
    expect(second.data?.['viewer']?.['pools']).toMatchObject({
      nodes: [{ subdomain: 'ann-team', keys: { totalCount: 1 } }],
      pageInfo: { hasNextPage: false },
    });
    const search = async (text: string, state = 'ACTIVE'): Promise<number> =>
      pick(
        await admin.send(
          `query ($text: String, $state: [PoolState!]) { admin { pools(search: $text, state: $state) {
            totalCount nodes { owner { email } } } } }`,
          { text, state: [state] },
        ),
        'admin',
        'pools',
        'totalCount',
      );
    expect(await search('ann@')).toBe(2);
    expect(await search('second')).toBe(1);
    expect(await search('', 'EXPIRED')).toBe(0);
    expect(await search('%')).toBe(0);
  });

  it('are renewed by a renewal quote, published live to their owner, and summarised', async () => {
    const listed = await ann.send('{ viewer { pools { nodes { id subdomain endsAt } } } }');
    const [, pool] = pick<{ id: string; endsAt: string }[]>(listed, 'viewer', 'pools', 'nodes');
    if (!pool) throw new Error('There is no pool.');
    const { received, client } = await listenTo(pool.id);
    await creditCash(ann, '200.00', 'ann-2');
    const quoted = await quote(ann, { renewPoolId: pool.id });
    expect(pick<string>(quoted, 'poolQuoteCreate', 'quote', 'startsAt')).toBe(pool.endsAt);
    expect(codesOf(await quote(ann, { renewPoolId: pool.id, modelIds }), 'poolQuoteCreate')).toEqual([
      'INVALID',
    ]);
    const renewed = await call(
      ann,
      'poolRenew',
      ['PoolRenewInput', 'pool { endsAt } period { number startsAt } replayed'],
      {
        poolId: pool.id,
        quoteId: pick<string>(quoted, 'poolQuoteCreate', 'quote', 'id'),
        expectedTotal: '118.00',
        idempotencyKey: 'renew-1',
      },
    );
    expect(renewed.data?.['poolRenew']).toMatchObject({ period: { number: 2, startsAt: pool.endsAt } });
    const { endsAt } = pick<{ endsAt: string }>(renewed, 'poolRenew', 'pool');
    await vi.waitFor(() => expect(received.at(-1)).toEqual({ id: pool.id, endsAt }), PATIENCE);
    await client.dispose();
    const summary = await ann.send(
      `query ($id: ID!, $range: DateRange!) { pool(id: $id) { usageSummary(range: $range, bucket: DAY) {
        totals { requests } } } }`,
      {
        id: pool.id,
        range: { from: new Date(Date.now() - 86_400_000).toISOString(), to: new Date().toISOString() },
      },
    );
    expect(summary.data?.['pool']).toMatchObject({ usageSummary: { totals: { requests: 0 } } });
  });

  it('are changed and cancelled by administrators, with a reason', async () => {
    const listed = await admin.send('{ admin { pools { nodes { id version rpmCap } } } }');
    const [pool] = pick<{ id: string; version: number }[]>(listed, 'admin', 'pools', 'nodes');
    const change = (browser: Browser, input: object): Promise<Answer> =>
      call(browser, 'adminPoolUpdate', ['AdminPoolInput', 'pool { state rpmCap version }'], {
        ...pool,
        rpmCap: undefined,
        reason: 'test',
        ...input,
      });
    expect((await change(ann, { rpmCap: 5 })).errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(codesOf(await change(admin, { rpmCap: 5, reason: ' ' }), 'adminPoolUpdate')).toEqual(['REQUIRED']);
    const capped = await change(admin, { rpmCap: 600 });
    expect(capped.data?.['adminPoolUpdate']?.['pool']).toMatchObject({ rpmCap: 600, state: 'ACTIVE' });
    const version = pick<number>(capped, 'adminPoolUpdate', 'pool', 'version');
    const cancelled = await change(admin, { version, cancel: true });
    expect(cancelled.data?.['adminPoolUpdate']?.['pool']).toMatchObject({ state: 'CANCELLED' });
    const seen = await ann.send(
      '{ viewer { pools(state: [CANCELLED]) { nodes { periods { refunded } } } } }',
    );
    const [ended] = pick<{ periods: { refunded: string }[] }[]>(seen, 'viewer', 'pools', 'nodes');
    expect(Number(ended?.periods[0]?.refunded)).toBeGreaterThan(117);
  });

  it('publish to the nodes whether their requests are free', async () => {
    const isFree = async (): Promise<unknown> =>
      (
        await queryOne<{ free: boolean }>(
          test.orm.em.fork(),
          sql`select (payload->>'poolRequestsFree')::boolean as free from config_log where kind = 'SETTINGS'`,
        )
      )?.free;
    await setStorefront({ poolRequestsFree: false });
    expect(await isFree()).toBe(false);
    await setStorefront({ poolRequestsFree: true });
    expect(await isFree()).toBe(true);
  });

  it('are counted per frozen model for administrators only', async () => {
    const text = '{ catalogModel(name: "flagship-max") { frozenInPools } }';
    expect((await admin.send(text)).data?.['catalogModel']).toEqual({ frozenInPools: 1 });
    expect((await ann.send(text)).data?.['catalogModel']).toEqual({ frozenInPools: null });
  });

  it('limit how often a user may look up subdomains', async () => {
    await query(test.orm.em.fork(), sql`update attempt_window set failures = 90, started_at = now()`);
    const answer = await bob.send('{ subdomainAvailability(subdomain: "free-one") { available } }');
    expect(answer.errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
  });
});
