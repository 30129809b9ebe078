/**
 * Sample data of the fake control plane: the figures of the design's pictures, and states that the pictures
 * show.
 */
import { endpointsOf } from './sample-endpoints.ts';
import { usageOf } from './sample-usage.ts';
import { snippetsFor } from './snippets.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A moment in the past, as the service writes it. */
export function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

const MODELS = [
  [
    'flagship-max',
    'TOP_FLAGSHIP',
    1_000_000,
    '0.6',
    'Long documents, hard decisions',
    'REASONING TOOLS FILES VISION LONG_CONTEXT',
    'COMPACT SEARCH IMAGES',
  ],
  [
    'flagship',
    'SECOND_FLAGSHIP',
    1_000_000,
    '0.45',
    'General work over large contexts',
    'REASONING TOOLS FILES VISION LONG_CONTEXT',
    'COMPACT SEARCH',
  ],
  [
    'coder-max',
    'AGENTIC_CODING',
    400_000,
    '0.3',
    'Large changes, many files',
    'AGENTIC_CODING REASONING TOOLS FILES',
    'COMPACT SEARCH',
  ],
  [
    'coder',
    'AGENTIC_CODING',
    256_000,
    '0.3',
    'Everyday edits and reviews',
    'AGENTIC_CODING TOOLS FILES',
    'COMPACT SEARCH',
  ],
  [
    'reasoner',
    'HARD_REASONING',
    256_000,
    '0.28',
    'Slow and thorough',
    'HARD_REASONING REASONING TOOLS',
    'COMPACT',
  ],
  [
    'balanced',
    'BALANCED',
    256_000,
    '0.25',
    'Chat, drafts, extraction',
    'BALANCED TOOLS FILES VISION',
    'REALTIME',
  ],
  ['balanced-vision', 'BALANCED', 256_000, '0.25', 'The same with images', 'BALANCED TOOLS VISION', 'IMAGES'],
  ['swift', 'FAST_CHEAP', 128_000, '0.1', 'Autocomplete, voice', 'FAST_CHEAP TOOLS', 'AUDIO REALTIME'],
  [
    'budget',
    'BUDGET_A',
    128_000,
    '0.03',
    'Classification, tagging',
    'BUDGET TOOLS',
    'EMBEDDINGS MODERATIONS',
  ],
  ['budget-plus', 'BUDGET_B', 128_000, '0.05', 'Retrieval pipelines', 'BUDGET TOOLS', 'EMBEDDINGS RERANK'],
] as const;

const RATIOS = [
  ['DEFAULT', 10n, '1'],
  ['VIP', 9n, '0.9'],
  ['SVIP', 8n, '0.8'],
] as const;

export const groupRatios = RATIOS.map(([group, , ratio]) => ({
  group,
  ratio,
  version: 1,
  updatedAt: ago(72 * HOUR_MS),
}));

