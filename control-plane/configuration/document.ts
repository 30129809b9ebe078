/** The configuration file: its sections and fields. */
import { FAMILIES, GROUPS, PROTOCOLS, TIERS, TRAITS } from '@gateway/shared/catalog';
import { AMOUNT_MAX, formatDollars, formatRatio, parseDollars, parseRatio } from '@gateway/shared/money';
import { QUIRK_KINDS, QUIRKS_MAX } from '@gateway/shared/quirks';
import type { Quirk } from '@gateway/shared/quirks';
import { ROUTING_POLICIES } from '@gateway/shared/routing';
import { CONCURRENT_REQUESTS_MAX } from '../service-limits/service-limits.ts';
import {
  canonical,
  described,
  flag,
  integer,
  line,
  list,
  nullable,
  number,
  object,
  oneOf,
  paragraph,
  text,
} from './shape.ts';
import { accessShape } from './document.access.ts';
import type { Shape, ValueOf } from './shape.ts';

/** The version of the format. */
export const DOCUMENT_VERSION = 1;
/** Sections whose objects can be removed because the file does not name them. */
const PRUNABLE = ['models', 'upstreams', 'credentials', 'routes'] as const;
/** Largest whole number of a column. */
const WHOLE_MAX = 2_147_483_647;
const HOUR_MS = 3_600_000;

const dollars = canonical(
  (value) => {
    const amount = parseDollars(value);
    return amount === undefined || amount < 0n || amount > AMOUNT_MAX ? undefined : formatDollars(amount);
  },
  {
    advice: 'Write an amount in US dollars with at most six decimals, such as "0.25".',
    schema: { type: ['string', 'number'], pattern: '^\\d{1,13}(\\.\\d{1,6})?$', minimum: 0 },
  },
);
const ratio = canonical(
  (value) => {
    const parsed = parseRatio(value);
    return parsed === undefined ? undefined : formatRatio(parsed);
  },
  {
    advice: 'Write a ratio with at most four decimals, such as 0.9.',
    schema: { type: ['string', 'number'], pattern: '^\\d{1,4}(\\.\\d{1,4})?$', minimum: 0, maximum: 10 },
  },
);
const dateTime = canonical(
  (value) => {
    const date = /^\d{4}-\d{2}-\d{2}T/.test(value) ? new Date(value) : undefined;
    return date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined;
  },
  { advice: 'Write a time such as "2027-01-31T00:00:00Z".', schema: { type: 'string', format: 'date-time' } },
);
const address = canonical(
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isPlain = url && !url.search && !url.hash && !url.username && /^https?:$/.test(url.protocol);
    return isPlain ? `${url.origin}${url.pathname}`.replace(/\/+$/, '') : undefined;
  },
  {
    advice: 'Write an http or https address without user, query and fragment.',
    schema: { type: 'string', format: 'uri' },
  },
);
/** Where a secret is; never the secret itself. */
const reference: Shape<string> = described(
  'Where the secret is: env:NAME or file:/absolute/path. The secret itself is never in this file.',
  canonical((value) => (/^(env:[A-Za-z_]\w*|file:\/[^\0]+)$/.test(value) ? value : undefined), {
    advice: 'Write env:NAME or file:/absolute/path. A secret itself must not be in this file.',
    schema: { type: 'string', pattern: '^(env:[A-Za-z_]\\w*|file:/.+)$' },
  }),
);

const group = object({ ratio: described('Factor of every price.', ratio) });
const milliseconds = integer(1, HOUR_MS);

const model = object(
  {
    name: described('Exact name that clients send. It identifies the model.', line(63)),
    displayName: paragraph(100),
    description: text(2000),
    tier: oneOf(TIERS),
    traits: list(oneOf(TRAITS), { isSet: true }),
    contextTokens: integer(1, 100_000_000),
    price: described('Price of one request in US dollars, before the ratio of the group.', dollars),
    groups: list(oneOf(GROUPS), { isSet: true, min: 1 }),
    families: list(oneOf(FAMILIES), { isSet: true, min: 1 }),
    limits: object({
      maxChoices: integer(1, WHOLE_MAX),
      maxInputs: integer(1, WHOLE_MAX),
      maxBodyBytes: integer(1, WHOLE_MAX),
      serviceTiers: list(line(80), { isSet: true }),
    }),
    passUnknown: flag,
    storesState: flag,
    stateRetentionDays: integer(1, 3650),
    routing: described('How routes of one priority are chosen.', oneOf(ROUTING_POLICIES)),
    hedged: described('Whether a second upstream is asked while the first one is slow.', flag),
    state: oneOf(['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED']),
    retiresAt: nullable(dateTime),
    replacement: described('Name of the model to use instead.', nullable(line(63))),
    note: nullable(paragraph(500)),
  },
  ['name'],
);

