/** Answers of the fake control plane about dedicated pools: storefront, quotes, purchases, two pools. */
import { connection } from './connection.ts';
import { ago, makeKey, models, type SampleKey } from './sample.ts';

const DAY_MS = 86_400_000;
const QUOTE_MS = 900_000;
const PERIOD_DAYS = 30;
const INCLUDED = 3;
const CENTS = 100;
const BASE_CENTS = 9_900;
const EXTRA_CENTS = 1_900;

type Input<Value> = { input: Value };

/** The state of pools that tests change and read. */
export interface PoolState {
  storefront: ReturnType<typeof makeStorefront>;
  pools: SamplePool[];
  /** The code with which the next purchase or renewal is refused. */
  refusal: string | null;
  /** In cents. */
  cash: number;
  keys: SampleKey[];
}

interface Page {
  first: number;
  after?: string | null;
}

function dollars(cents: number): string {
  return (cents / CENTS).toFixed(2);
}

function makeStorefront() {
  return {
    state: 'OPEN',
    message: 'New pools start within a minute.' as string | null,
    basePrice: dollars(BASE_CENTS),
    extraModelPrice: dollars(EXTRA_CENTS),
    includedModels: INCLUDED,
    maxModels: 10,
    rpmCap: 60,
    giftCredit: '10.00',
    periodDays: PERIOD_DAYS,
    poolRequestsFree: true,
    pricesConfirmed: false,
    changedAt: ago(200 * 60_000),
    version: 1,
    openQuotes: 2,
    offeredModels: models,
  };
}

interface PoolSeed {
  name: string;
  names: readonly string[];
  /** Days since its start. */
  age: number;
  /** Its number, which is also the one of its key. */
  number: number;
}

function makePool({ name, names, age, number }: PoolSeed) {
  const subdomain = name.toLowerCase();
  const startsAt = ago(age * DAY_MS);
  const endsAt = ago((age - PERIOD_DAYS) * DAY_MS);
  return {
    __typename: 'Pool',
    id: `pool_${number}`,
    name,
    subdomain,
    baseUrl: `https://${subdomain}.gateway.example`,
    state: PERIOD_DAYS - age > 7 ? 'ACTIVE' : 'EXPIRING',
    rpmCap: 60,
    rpmNow: 41,
    rpmPeak24h: 58,
    throttled24h: 3,
    startsAt,
    endsAt,
    autoRenew: false,
    version: 1,
    owner: { __typename: 'User', id: 'usr_1', email: 'mara@lindgren.dev' },
    models: names.map((modelName) => ({
      modelName,
      frozenAt: startsAt,
      currentModel: models.find((model) => model.name === modelName) ?? null,
    })),
    periods: [makePeriod(number, { startsAt, endsAt })],
    usageSummary: { totals: { cost: '0', requests: 8_412, failed: 12 } },
  };
}

export type SamplePool = ReturnType<typeof makePool> & { keys?: unknown };

function makePeriod(number: number, dates: { startsAt: unknown; endsAt: unknown }, paid = BASE_CENTS) {
  return {
    __typename: 'PoolPeriod',
    id: `per_${number}_${Math.round(Math.random() * 1e9)}`,
    number: 1,
    ...dates,
    paid: dollars(paid),
    giftGranted: '10.00',
    refunded: '0.00',
    ledgerEntries: [
      ['POOL_PURCHASE', `-${dollars(paid)}`],
      ['GIFT_POOL', '10.00'],
    ].map(([kind, amount]) => ({
      __typename: 'LedgerEntry',
      id: `led_pool_${number}_${kind}`,
      seq: number,
      kind,
      amount,
      reference: `pool:pool_${number}:1:${kind}`,
      createdAt: dates.startsAt,
    })),
  };
}

/** The storefront and the pools at first. */
export function makePools(): Omit<PoolState, 'keys'> {
  const seeds = [
    { name: 'Atlas', names: ['coder', 'swift', 'balanced'], age: 20, number: 1 },
    { name: 'Orbit', names: ['flagship', 'budget'], age: 27, number: 2 },
  ];
  return { storefront: makeStorefront(), pools: seeds.map(makePool), refusal: null, cash: 21_150 };
}

