/** Answers of the fake control plane: sample data that its mutations change. */
import { accountChanges, accountOf, type AccountState } from './account-answers.ts';
import { admin, adminMutations } from './admin-answers.ts';
import { alertMutations, type AlertState } from './alert-answers.ts';
import { connection, connectionAt } from './connection.ts';
import {
  adminPaymentMutations,
  adminPaymentQueries,
  type AdminPaymentState,
} from './admin-payment-answers.ts';
import { policy, policyVersions, sessions } from './account.ts';
import { poolMutations, poolQueries, poolsOf, type PoolState } from './pool-answers.ts';
import { intelligenceOf, itemMutations, type ItemState } from './item-answers.ts';
import { keyMutations } from './key-answers.ts';
import { paymentMutations, paymentQueries, type PaymentState, walletPayments } from './payment-answers.ts';
import { receiptOf } from './receipt-answers.ts';
import { chatOf, playground } from './playground-answers.ts';
import { entries, entriesOfDay, historyOf } from './sample-entries.ts';
import { groupRatios, makeRow, models } from './sample.ts';
import { modelByName, statusMutations, statusQueries } from './status-answers.ts';
import { timesOf, trafficOf } from './timing-answers.ts';
import { webhookMutations, webhookQueries } from './webhook-answers.ts';

/** State of the fake control plane. Tests change it between pages. */
export interface State
  extends AccountState, PoolState, PaymentState, ItemState, AlertState, AdminPaymentState {
  broken: boolean;
  /** Fields that replace those of the sample wallet. */
  money: object;
  /** Whether the signed-in user is an administrator. */
  admin: boolean;
  /** Replaces the text of every field of type String; undefined leaves them. */
  rewrite: ((text: string, field: string) => string) | undefined;
}

const USAGE_ROWS = 120;

type Input<Value> = { input: Value };

interface Page {
  first: number;
  after?: string | null;
  before?: string | null;
}

const wallet = {
  __typename: 'Wallet',
  id: 'wal_1',
  cash: '211.50',
  gift: '10.00',
  held: '0.90',
  available: '221.50',
  balance: '222.40',
  receivable: '0',
  frozen: false,
  currency: 'USD',
  leases: [],
  lowBalanceThreshold: '20',
  budget: { monthly: null, spentThisMonth: '568.28' },
  ledger: ({ first, after, kinds }: Page & { kinds?: string[] | null }) =>
    connection(
      entries.filter(({ kind }) => kinds?.includes(kind) ?? true),
      first,
      after ?? null,
    ),
  history: ({ first, after, kinds }: Page & { kinds?: string[] | null }) =>
    connection(historyOf(kinds), first, after ?? null),
  usageOfDay: ({ day, bucket, first, after }: Page & { day: string; bucket: string }) =>
    connection(entriesOfDay(day, bucket), first, after ?? null),
};

function walletOf(state: State) {
  return { ...wallet, ...walletPayments(state), spendAlerts: state.spendAlerts, ...state.money };
}

interface KeyFilter {
  search?: string;
  states?: string[];
  groups?: string[];
  poolId?: string;
  mainDomainOnly?: boolean;
}

interface UsageFilter {
  statuses?: string[];
  modelNames?: string[];
  requestId?: string;
}

function fits(filter: UsageFilter | undefined) {
  return ({ status, modelName, requestId }: ReturnType<typeof makeRow>) =>
    (filter?.statuses?.includes(status) ?? true) &&
    (filter?.modelNames?.includes(modelName) ?? true) &&
    (filter?.requestId === undefined || filter.requestId === requestId);
}

function viewerOf(state: State) {
  const usage = Array.from({ length: USAGE_ROWS }, (_, index) => makeRow(index));
  return {
    __typename: 'User',
    id: 'usr_1',
    email: 'mara@lindgren.dev',
    locale: 'en',
    ...accountOf(state),
    role: () => (state.admin ? 'ADMIN' : 'USER'),
    state: 'ACTIVE',
    allowedGroups: ['DEFAULT', 'VIP'],
    mustAcceptPolicy: () => (state.mustAccept ? policy : null),
    wallet: () => walletOf(state),
    ...playground,
    personalIntelligence: () => intelligenceOf(state),
    policyAcceptances: [{ acceptedAt: new Date(), version: policy }],
    sessions: ({ first, after }: Page) =>
      connection(state.othersSignedIn ? sessions : sessions.slice(0, 1), first, after ?? null),
    apiKeys: ({ first, after, filter }: Page & { filter?: KeyFilter }) =>
      connection(
        state.keys.filter(
          ({ name, state: keyState, group, pool }) =>
            (filter?.poolId === undefined || pool?.id === filter.poolId) &&
            (filter?.mainDomainOnly !== true || pool === null) &&
            name.toLowerCase().includes(filter?.search?.toLowerCase() ?? '') &&
            (filter?.states?.includes(keyState) ?? true) &&
            (filter?.groups?.includes(group) ?? true),
        ),
        first,
        after ?? null,
      ),
    pools: poolsOf(state),
    usageSummary: summary,
    usage: (page: Page & { filter?: UsageFilter }) => connectionAt(usage.filter(fits(page.filter)), page),
  };
}

const DAY_MS = 86_400_000;
const SHARES = [38, 27, 16, 9, 5, 2.5, 1.5, 0.5, 0.3, 0.2];
const MODELS = [
  ...['coder', 'balanced', 'swift', 'flagship', 'budget', 'reasoner'],
  ...['speech', 'vision', 'embedder', 'flagship-mini'],
];