const givenQuirk = object(
  {
    kind: oneOf(QUIRK_KINDS),
    member: nullable(text(500)),
    other: nullable(text(500)),
    value: nullable(text(500)),
    min: nullable(number),
    max: nullable(number),
  },
  ['kind'],
);
const NO_VALUES = { member: null, other: null, value: null, min: null, max: null };
const quirk: Shape<Quirk> = {
  schema: givenQuirk.schema,
  read: (value, at) => ({ ...NO_VALUES, ...givenQuirk.read(value, at) }),
};
const quirks = described(`At most ${QUIRKS_MAX} rows; see docs/operations.md.`, list(quirk));

const credential = object(
  {
    label: described('Name of the credential. It identifies the credential within its upstream.', line(80)),
    secret: described('Without it, the stored secret is kept.', reference),
    certificate: described(
      'Where the client certificate in PEM is, whose private key is the secret.',
      reference,
    ),
  },
  ['label'],
);

const upstream = object(
  {
    name: described('Name. It identifies the upstream.', line(80)),
    protocols: list(oneOf(PROTOCOLS), { isSet: true, min: 1 }),
    baseUrl: address,
    enabled: flag,
    timeouts: object({
      connectMs: milliseconds,
      headersMs: milliseconds,
      firstContentMs: milliseconds,
      idleMs: milliseconds,
      totalMs: milliseconds,
    }),
    concurrencyLimit: described(
      'Requests at once of one node; null for no limit.',
      nullable(integer(1, WHOLE_MAX)),
    ),
    probeMinutes: described('Minutes between two probes; null for none.', nullable(integer(1, 1440))),
    quirks,
    access: accessShape,
    credentials: list(credential),
  },
  ['name'],
);

const route = object(
  {
    model: described('Name of the model. Model, upstream and upstreamModel identify the route.', line(63)),
    upstream: described('Name of the upstream.', line(80)),
    upstreamModel: described("The upstream's name of the model.", line(200)),
    families: list(oneOf(FAMILIES), { isSet: true, min: 1 }),
    priority: integer(0, 1000),
    weight: integer(1, 10_000),
    cost: described('Cost of a request for you, in US dollars; null if unknown.', nullable(dollars)),
    enabled: flag,
    quirks,
  },
  ['model', 'upstream', 'upstreamModel'],
);

const storefront = object({
  state: oneOf(['OPEN', 'CLOSED']),
  message: nullable(paragraph(500)),
  basePrice: dollars,
  extraModelPrice: dollars,
  rpmCap: integer(1, 100_000),
  giftCredit: dollars,
  offeredModels: described(
    'Names of models; null for every published model.',
    nullable(list(line(63), { isSet: true, min: 1 })),
  ),
  poolRequestsFree: flag,
  pricesConfirmed: described('Confirms the prices, which opening requires.', oneOf([true])),
});

const policy = object(
  {
    version: described('A published version cannot be changed: give a new text a higher number.', line(20)),
    markdown: text(100_000),
    changeSummary: text(2000),
    effectiveAt: described('From when it is in force; now, if it is missing.', dateTime),
    requireReacceptance: flag,
  },
  ['version', 'markdown'],
);

const payments = object({
  cardEnabled: flag,
  apiAddress: address,
  apiKey: described('Without it, the stored key is kept.', reference),
  managedPayments: flag,
  automaticTax: flag,
  stablecoins: flag,
  taxCode: nullable(line(40)),
  amountMin: dollars,
  amountMax: dollars,
  dailyMax: dollars,
  presets: list(dollars, { isSet: true }),
});

const personalIntelligence = object({
  model: described('Name of the model that reads chats; null for none.', nullable(line(63))),
  monthlyBudget: dollars,
  upstreams: described(
    'Names of the upstreams that may see items; null for all.',
    nullable(list(line(80), { isSet: true, min: 1 })),
  ),
});

const concurrency = integer(1, CONCURRENT_REQUESTS_MAX);
const limits = object({
  concurrentRequestsPerWallet: described('Requests of one wallet that a node serves at once.', concurrency),
  concurrentRequestsPerKey: described('Requests of one key that a node serves at once.', concurrency),
});

/** The whole file. */
export const documentShape = object(
  {
    version: oneOf([DOCUMENT_VERSION]),
    prune: described(
      'Sections whose objects are removed if the file does not name them. Published models are retired.',
      list(oneOf(PRUNABLE), { isSet: true }),
    ),
    groups: object(
      Object.fromEntries(GROUPS.map((name) => [name, group])) as Record<
        (typeof GROUPS)[number],
        typeof group
      >,
    ),
    models: list(model),
    upstreams: list(upstream),
    routes: list(route),
    storefront,
    policy,
    payments,
    personalIntelligence,
    limits,
  },
  ['version'],
);

export type ConfigurationDocument = ValueOf<typeof documentShape>;
export type ModelEntry = ValueOf<typeof model>;
export type UpstreamEntry = ValueOf<typeof upstream>;
export type RouteEntry = ValueOf<typeof route>;

/** The references to secrets in a file, each once. */
export function referencesOf(document: ConfigurationDocument): string[] {
  const credentials = (document.upstreams ?? []).flatMap((each) => each.credentials ?? []);
  const given = credentials.flatMap(({ secret, certificate }) => [secret, certificate]);
  const references = [...given, document.payments?.apiKey];
  return [...new Set(references.filter((each) => each !== undefined))];
}