function viewOf(state: PoolState, pool: SamplePool) {
  const bound = () => state.keys.filter((key) => key.pool?.id === pool.id);
  return { ...pool, keys: ({ first, after }: Page) => connection(bound(), first, after ?? null) };
}

interface PoolPage extends Page {
  search?: string | null;
  state?: readonly string[] | null;
}

/** The pools of a list, as the fake answers them. */
export function poolsOf(state: PoolState) {
  return ({ first, after, search = '', state: states }: PoolPage) =>
    connection(
      state.pools
        .filter((pool) => !states || states.includes(pool.state))
        .filter(({ name }) => name.toLowerCase().includes((search ?? '').toLowerCase()))
        .map((pool) => viewOf(state, pool)),
      first,
      after ?? null,
    );
}

/** The root fields about pools. */
export function poolQueries(state: PoolState) {
  return {
    poolStorefront: () => state.storefront,
    pool: ({ id }: { id: string }) => {
      const pool = state.pools.find((candidate) => candidate.id === id);
      return pool ? viewOf(state, pool) : null;
    },
    subdomainAvailability: ({ subdomain }: { subdomain: string }) => {
      const taken = state.pools.some((pool) => pool.subdomain === subdomain);
      return {
        subdomain,
        available: !taken,
        reason: taken ? 'SUBDOMAIN_TAKEN' : null,
        suggestion: taken ? `${subdomain}-2` : null,
      };
    },
  };
}

const quotes = new Map<string, { cents: number; names: string[] }>();

function makeQuote(state: PoolState, names: string[], startsAt: Date) {
  const further = Math.max(0, names.length - INCLUDED);
  const cents = BASE_CENTS + further * EXTRA_CENTS;
  const id = `quo_${quotes.size + 1}`;
  quotes.set(id, { cents, names });
  const lines = [
    { label: 'Dedicated pool', quantity: 1, unitPrice: dollars(BASE_CENTS), amount: dollars(BASE_CENTS) },
    {
      label: 'Further model',
      quantity: further,
      unitPrice: dollars(EXTRA_CENTS),
      amount: dollars(further * EXTRA_CENTS),
    },
  ];
  return {
    __typename: 'PoolQuote',
    id,
    lines: lines.slice(0, further > 0 ? 2 : 1),
    total: dollars(cents),
    giftCredit: '10.00',
    rpmCap: 60,
    periodDays: PERIOD_DAYS,
    startsAt,
    endsAt: new Date(startsAt.getTime() + PERIOD_DAYS * DAY_MS),
    validSeconds: QUOTE_MS / 1_000,
    payableFrom: dollars(state.cash),
    shortfall: dollars(Math.max(0, cents - state.cash)),
  };
}

function refused(state: PoolState) {
  const userErrors = [{ code: state.refusal, message: 'Refused.', field: null }];
  state.refusal = null;
  return { pool: null, period: null, wallet: null, ledgerEntries: null, replayed: false, userErrors };
}

function paid(state: PoolState, pool: SamplePool, cents: number) {
  state.cash -= cents;
  const amounts = { cash: dollars(state.cash), gift: '20.00', held: '0.90', available: dollars(state.cash) };
  const wallet = { __typename: 'Wallet', id: 'wal_1', ...amounts };
  const [period] = pool.periods;
  return { pool: viewOf(state, pool), period, wallet, ledgerEntries: [], replayed: false, userErrors: [] };
}

