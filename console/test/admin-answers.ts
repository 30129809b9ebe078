/** Answers of the fake control plane to administrators. */
import { type AccountState, sensitive } from './account-answers.ts';
import { policy, policyVersions, sessions } from './account.ts';
import { auditQueries } from './audit-answers.ts';
import { connection } from './connection.ts';
import { entries } from './sample-entries.ts';
import { ago, groupRatios, makeKeys, models } from './sample.ts';
import { adminStatusQueries } from './status-answers.ts';

const HOUR_MS = 3_600_000;

const USERS = [
  ['root@gateway.example', 'ADMIN', 'ACTIVE', '0'],
  ['mara@lindgren.dev', 'USER', 'ACTIVE', '221.50'],
  ['ops@atlas.example', 'USER', 'ACTIVE', '1204.055'],
  ['trial@example.org', 'USER', 'SUSPENDED', '0'],
] as const;

const users = USERS.map(([email, role, state, available], index) => ({
  __typename: 'User',
  id: `usr_admin_${index}`,
  email,
  displayName: index === 1 ? 'Mara Lindgren' : null,
  role,
  state,
  allowedGroups: ['DEFAULT', 'VIP'].slice(0, 1 + (index % 2)),
  createdAt: ago(index * 900 * HOUR_MS),
  wallet: { __typename: 'Wallet', id: `wal_${index}`, available, cash: available, gift: '0', frozen: false },
}));

/** A user with all that its page shows; null for an unknown id. */
function oneUser(id: string) {
  const user = users.find((known) => known.id === id);
  if (!user) return null;
  return {
    ...user,
    emailVerifiedAt: ago(HOUR_MS),
    locale: 'en',
    timeZone: 'Europe/Berlin',
    securityFactors: {
      hasPassword: true,
      totpEnabled: false,
      passkeys: [{ __typename: 'Passkey', id: 'pky_1' }],
      linkedIdentities: [],
    },
    policyAcceptances: [{ acceptedAt: ago(HOUR_MS), version: policy }],
    sessions: ({ first, after }: Page) => connection(sessions, first, after ?? null),
    apiKeys: ({ first, after }: Page) => connection(makeKeys(), first, after ?? null),
    usageSummary: {
      totals: { requests: 1204, cost: '301.00' },
      groups: [{ key: 'coder', label: 'coder', totals: { requests: 1204, cost: '301.00' } }],
    },
  };
}

const NODES = [
  ['eu-1', 'IN_SYNC', 18_442, 41],
  ['eu-2', 'IN_SYNC', 18_442, 38],
  ['us-1', 'LAGGING', 18_440, 12],
  ['us-2', 'OFFLINE', 18_102, 0],
] as const;

const nodes = NODES.map(([name, state, appliedRevision, inflight]) => ({
  __typename: 'DataPlaneNode',
  id: `nod_${name}`,
  name,
  region: name.slice(0, 2),
  version: '0.1.0',
  state,
  retired: false,
  appliedRevision,
  latestRevision: 18_442,
  inflight,
  rps: '18.2',
  usageBacklog: 3,
  lastSeenAt: ago(2_000),
  leases: 12,
  held: '3.400000',
}));

const JOBS = ['leases', 'ledger', 'pools', 'low balances', 'usage months', 'a job to come'];

const jobs = JOBS.map((name, index) => ({
  name,
  lastRunAt: index === 3 ? null : ago(index * 9_000),
  lastDurationMs: index === 3 ? null : 4 + index * 131,
  lastError: index === 2 ? 'canceling statement due to statement timeout' : null,
  lastFailedAt: [1, 2].includes(index) ? ago(index * 9_000 + HOUR_MS * (2 - index)) : null,
  nextRunAt: index === 3 ? null : ago([HOUR_MS, 1_000][index] ?? -index * HOUR_MS),
}));

const UPSTREAM_NAMES = ['north-coder-xl', 'north-coder-l', 'north-think-2', 'north-mid-4'];

const QUIRKS = [
  ['DROP', 'seed', null, null, null, null],
  ['RENAME', 'max_completion_tokens', 'max_tokens', null, null, null],
  ['CLAMP', 'temperature', null, null, 0, 1],
].map(([kind, member, other, value, min, max]) => ({
  ...{ __typename: 'UpstreamQuirk', kind, member, other, value, min, max },
}));

const NO_HEALTH = {
  __typename: 'ProviderHealth',
  status: 'UNKNOWN',
  circuit: 'CLOSED',
  requests5m: 0,
  errorRate5m: null,
  p95LatencyMs: null,
  inputTokens5m: '0',
  cachedTokens5m: '0',
  needsCredential: false,
  asOf: null,
  lastProbeAt: null,
  lastProbeStatus: null,
  lastProbeLatencyMs: null,
  lastProbeError: null,
  nodes: [],
};
const HEALTH = {
  ...NO_HEALTH,
  status: 'DEGRADED',
  circuit: 'OPEN',
  requests5m: 1_480,
  errorRate5m: '0.0412',
  p95LatencyMs: 1_840,
  inputTokens5m: '13320000',
  cachedTokens5m: '11241000',
  asOf: ago(3_000),
  lastProbeAt: ago(2 * HOUR_MS),
  lastProbeStatus: 401,
  lastProbeLatencyMs: 212,
  lastProbeError: 'REFUSED',
  nodes: ['eu-1', 'us-1'].map((nodeName, index) => ({
    __typename: 'ProviderNodeHealth',
    nodeName,
    circuit: ['CLOSED', 'OPEN'][index],
    requests: 740,
    ...{ busy: 4, timeouts: 1, refused: 0, failed: index * 51 },
    clockAheadMs: index === 1 ? 300_000 : null,
  })),
};

