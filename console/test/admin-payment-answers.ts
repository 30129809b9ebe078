/** Answers of the fake control plane to administrators about payments. */
import { type AccountState, sensitive } from './account-answers.ts';
import { connection } from './connection.ts';

const HOUR_MS = 3_600_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds);

interface AdminTopUp extends Record<string, unknown> {
  id: string;
  method: 'CARD' | 'CRYPTO';
  state: string;
  issue: string | null;
  createdAt: Date;
  credited: string;
  refunded: string;
  refunds: object[];
  user: { id: string };
}

interface AdminChain extends Record<string, unknown> {
  chainId: number;
  frozenAt: Date | null;
  tokens: Record<string, unknown>[];
}

interface AdminPayments {
  topUps: AdminTopUp[];
  settings: Record<string, unknown> & { webhookSecrets: Record<string, unknown>[] };
  chains: AdminChain[];
  depositKeys: Record<string, unknown>[];
  /** Inputs of the changes that were sent. */
  sent: Record<string, unknown>[];
}

/** Payments as administrators see them. Tests change this state between pages. */
export interface AdminPaymentState {
  adminPayments: AdminPayments;
}

const USERS = ['mara@lindgren.dev', 'ops@atlas.example'].map((email, index) => ({
  __typename: 'User',
  id: `usr_admin_${index + 1}`,
  email,
  wallet: { __typename: 'Wallet', id: `wal_${index + 1}`, cash: '211.50', gift: '35.00' },
}));

function topUp(index: number, values: Partial<AdminTopUp>): AdminTopUp {
  const createdAt = ago(index * 7 * HOUR_MS);
  return {
    ...{ __typename: 'TopUp', id: `top_a${index}`, method: 'CARD', state: 'CREDITED', automatic: false },
    playMoney: false,
    ...{ amount: '25.00', credited: '25.00', refunded: '0.00', checkoutUrl: null, receiptUrl: null },
    ...{ failure: null, deposit: null, issue: null, expiresAt: null, refunds: [], disputes: [] },
    ...{ createdAt, updatedAt: createdAt, user: USERS[index % 2] ?? { id: '' } },
    ...values,
  };
}

const DEPOSIT = {
  ...{ chainId: 8453, chainName: 'Base', asset: 'USDC', address: `0x${'bA'.repeat(20)}`, logIndex: 7 },
  ...{ txHash: `0x${'c4'.repeat(32)}`, blockNumber: '38104422', amount: '40.00' },
  ...{ confirmations: 4, requiredConfirmations: 12, explorerUrl: 'https://explorer.example/tx/1' },
};

function makeTopUps(): AdminTopUp[] {
  const refund = { id: 'rfn_1', amount: '20.00', createdAt: ago(HOUR_MS), reason: 'Ordered twice.' };
  const crypto = { method: 'CRYPTO', amount: '40.00', deposit: DEPOSIT } as const;
  const paid = { confirmations: 12, explorerUrl: null };
  return [
    topUp(1, { ...crypto, state: 'CONFIRMING', credited: '0.00', createdAt: ago(HOUR_MS / 6) }),
    topUp(2, {
      ...{ amount: '100.00', credited: '100.00', refunded: '20.00', state: 'PARTIALLY_REFUNDED' },
      ...{ issue: 'REFUND_FAILED', receiptUrl: 'https://processor.example/receipt' },
      refunds: [
        { ...refund, status: 'SUCCEEDED' },
        { ...refund, id: 'rfn_2', amount: '5.00', status: 'FAILED', reason: 'A second part.' },
      ],
      disputes: [{ id: 'dp_1R8kT2', amount: '10.00', status: 'WON', createdAt: ago(2 * HOUR_MS) }],
    }),
    topUp(3, { state: 'AWAITING_PAYMENT', credited: '0.00', createdAt: ago(3 * HOUR_MS) }),
    topUp(4, { state: 'FAILED', credited: '0.00', failure: 'CARD_REFUSED' }),
    topUp(5, { automatic: true, amount: '1250.00', credited: '1250.00' }),
    topUp(6, {
      ...crypto,
      deposit: { ...DEPOSIT, ...paid },
      credited: '0.00',
      issue: 'REVERSED',
      state: 'ORPHANED',
    }),
    topUp(7, { ...crypto, amount: '12.345678', credited: '12.345678', deposit: { ...DEPOSIT, ...paid } }),
  ];
}