function priceOf(price: string, tenths: bigint): string {
  const [whole = '0', fraction = ''] = price.split('.');
  const micros = ((BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))) * tenths) / 10n;
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
    .padEnd(2, '0')}`;
}

const HEALTH = {
  status: 'OK',
  successRate24h: '0.9982',
  p50LatencyMs: 2_400,
  p95LatencyMs: 9_100,
  p50FirstTokenMs: 420,
  p95FirstTokenMs: 1_300,
};

export const models = MODELS.map(([name, tier, contextTokens, price, description, traits, families]) => ({
  __typename: 'CatalogModel',
  id: `mdl_${name}`,
  name,
  displayName: name,
  tier,
  contextTokens,
  description,
  traits: traits.split(' '),
  chatParameters: [
    ...['TEMPERATURE', 'MAX_TOKENS', 'TOP_P', 'STOP'],
    ...(traits.includes('REASONING') ? ['EFFORT'] : ['SEED']),
  ],
  pricePerRequest: price,
  state: 'PUBLISHED',
  groups: ['DEFAULT', 'VIP', 'SVIP'],
  passUnknown: false,
  storesState: name === 'flagship-max',
  stateRetentionDays: 30,
  routing: 'FIXED',
  hedged: false,
  maxOutputTokens: 64_000,
  inputModalities: ['text', 'image'],
  outputModalities: ['text'],
  deprecation: null as object | null,
  frozenInPools: name === 'coder' ? 2 : 0,
  version: 1,
  clientSnippets: snippetsFor(name),
  routes: [{ __typename: 'UpstreamRoute', id: `rte_of_${name}`, enabled: true }],
  prices: RATIOS.map(([group, tenths, ratio]) => ({ group, ratio, pricePerRequest: priceOf(price, tenths) })),
  endpoints: endpointsOf(name, families.split(' ')),
  health: HEALTH,
}));

/** Undoes what tests did to the life of models. */
export function resetModels(): void {
  for (const model of models) Object.assign(model, { state: 'PUBLISHED', deprecation: null });
}

interface KeySeed {
  name: string;
  masked: [string, string];
  used?: number;
  ip?: string;
  spent?: string;
  more?: object;
}

const KEYS: KeySeed[] = [
  {
    name: 'Codex in CI',
    masked: ['sk-mN0r', 'h3Za'],
    used: 34_000,
    ip: '192.0.2.61',
    spent: '58.32',
    more: {
      group: 'SVIP',
      groupRatio: '0.8',
      rotation: {
        pendingReveal: false,
        previousSuffix: 'Kd2u',
        graceEndsAt: ago(-3 * HOUR_MS),
        previousLastUsedAt: ago(2 * MINUTE_MS),
      },
    },
  },
  {
    name: 'Production API',
    masked: ['sk-7Qm2', 'x9Fd'],
    used: 2 * MINUTE_MS,
    ip: '203.0.113.24',
    spent: '412.35',
  },
  {
    name: 'Claude Code, laptop',
    masked: ['sk-Vt4c', '8KpL'],
    used: 5 * MINUTE_MS,
    ip: '198.51.100.7',
    spent: '86.535',
    more: { group: 'VIP', groupRatio: '0.9' },
  },
  { name: 'Atlas batch', masked: ['sk-e8Lw', 'Qy5T'], used: 6 * MINUTE_MS, ip: '203.0.113.88' },
  { name: 'Staging', masked: ['sk-Jd1x', 'b7Rk'], used: 26 * HOUR_MS, ip: '198.51.100.7', spent: '3.05' },
  {
    name: 'Gemini CLI test',
    masked: ['sk-Zp9s', 'T2mV'],
    used: 72 * HOUR_MS,
    ip: '45.83.64.12',
    spent: '4.05',
    more: { state: 'DISABLED', disabledReason: 'LEAKED', group: 'VIP', groupRatio: '0.9' },
  },
  {
    name: 'Old mobile app',
    masked: ['sk-u3Bq', 'c0Ne'],
    used: 1_200 * HOUR_MS,
    ip: '192.0.2.14',
    more: { state: 'DISABLED', disabledReason: 'OWNER' },
  },
  {
    name: 'Voice demo',
    masked: ['', ''],
    more: { state: 'DISABLED', disabledReason: 'NOT_REVEALED', revealedAt: null },
  },
];

/** A key of the account: an enabled key with default values, changed by the given members. */
export function makeKey(id: string, { name, masked, used, ip, spent = '0', more = {} }: KeySeed) {
  return {
    __typename: 'ApiKey',
    id,
    name,
    prefix: masked[0],
    suffix: masked[1],
    state: 'ENABLED',
    disabledReason: null as string | null,
    group: 'DEFAULT',
    groupRatio: '1',
    expiresAt: null,
    createdAt: ago(HOUR_MS),
    revealedAt: ago(HOUR_MS) as string | null,
    lastUsedAt: used === undefined ? null : ago(used),
    lastUsedIp: ip ?? null,
    spentThisMonth: spent,
    rotation: null as object | null,
    baseUrl: 'https://gateway.example',
    pool: null as { id: string; name: string; subdomain: string } | null,
    allowedIps: [] as string[],
    allowedModels: null as object[] | null,
    spendLimit: null as string | null,
    clientSnippets: snippetsFor('swift'),
    usageSummary: () => usageOf(name, used),
    version: 1,
    ...more,
  };
}

export type SampleKey = ReturnType<typeof makeKey>;

/** The keys of the account. */
export function makeKeys(): SampleKey[] {
  return KEYS.map((seed, index) => makeKey(`key_${index + 1}`, seed));
}

const ROWS = [
  ['coder-max', 'Codex in CI', 48_002, 1_377, '0.24', 'SUCCEEDED', 200, 5_900, 700, '192.0.2.61'],
  ['coder', 'Production API', 18_204, 1_120, '0.30', 'SUCCEEDED', 200, 3_200, 640, '203.0.113.24'],
  ['flagship', 'Production API', 104_311, 2_405, '0.45', 'SUCCEEDED', 200, 11_400, 1_200, '203.0.113.24'],
  ['coder', 'Claude Code, laptop', 9_120, null, '0.00', 'FAILED', 504, 60_000, null, '198.51.100.7'],
  ['balanced', null, 2_014, 511, '0.25', 'SUCCEEDED', 200, 4_100, 410, '198.51.100.7'],
  ['budget-plus', 'Production API', 612, 88, '0.0255', 'SUCCEEDED', 200, 700, 180, '203.0.113.24'],
  ['coder-max', 'Claude Code, laptop', 61_220, 1_904, '0.27', 'CANCELLED', 200, 6_600, 720, '198.51.100.7'],
  ['coder', 'Atlas batch', null, null, '0.00', 'THROTTLED', 429, 2, null, '203.0.113.88'],
] as const;

/** One line of the usage log. */
export function makeRow(index: number) {
  const [modelName, keyName, inputTokens, outputTokens, cost, status, httpStatus, latencyMs, ttftMs, ip] =
    ROWS[index % ROWS.length] ?? ROWS[0];
  const keyId = keyName === null ? null : `key_${KEYS.findIndex(({ name }) => name === keyName) + 1}`;
  return {
    __typename: 'UsageEntry',
    id: `use_${index}`,
    requestId: `req_01KAGX${String(index).padStart(6, '0')}`,
    modelName,
    keyId,
    key: keyId === null ? null : { __typename: 'ApiKey', id: keyId, name: keyName },
    poolId: null,
    source: keyId === null ? 'PLAYGROUND' : 'API_KEY',
    inputTokens,
    cachedTokens: inputTokens === null ? null : Math.floor(inputTokens * 0.8),
    outputTokens,
    cost,
    status,
    httpStatus,
    latencyMs,
    ttftMs,
    ip,
    createdAt: ago(index * 41_000),
  };
}
