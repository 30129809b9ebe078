/** A configuration for tests, and random edits of it. */
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import fc from 'fast-check';
import type { Quirk } from '@gateway/shared/quirks';
import { readDocument } from '../../control-plane/configuration/yaml.ts';
import type { ConfigurationDocument } from '../../control-plane/configuration/document.ts';

/** The secrets of `BASE`, and those that edits use. */
export const SECRETS = new Map([
  ['env:ONE', 'sk-one-0123456789'],
  ['env:TWO', 'sk-two-0123456789'],
  ['env:THREE', 'sk-three-0123456789'],
]);

/** Two upstreams serve each of three models, so that most edits leave every model served. */
export const BASE: ConfigurationDocument = readDocument(`
version: 1
prune: [models, upstreams, credentials, routes]
groups: { default: { ratio: 1 }, vip: { ratio: 0.9 }, svip: { ratio: 0.8 } }
models:
${['flagship', 'swift', 'budget'].map((name) => `  - { name: ${name} }`).join('\n')}
upstreams:
${['alpha', 'beta']
  .map(
    (name) => `  - { name: ${name}, protocols: [openai-chat], baseUrl: "http://127.0.0.1:9/${name}",
      credentials: [{ label: one, secret: "env:ONE" }, { label: two, secret: "env:TWO" }] }`,
  )
  .join('\n')}
routes:
${['flagship', 'swift', 'budget']
  .flatMap((model) => ['alpha', 'beta'].map((upstream) => ({ model, upstream })))
  .map(
    ({ model, upstream }) =>
      `  - { model: ${model}, upstream: ${upstream}, upstreamModel: ${model}-1, families: [messages] }`,
  )
  .join('\n')}
storefront: { pricesConfirmed: true, state: OPEN }
personalIntelligence: { monthlyBudget: 10 }
`);

/** A change of a configuration. */
type Edit = (document: ConfigurationDocument) => ConfigurationDocument;

const dollars = fc.integer({ min: 1, max: 2_000_000 }).map((micros) => (micros / 1_000_000).toFixed(6));
const place = fc.nat(50);

function editAt<Entry>(entries: Entry[] | undefined, at: number, change: Partial<Entry>): Entry[] {
  const all = entries ?? [];
  return all.map((entry, index) => (index === at % all.length ? { ...entry, ...change } : entry));
}

function without<Entry>(entries: Entry[] | undefined, at: number): Entry[] {
  const all = entries ?? [];
  return all.length < 2 ? all : all.filter((_, index) => index !== at % all.length);
}

/** Applies a change of the fields of one element of a section. */
function fieldEdit<const Name extends 'models' | 'upstreams' | 'routes'>(
  section: Name,
  change: fc.Arbitrary<Partial<NonNullable<ConfigurationDocument[Name]>[number]>>,
): fc.Arbitrary<Edit> {
  return fc.tuple(place, change).map(([at, fields]): Edit => (document) => ({
    ...document,
    [section]: editAt<object>(document[section], at, fields),
  }));
}

const BOTH = [
  { label: 'one', secret: 'env:ONE' },
  { label: 'two', secret: 'env:TWO' },
];
const BEARER = { ...DEFAULT_ACCESS, auth: 'BEARER', proxyUrl: 'http://127.0.0.1:3128' } as const;
const SEED_QUIRK: Quirk = { kind: 'DROP', member: 'seed', other: null, value: null, min: null, max: null };

const modelEdit = fieldEdit(
  'models',
  fc.oneof(
    dollars.map((price) => ({ price: readPrice(price) })),
    fc.string({ maxLength: 60 }).map((description) => ({ description })),
    fc
      .constantFrom('FIXED' as const, 'FASTEST' as const, 'CHEAPEST' as const)
      .map((routing) => ({ routing })),
    fc.boolean().map((hedged) => ({ hedged })),
    fc.integer({ min: 1, max: 100 }).map((maxInputs) => ({ limits: { maxInputs } })),
  ),
);
/**
 * Changes the state of a model of the base. A new model stays a draft: only drafts are deleted when they are
 * taken back, and published models are retired.
 */
