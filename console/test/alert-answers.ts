/** Answers of the fake control plane about spend alerts. */
import { ago } from './sample.ts';

/** A spend alert of a key, or of the account without one. */
function makeAlert(subject: string, percent: number, more: object) {
  return {
    __typename: 'SpendAlert',
    id: `${subject}:2026-11:${percent}`,
    keyId: null,
    keyName: null,
    percent,
    spent: '20',
    limit: '25',
    at: ago(0),
    ...more,
  };
}

/** The spend alerts that the wallet shows; none at first. */
export interface AlertState {
  spendAlerts: ReturnType<typeof makeAlert>[];
}

/** Two keys near or at their caps, and the account at half of its budget. */
export const SAMPLE_ALERTS = [
  makeAlert('key_0', 100, { keyId: 'key_0', keyName: 'Production API', spent: '50.25', limit: '50' }),
  makeAlert('key_2', 80, { keyId: 'key_2', keyName: 'Codex in CI' }),
  makeAlert('wal_1', 50, { spent: '568.28', limit: '1000' }),
];

/** The state without alerts. */
export function makeAlerts(): AlertState {
  return { spendAlerts: [] };
}

/** The mutation that dismisses an alert. `wallet` is the wallet after it. */
export function alertMutations(state: AlertState, wallet: () => object) {
  return {
    spendAlertDismiss: ({ input }: { input: { id: string } }) => {
      state.spendAlerts = state.spendAlerts.filter(({ id }) => id !== input.id);
      return { wallet: wallet(), userErrors: [] };
    },
  };
}