/** The mutations of owners. */
export function poolMutations(state: PoolState) {
  return {
    poolQuoteCreate: ({ input }: Input<{ modelIds: string[]; renewPoolId?: string }>) => {
      const renewed = state.pools.find(({ id }) => id === input.renewPoolId);
      if (!renewed && state.storefront.state === 'CLOSED')
        return { quote: null, userErrors: [{ code: 'STOREFRONT_CLOSED', message: 'Closed.', field: null }] };
      const names = renewed
        ? renewed.models.map(({ modelName }) => modelName)
        : input.modelIds.map((id) => id.replace('mdl_', ''));
      const start = renewed ? new Date(renewed.endsAt) : new Date();
      return { quote: makeQuote(state, names, start), userErrors: [] };
    },
    poolPurchase: ({ input }: Input<{ quoteId: string; name: string; subdomain: string }>) => {
      if (state.refusal !== null) return refused(state);
      const { cents = 0, names = [] } = quotes.get(input.quoteId) ?? {};
      const number = state.pools.length + 1;
      const made = makePool({ name: input.name, names, age: 0, number });
      const address = { subdomain: input.subdomain, baseUrl: `https://${input.subdomain}.gateway.example` };
      const pool = { ...made, ...address, rpmNow: 0, rpmPeak24h: 0, throttled24h: 0 };
      pool.periods = [makePeriod(number, pool, cents)];
      state.pools = [pool, ...state.pools];
      return paid(state, pool, cents);
    },
    poolRenew: ({ input }: Input<{ quoteId: string; poolId: string }>) => {
      if (state.refusal !== null) return refused(state);
      const pool = find(state, input.poolId);
      const { cents = 0 } = quotes.get(input.quoteId) ?? {};
      const dates = {
        startsAt: pool.endsAt,
        endsAt: ago(Date.now() - Date.parse(pool.endsAt) - PERIOD_DAYS * DAY_MS),
      };
      const period = { ...makePeriod(90, dates, cents), number: pool.periods.length + 1 };
      Object.assign(pool, { endsAt: dates.endsAt, state: 'ACTIVE', periods: [period, ...pool.periods] });
      return paid(state, pool, cents);
    },
    poolUpdate: ({ input }: Input<{ id: string; version: number }>) => {
      const pool = find(state, input.id);
      Object.assign(pool, input, { version: pool.version + 1 });
      return { pool: viewOf(state, pool), userErrors: [] };
    },
  };
}

/** The mutations of administrators. `tell` sends the new storefront to all subscribers. */
export function poolAdministration(state: PoolState, tell: () => void) {
  return {
    adminStorefrontSet: ({ input }: Input<{ state?: string; confirmPrices?: boolean; version: number }>) => {
      const { confirmPrices = false, ...change } = input;
      const pricesConfirmed = state.storefront.pricesConfirmed || confirmPrices;
      if (change.state === 'OPEN' && !pricesConfirmed) {
        const unconfirmed = { code: 'REQUIRED', message: 'Confirm the prices.', field: ['confirmPrices'] };
        return { storefront: null, userErrors: [unconfirmed] };
      }
      const version = state.storefront.version + 1;
      Object.assign(state.storefront, change, { pricesConfirmed, version, changedAt: ago(0) });
      tell();
      return { storefront: state.storefront, userErrors: [] };
    },
    adminPoolUpdate: ({ input }: Input<{ id: string; rpmCap?: number; cancel?: boolean }>) => {
      const pool = find(state, input.id);
      if (input.rpmCap !== undefined) pool.rpmCap = input.rpmCap;
      if (input.cancel === true) pool.state = 'CANCELLED';
      return { pool: viewOf(state, pool), userErrors: [] };
    },
  };
}

/** A key of a pool. */
export function makePoolKey(pool: SamplePool, index: number): SampleKey {
  const { id, name, subdomain, baseUrl } = pool;
  const bound = { baseUrl, pool: { __typename: 'Pool', id, name, subdomain } };
  const masked: [string, string] = ['sk-Ab12', 'wXyZ'];
  return makeKey(`key_pool_${index}`, { name: `${name} batch`, masked, used: 60_000, more: bound });
}

function find(state: PoolState, id: string): SamplePool {
  const pool = state.pools.find((candidate) => candidate.id === id);
  if (!pool) throw new Error('no such pool');
  return pool;
}