function totalsOf(requests: number, price = 0.22) {
  const cost = (requests * price).toFixed(2);
  const tokens = {
    inputTokens: String(requests * 9_000),
    outputTokens: String(requests * 400),
    cachedTokens: String(requests * 7_600),
  };
  return { cost, requests, failed: Math.floor(requests / 40), ...tokens };
}

interface SummaryOf {
  range: { from: string; to: string };
  groupBy?: string[];
  bucket?: string;
}

/** Sums that repeat themselves each week: weekends are quiet. Hours have the sums of days. */
function summary({ range, groupBy = [], bucket }: SummaryOf) {
  const step = bucket === 'HOUR' ? DAY_MS / 24 : DAY_MS;
  const start = Math.floor(Date.parse(range.from) / step);
  const days = Math.round((Date.parse(range.to) - Date.parse(range.from)) / step);
  const names =
    groupBy[0] === 'KEY' ? ['key_2', 'key_1', 'key_3'] : MODELS.slice(0, groupBy.length * MODELS.length);
  const ofDay = (day: number) => ([3, 4].includes(day % 7) ? 40 : 120 + ((day * 37) % 29));
  const all = Array.from({ length: days }, (_, index) => start + index);
  const share = (index: number) => (SHARES[index] ?? 0.8) / 100;
  const sum = all.reduce((requests, day) => requests + ofDay(day), 0);
  const points = all.flatMap((day) =>
    (names.length > 0 ? names : [null]).map((key, index) => ({
      at: new Date(day * step),
      key,
      totals: totalsOf(Math.round(ofDay(day) * (key === null ? 1 : share(index)))),
    })),
  );
  return {
    asOf: new Date(),
    totals: totalsOf(sum),
    previousTotals: totalsOf(Math.round(sum * 1.08)),
    groups: names.map((key, index) => ({
      key,
      label: key.replace('key_', 'Key '),
      totals: totalsOf(Math.round(sum * share(index))),
    })),
    series: points,
    timings: timesOf(
      all.map((day) => new Date(day * step)),
      names,
    ),
  };
}

function fileOf(name: string, format: string) {
  return { downloadUrl: `/export/${name}.${format.toLowerCase()}`, format };
}

/** Summaries of all users. */
const SUMMARIES = { usageSummary: summary, traffic: trafficOf };

/** The root fields of queries. */
export function queries(state: State) {
  const viewer = viewerOf(state);
  return {
    viewer: () => (state.signedIn ? viewer : null),
    admin: () =>
      state.admin ? { ...admin, ...SUMMARIES, pools: poolsOf(state), ...adminPaymentQueries(state) } : null,
    ...poolQueries(state),
    ...paymentQueries(state),
    ...webhookQueries,
    ...statusQueries,
    topUp: ({ id }: { id: string }) =>
      [...state.topUps, ...(state.admin ? state.adminPayments.topUps : [])].find(
        (topUp) => topUp.id === id,
      ) ?? null,
    usageExport: ({ format }: { format: string }) => fileOf('usage', format),
    ledgerExport: ({ format }: { format: string }) => fileOf('ledger', format),
    requestReceipt: ({ requestId }: { requestId: string }) => receiptOf(requestId, state.admin),
    baseAddress: () => 'https://gateway.example',
    node: ({ id }: { id: string }) =>
      [...state.keys, ...state.items].find((one) => one.id === id) ?? chatOf(id),
    catalog: ({ first, after }: Page) => connection(models, first, after ?? null),
    catalogModel: ({ name }: { name: string }) => modelByName(name),
    groupRatios: () => groupRatios,
    privacyPolicy: () => policy,
    privacyPolicyVersions: policyVersions,
    usageRetentionDays: 400,
    usageEntry: ({ requestId }: { requestId: string }) => ({
      __typename: 'UsageEntry',
      id: requestId,
      cost: '0.30',
      ttftMs: 420,
      latencyMs: 2_150,
      inputTokens: 812,
      outputTokens: 96,
    }),
    signInOptions: () => ({
      password: true,
      passkeys: true,
      mail: true,
      oidcProviders: [{ id: 'example', label: 'Example', startUrl: 'https://gateway.example/oidc/start' }],
      registrationOpen: true,
      currentPolicy: policy,
    }),
  };
}

/** The root fields of mutations. */
export function mutations(state: State) {
  return {
    ...accountMutations(state),
    ...accountChanges(state),
    ...alertMutations(state, () => walletOf(state)),
    ...webhookMutations(state),
    ...statusMutations,
    ...keyMutations(state),
    ...poolMutations(state),
    ...paymentMutations(state),
    ...itemMutations(state),
    ...adminMutations(state),
    ...adminPaymentMutations(state),
  };
}

function accountMutations(state: State) {
  const enter = () => {
    state.signedIn = true;
    return {
      viewer: { __typename: 'User', id: 'usr_1' },
      secondFactorRequired: false,
      verificationRequired: false,
      userErrors: [],
    };
  };
  const refused = {
    viewer: null,
    secondFactorRequired: false,
    userErrors: [{ code: 'CREDENTIALS_INVALID', message: 'Wrong.', field: null }],
  };
  return {
    signIn: ({ input }: Input<{ password: string }>) => (input.password === 'wrong' ? refused : enter()),
    register: enter,
    adminClaim: enter,
    signOut: () => {
      state.signedIn = false;
      return { ok: true };
    },
  };
}