function makeChains(): AdminChain[] {
  const token = {
    contract: `0x${'a0'.repeat(20)}`,
    symbol: 'USDC',
    decimals: 6,
    minimum: '1.00',
    enabled: true,
  };
  const chain = {
    ...{ enabled: true, needsFinality: true, trouble: null, troubleDetail: null, troubleSince: null },
    ...{ frozenAt: null, frozenReason: null, frozenBlock: null, readAt: ago(12_000) },
  };
  return [
    {
      ...chain,
      ...{ chainId: 1, name: 'Ethereum', confirmations: 6, explorerUrl: 'https://explorer.example' },
      ...{
        rpcHosts: ['rpc.north.example', 'rpc.south.example'],
        scannedBlock: 24_104_418,
        newestBlock: 24_104_422,
      },
      ...{ trouble: 'DISAGREEMENT', troubleSince: ago(95_000) },
      troubleDetail: 'The services name different hashes of block 24104423.',
      tokens: [token],
    },
    {
      ...chain,
      ...{ chainId: 8453, name: 'Base', confirmations: 12, explorerUrl: null },
      ...{
        rpcHosts: ['base.north.example', 'base.south.example'],
        scannedBlock: 38_104_426,
        newestBlock: 38_104_426,
      },
      ...{ frozenAt: ago(HOUR_MS), frozenReason: 'Block 38104422 left the chain.', frozenBlock: 38_104_422 },
      tokens: [token, { ...token, contract: `0x${'f3'.repeat(20)}`, symbol: 'USDT', enabled: false }],
    },
  ];
}

/** Payments of some users, settings, and two blockchains. */
export function makeAdminPayments(): AdminPaymentState {
  return {
    adminPayments: {
      sent: [],
      topUps: makeTopUps(),
      chains: makeChains(),
      depositKeys: [
        {
          id: 'cky_1',
          fingerprint: '9f2c41d07be83a65',
          active: true,
          addresses: 218,
          createdAt: ago(900 * HOUR_MS),
        },
        {
          id: 'cky_2',
          fingerprint: '03ab55e91c27f4d8',
          active: false,
          addresses: 12,
          createdAt: ago(4000 * HOUR_MS),
        },
      ],
      settings: {
        ...{ version: 4, cardEnabled: true, apiAddress: 'https://api.stripe.com', apiKeySuffix: 'x7Qa' },
        ...{ managedPayments: true, automaticTax: false, stablecoins: false, taxCode: 'txcd_10103001' },
        ...{
          amountMin: '5.00',
          amountMax: '1000.00',
          dailyMax: '2000.00',
          presets: ['10.00', '25.00', '100.00'],
        },
        ...{ playMoney: false, lastError: 'api_error 500', lastErrorAt: ago(5 * HOUR_MS) },
        ...{ lastSuccessAt: ago(40_000), reconciledAt: ago(240_000) },
        webhookAddress: 'https://console.gateway.example/webhooks/payments',
        webhookSecrets: [
          { id: 'whs_1', label: 'Live endpoint', suffix: 'k3Zd', createdAt: ago(700 * HOUR_MS) },
        ],
      },
    },
  };
}

interface TopUpArguments {
  first: number;
  after?: string | null;
  states?: string[] | null;
  method?: string | null;
  userId?: string | null;
  stuck?: boolean | null;
}

