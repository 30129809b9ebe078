/** Answers of the fake control plane about webhooks. */
import { sensitive, type AccountState } from './account-answers.ts';
import { connection } from './connection.ts';
import { ago } from './sample.ts';

const MINUTE_MS = 60_000;

/** The secret that is shown once. */
export const WEBHOOK_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4Lkmw8nPq1s=';

interface Page {
  first: number;
  after?: string | null;
}

function delivery(index: number, more: object) {
  return {
    __typename: 'WebhookDelivery',
    id: `whd_${index}`,
    eventId: `whm_${index}`,
    type: 'wallet.low_balance',
    payload: '{"type":"wallet.low_balance","timestamp":"2026-11-20T09:00:00.000Z","data":{"balance":"4.20"}}',
    state: 'DELIVERED',
    attempts: 1,
    createdAt: ago(index * MINUTE_MS),
    nextAttemptAt: null,
    lastAttemptAt: ago(index * MINUTE_MS),
    responseStatus: 204,
    error: null,
    ...more,
  };
}

const deliveries = [
  delivery(1, {
    state: 'PENDING',
    attempts: 3,
    responseStatus: null,
    error: 'TIMEOUT',
    nextAttemptAt: ago(-5),
  }),
  delivery(2, { state: 'FAILED', attempts: 13, responseStatus: 500, error: 'STATUS' }),
  delivery(3, {}),
];

function endpoint(index: number, more: object) {
  return {
    __typename: 'WebhookEndpoint',
    id: `whe_${index}`,
    url: `https://hooks.lindgren.dev/gateway/${index}`,
    description: '',
    events: ['WALLET_LOW_BALANCE', 'KEY_DISABLED'],
    state: 'ENABLED',
    version: 1,
    createdAt: ago(MINUTE_MS),
    failingSince: null,
    previousSecretUntil: null,
    deliveries: ({ first, after }: Page) => connection(deliveries, first, after ?? null),
    ...more,
  };
}

const endpoints = [
  endpoint(1, { description: 'Billing alerts' }),
  endpoint(2, { failingSince: ago(MINUTE_MS) }),
  endpoint(3, { state: 'FAILED' }),
];

/** The root fields of queries about webhooks. */
export const webhookQueries = { webhookEndpoints: endpoints };

/** The mutations of webhooks. */
export function webhookMutations(state: AccountState) {
  const secretOnce = sensitive(state, () => ({
    endpoint: endpoints[0],
    secret: WEBHOOK_SECRET,
    userErrors: [],
  }));
  const sent = () => ({ delivery: deliveries[0], userErrors: [] });
  return {
    webhookEndpointCreate: secretOnce,
    webhookSecretRotate: secretOnce,
    webhookEndpointTest: sent,
    webhookDeliveryReplay: sent,
  };
}