const providers = ['north-eu', 'demo'].map((name, place) => ({
  __typename: 'UpstreamProvider',
  id: `prv_${name}`,
  name,
  baseUrl: `https://${name}.example/v1`,
  protocols: ['MESSAGES', 'CHAT_COMPLETIONS'].slice(place),
  enabled: true,
  demo: place === 1,
  concurrencyLimit: null,
  version: 1,
  timeouts: { connectMs: 5000, headersMs: 60_000, firstContentMs: 60_000, idleMs: 90_000, totalMs: 600_000 },
  credentials: ['primary', 'overflow'].map((label, index) => ({
    __typename: 'UpstreamCredential',
    id: `crd_${name}_${label}`,
    label,
    suffix: ['4f2a', 'c91e'][index],
    enabled: index === 0,
    lastUsedAt: index === 0 ? ago(4_000) : null,
    lastError: index === 0 ? 'BUSY' : null,
    lastErrorAt: index === 0 ? ago(HOUR_MS) : null,
    suspendedUntil: index === 1 ? ago(-40_000) : null,
    quotaSpentUntil: index === 0 ? ago(-90_000) : null,
  })),
  health: place === 0 ? HEALTH : NO_HEALTH,
  quirks: place === 0 ? QUIRKS : [],
  probeMinutes: place === 0 ? 5 : null,
  routes: UPSTREAM_NAMES.map((upstreamModel, index) => ({
    __typename: 'UpstreamRoute',
    id: `rte_${name}_${index}`,
    enabled: index !== 2,
    families: ['CHAT_COMPLETIONS', 'COMPACT'],
    priority: 1 + (index % 2),
    weight: 100,
    cost: index === 0 ? '0.012' : null,
    upstreamModel,
    openUntil: index === 1 ? ago(-25_000) : null,
    version: 1,
    quirks: [],
    model: models[index + 2],
  })),
}));

interface Page {
  first: number;
  after?: string | null;
}

/** The root fields of administrators. */
export const admin = {
  configRevision: 18_442,
  systemHealth: {
    status: 'DEGRADED',
    database: 'OK',
    dataPlane: 'DEGRADED',
    paymentProvider: 'OK',
    chains: 'DEGRADED',
    personalIntelligence: 'DEGRADED',
    secrets: { status: 'OK', total: 500, remaining: 120, unreadable: 0 },
    usageArchive: { status: 'OK', target: 's3://records/gateway', pending: 1, files: 14 },
    settlementAlarms24h: 0,
    nodes,
    jobs,
  },
  users: ({ first, after }: Page) => connection(users, first, after ?? null),
  user: ({ id }: { id: string }) => oneUser(id),
  ledger: ({ first, after }: Page) => connection(entries, first, after ?? null),
  apiKeys: ({ first, after }: Page) => connection(makeKeys(), first, after ?? null),
  ...auditQueries,
  ledgerCheck: () => ({
    checkedAt: new Date(),
    rules: [
      { rule: 'I1', promise: 'every transaction sums to zero', violations: [] },
      { rule: 'I3', promise: 'no wallet is below zero', violations: [] },
    ],
  }),
  personalIntelligenceSettings: () => reading,
  personalIntelligenceHealth: { waiting: 3, postponed: 2, quarantined: 1, ageSeconds: 90, users: 12 },
  policyVersions,
  ...adminStatusQueries,
  dataPlaneNodes: nodes,
  providers,
};

const reading = { modelName: 'swift', monthlyBudget: '50.00', spentThisMonth: '12.30', providerIds: null };

interface SampleStateChange {
  id: string;
  state: string;
  retiresAt?: string;
  replacementId?: string;
  note?: string;
}

/** The mutations of administrators that tests send. */
export const adminMutations = (state: AccountState) => ({
  adminGroupRatioSet: ({ input }: { input: { group: string; ratio: string } }) => ({
    groupRatio: { ...groupRatios.find(({ group }) => group === input.group), ratio: input.ratio },
    userErrors: [],
  }),
  adminModelSetState: ({ input }: { input: SampleStateChange }) => {
    const model = models.find(({ id }) => id === input.id);
    const { state, retiresAt = null, replacementId, note = null } = input;
    const replacement = models.find(({ id }) => id === replacementId) ?? null;
    const deprecation = { announcedAt: ago(0), retiresAt, replacement, note };
    if (model) Object.assign(model, { state, deprecation });
    return { model, userErrors: [] };
  },
  adminProviderModels: () => ({
    models: UPSTREAM_NAMES.concat('north-small-2').map((name, at) => ({ name, routed: at < 4 })),
    userErrors: [],
  }),
  adminProviderUpsert: () => ({ provider: providers[0], userErrors: [] }),
  adminCredentialAdd: () => ({ userErrors: [] }),
  adminRouteUpsert: () => ({ userErrors: [] }),
  adminSessionRevoke: () => ({ user: users[1], userErrors: [] }),
  adminNodeDrain: ({ input }: { input: { id: string } }) => ({
    node: { ...nodes.find(({ id }) => id === input.id), state: 'DRAINING' },
    userErrors: [],
  }),
  adminNodeForget: ({ input }: { input: { id: string } }) => ({
    node: { ...nodes.find(({ id }) => id === input.id), retired: true, leases: 0, held: '0' },
    userErrors: [],
  }),
  adminPersonalIntelligenceSet: ({ input }: { input: object }) => ({
    settings: Object.assign(reading, input),
    userErrors: [],
  }),
  adminPolicyPublish: () => ({ policy, userErrors: [] }),
  adminNodeCreate: sensitive(state, () => ({ token: 'node-token-shown-once', userErrors: [] })),
});