/** The fields of administrators about payments. */
export function adminPaymentQueries({ adminPayments }: AdminPaymentState) {
  const isStuck = ({ issue, state, createdAt }: AdminTopUp) =>
    issue !== null || (state === 'AWAITING_PAYMENT' && Date.now() - createdAt.getTime() > 2 * HOUR_MS);
  return {
    topUps: ({ first, after, states, method, userId, stuck }: TopUpArguments) =>
      connection(
        adminPayments.topUps.filter(
          (one) =>
            (!states || states.includes(one.state)) &&
            (!method || one.method === method) &&
            (!userId || one.user.id === userId) &&
            (!stuck || isStuck(one)),
        ),
        first,
        after ?? null,
      ),
    paymentSettings: () => adminPayments.settings,
    paymentCorrections: () => [
      {
        ...{ id: 'fix_1', amount: '25.00', foundAt: ago(30 * HOUR_MS), topUp: adminPayments.topUps[4] },
        ...{ detail: '25.00 US dollars that no event had reported; now CREDITED.', state: 'CREDITED' },
      },
      {
        ...{ id: 'fix_2', amount: '-10.00', foundAt: ago(60 * HOUR_MS), topUp: adminPayments.topUps[1] },
        ...{ detail: '-10.00 US dollars that no event had reported; now DISPUTED.', state: 'DISPUTED' },
      },
    ],
    chains: () => adminPayments.chains,
    depositKeys: () => adminPayments.depositKeys,
  };
}

type Input = { input: Record<string, unknown> };

/** The changes of administrators about payments. */
export function adminPaymentMutations(state: AccountState & AdminPaymentState) {
  const change = (act: (adminPayments: AdminPayments, input: Record<string, unknown>) => object) =>
    sensitive(state, ({ input }: Input) => {
      state.adminPayments.sent.push(input);
      return { userErrors: [], ...act(state.adminPayments, input) };
    });
  return {
    adminTopUpRefund: change(refund),
    adminPaymentSettingsSet: change(({ settings }, { apiKey, ...input }) => {
      const suffix = typeof apiKey === 'string' ? { apiKeySuffix: apiKey.slice(-4) } : {};
      return { settings: Object.assign(settings, input, suffix) };
    }),
    adminWebhookSecretAdd: change(({ settings }, { label, secret }) => {
      const added = { id: 'whs_2', label, suffix: String(secret).slice(-4), createdAt: new Date() };
      settings.webhookSecrets.push(added);
      return { settings };
    }),
    adminWebhookSecretRemove: change(({ settings }, { id }) => {
      settings.webhookSecrets = settings.webhookSecrets.filter((one) => one['id'] !== id);
      return { settings };
    }),
    adminChainSet: change(({ chains }, input) => {
      const known = chains.find(({ chainId }) => chainId === input['chainId']);
      return { chain: known && Object.assign(known, input) };
    }),
    adminChainTokenSet: change(({ chains }, input) => {
      const chain = chains.find(({ chainId }) => chainId === input['chainId']);
      const token = chain?.tokens.find(({ contract }) => contract === input['contract']);
      if (token) Object.assign(token, input);
      else chain?.tokens.push({ decimals: 6, ...input });
      return { chain };
    }),
    adminChainResume: change(({ chains }, input) => {
      const chain = chains.find(({ chainId }) => chainId === input['chainId']);
      return { chain: chain && Object.assign(chain, { frozenAt: null }) };
    }),
    adminDepositKeySet: change(({ depositKeys }) => {
      for (const key of depositKeys) key['active'] = false;
      const fingerprint = '77aa09b1c2d3e4f5';
      depositKeys.push({ id: 'cky_3', fingerprint, active: true, addresses: 0, createdAt: new Date() });
      return { keys: depositKeys };
    }),
  };
}

function refund({ topUps }: AdminPayments, { topUpId, amount, reason }: Record<string, unknown>): object {
  const one = topUps.find(({ id }) => id === topUpId);
  if (!one) return { topUp: null, replayed: false };
  if (Number(amount) > 1_000) {
    const userErrors = [{ code: 'INSUFFICIENT_BALANCE', message: 'Too little.', field: 'amount' }];
    return { topUp: null, replayed: false, userErrors };
  }
  const refunded = (Number(one.refunded) + Number(amount)).toFixed(2);
  const state = refunded === one.credited ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
  const made = {
    id: `rfn_${one.refunds.length + 3}`,
    amount,
    reason,
    status: 'PENDING',
    createdAt: new Date(),
  };
  Object.assign(one, { refunded, state, refunds: [...one.refunds, made] });
  return { topUp: one, replayed: false };
}