const stateEdit = fc
  .tuple(fc.nat(2), fc.constantFrom('PUBLISHED' as const, 'DEPRECATED' as const, 'RETIRED' as const))
  .map(([at, state]): Edit => (document) => ({
    ...document,
    models: (document.models ?? []).map((model) =>
      model.name === BASE.models?.[at]?.name ? { ...model, state } : model,
    ),
  }));
const upstreamEdit = fieldEdit(
  'upstreams',
  fc.oneof(
    fc.constantFrom(null, 4, 8).map((concurrencyLimit) => ({ concurrencyLimit })),
    fc.constantFrom(null, 5, 60).map((probeMinutes) => ({ probeMinutes })),
    fc.constantFrom(null, BEARER).map((access) => ({ access })),
    fc.boolean().map((enabled) => ({ enabled })),
    fc.integer({ min: 1, max: 90_000 }).map((idleMs) => ({ timeouts: { idleMs } })),
    fc.boolean().map(() => ({ quirks: [SEED_QUIRK] })),
    fc.boolean().map(() => ({ credentials: [{ label: 'one', secret: 'env:THREE' }] })),
    fc.boolean().map(() => ({ baseUrl: 'http://127.0.0.2:9/moved', credentials: BOTH })),
  ),
);
const routeEdit = fieldEdit(
  'routes',
  fc.oneof(
    fc.integer({ min: 0, max: 1000 }).map((priority) => ({ priority })),
    fc.integer({ min: 1, max: 10_000 }).map((weight) => ({ weight })),
    dollars.map((cost) => ({ cost: readPrice(cost) })),
    fc.boolean().map((enabled) => ({ enabled })),
    fc.constantFrom('other-1', 'other-2').map((upstreamModel) => ({ upstreamModel })),
  ),
);
const listEdit: fc.Arbitrary<Edit> = fc.oneof(
  place.map((at): Edit => (document) => ({ ...document, routes: without(document.routes, at) })),
  fc.nat(1_000_000).map((number): Edit => (document) => {
    const name = `draft-${number}`;
    const model = {
      tier: 'balanced',
      contextTokens: 1000,
      price: '0.01',
      groups: ['vip'],
      families: ['rerank'],
    } as const;
    return {
      ...document,
      models: [...(document.models ?? []), { ...model, name, groups: ['vip'], families: ['rerank'] }],
      upstreams: [
        ...(document.upstreams ?? []),
        {
          name,
          protocols: ['openai-chat'],
          baseUrl: 'http://127.0.0.3:9',
          credentials: [{ label: 'new', secret: 'env:THREE' }],
        },
      ],
      routes: [
        ...(document.routes ?? []),
        { model: name, upstream: name, upstreamModel: 'x', families: ['rerank'] },
      ],
    };
  }),
);
const sectionEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }).map((concurrentRequestsPerKey): Edit => (document) => ({
    ...document,
    limits: { ...document.limits, concurrentRequestsPerKey },
  })),
  fc.integer({ min: 0, max: 100_000 }).map((ratio): Edit => (document) => ({
    ...document,
    groups: {
      ...document.groups,
      svip: { ratio: String(ratio / 10_000) },
    } as ConfigurationDocument['groups'],
  })),
  dollars.map((basePrice): Edit => (document) => ({
    ...document,
    storefront: {
      ...document.storefront,
      basePrice: readPrice(basePrice),
      state: 'CLOSED',
      message: 'Soon.',
    },
  })),
  dollars.map((budget): Edit => (document) => ({
    ...document,
    personalIntelligence: { monthlyBudget: readPrice(budget), upstreams: ['alpha'] },
  })),
);

/** One random change of a configuration. */
export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  modelEdit,
  stateEdit,
  upstreamEdit,
  routeEdit,
  listEdit,
  sectionEdit,
);

/** The amount as `readDocument` writes it. */
function readPrice(text: string): string {
  const price = readDocument(`{ version: 1, models: [{ name: any, price: "${text}" }] }`).models?.[0]?.price;
  if (price === undefined) throw new Error(`${text} is no price.`);
  return price;
}
