/** Answers of the fake control plane about top-ups, automatic top-ups and deposits. */

/** A top-up of the fake service. */
interface SampleTopUp {
  __typename: 'TopUp';
  id: string;
  method: 'CARD' | 'CRYPTO';
  state: string;
  automatic: boolean;
  playMoney: boolean;
  amount: string;
  credited: string;
  refunded: string;
  checkoutUrl: string | null;
  receiptUrl: string | null;
  failure: string | null;
  createdAt: Date;
  deposit: object | null;
}

/** Payments of the fake control plane. Tests change this state between pages. */
export interface PaymentState {
  methods: ('CARD' | 'CRYPTO')[];
  playMoney: boolean;
  topUps: SampleTopUp[];
  autoTopUp: Record<string, unknown>;
  hasCard: boolean;
  /** Inputs of the top-ups that were begun. */
  begun: Record<string, unknown>[];
}

const HOUR_MS = 3_600_000;
const TOKENS = [
  { chainId: 8453, chainName: 'Base', asset: 'USDC', minDeposit: '1', requiredConfirmations: 12 },
  { chainId: 1, chainName: 'Ethereum', asset: 'USDC', minDeposit: '10', requiredConfirmations: 6 },
].map((token) => ({ ...token, tokenContract: `0x${'a'.repeat(40)}` }));

function sample(index: number, values: Partial<SampleTopUp>): SampleTopUp {
  return {
    ...{ __typename: 'TopUp', id: `top_${index}`, method: 'CARD', state: 'CREDITED', automatic: false },
    playMoney: false,
    ...{ amount: '25.00', credited: '25.00', refunded: '0.00', checkoutUrl: null, receiptUrl: null },
    ...{ failure: null, createdAt: new Date(Date.now() - index * HOUR_MS), deposit: null },
    ...values,
  };
}

/** Payments by card and by deposit, with some history. */
export function makePayments(): PaymentState {
  const deposit = {
    ...{ chainId: 8453, chainName: 'Base', asset: 'USDC', address: `0x${'b'.repeat(40)}`, logIndex: 0 },
    ...{ txHash: `0x${'c'.repeat(64)}`, blockNumber: '1', amount: '40.00' },
    ...{ confirmations: 4, requiredConfirmations: 12, explorerUrl: 'https://explorer.example/tx/1' },
  };
  return {
    methods: ['CARD', 'CRYPTO'],
    playMoney: false,
    hasCard: true,
    begun: [],
    topUps: [
      sample(1, { method: 'CRYPTO', state: 'CONFIRMING', amount: '40.00', credited: '0.00', deposit }),
      sample(2, { receiptUrl: 'https://processor.example/receipt' }),
      sample(3, { state: 'FAILED', credited: '0.00', failure: 'CARD_REFUSED' }),
      sample(4, { automatic: true, amount: '50.00', credited: '50.00' }),
    ],
    autoTopUp: {
      ...{ enabled: true, threshold: '10.00', amount: '50.00', monthlyCap: '200.00' },
      ...{ spentThisMonth: '50.00', inFlight: false, failures: 0, offReason: null, failedAt: null },
    },
  };
}

/** Fields of the wallet. */
export function walletPayments(state: PaymentState) {
  return {
    savedCard: () => (state.hasCard ? { brand: 'visa', last4: '4242' } : null),
    autoTopUp: () => state.autoTopUp,
    topUps: () => ({ nodes: state.topUps }),
  };
}

/** The root fields of queries. */
export function paymentQueries(state: PaymentState) {
  return {
    paymentOptions: () => ({
      methods: state.methods,
      card: state.methods.includes('CARD')
        ? {
            ...{ presets: ['10', '25', '100'], amountMin: '5', amountMax: '1000', dailyMax: '2000' },
            playMoney: state.playMoney,
          }
        : null,
      crypto: state.methods.includes('CRYPTO') ? TOKENS : [],
    }),
  };
}

/** The root fields of mutations. The payment page leads back to the wallet at once. */
export function paymentMutations(state: PaymentState) {
  const walletOf = () => ({ __typename: 'Wallet', id: 'wal_1', ...walletPayments(state) });
  return {
    topUpCardCreate: ({ input }: { input: { amount: string } }) => {
      state.begun.push(input);
      if (Number(input.amount) < 5) {
        const refusal = { code: 'INVALID', message: 'Enter an amount of $5.00 to $1,000.00.', field: null };
        return { topUp: null, replayed: false, userErrors: [refusal] };
      }
      const id = `top_${state.topUps.length + 1}`;
      const checkoutUrl = `/wallet?topup=${id}`;
      const made = { state: 'AWAITING_PAYMENT', amount: input.amount, credited: '0.00', checkoutUrl };
      const topUp = sample(0, { ...made, id });
      state.topUps.unshift(topUp);
      return { topUp, replayed: false, userErrors: [] };
    },
    depositAddressCreate: ({ input }: { input: { chainId: number } }) => {
      const token = TOKENS.find(({ chainId }) => chainId === input.chainId);
      const address = `0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B`;
      const qrPayload = `ethereum:${address}@${input.chainId}/transfer?address=${address}`;
      const made = { ...token, id: 'adr_1', address, qrPayload, createdAt: new Date() };
      return { address: made, userErrors: [] };
    },
    autoTopUpSet: ({ input }: { input: Record<string, unknown> }) => {
      state.autoTopUp = { ...state.autoTopUp, ...input };
      return { wallet: walletOf(), userErrors: [] };
    },
    savedCardRemove: () => {
      state.hasCard = false;
      state.autoTopUp = { ...state.autoTopUp, enabled: false, offReason: 'NO_CARD' };
      return { wallet: walletOf(), userErrors: [] };
    },
  };
}
