/** The events that webhooks report. */
import { describeEnum } from '../graphql/enums.ts';

export const WebhookEvent = describeEnum('WebhookEvent', 'An event that a webhook reports.', {
  WALLET_LOW_BALANCE: 'The balance fell below the threshold of the wallet (`wallet.low_balance`).',
  TOP_UP_CREDITED: 'A top-up was credited (`top_up.credited`).',
  KEY_DISABLED: 'An API key was disabled, by anybody (`key.disabled`).',
  POOL_ENDING: 'A dedicated pool will end, has ended, or could not be renewed (`pool.ending`).',
  UPSTREAM_DOWN: 'An upstream fails on all nodes. Administrators only (`upstream.down`).',
  UPSTREAM_RECOVERED: 'An upstream that was down works again. Administrators only (`upstream.recovered`).',
});
export type WebhookEvent = keyof typeof WebhookEvent;

/** The names of events in deliveries. Receivers depend on them. */
export const WIRE_NAMES: Readonly<Record<WebhookEvent, string>> = {
  WALLET_LOW_BALANCE: 'wallet.low_balance',
  TOP_UP_CREDITED: 'top_up.credited',
  KEY_DISABLED: 'key.disabled',
  POOL_ENDING: 'pool.ending',
  UPSTREAM_DOWN: 'upstream.down',
  UPSTREAM_RECOVERED: 'upstream.recovered',
};
/** The name of the event that an owner sends to try an endpoint. */
export const TEST_NAME = 'webhook.test';

/** Events of the installation. Only endpoints of administrators receive them. */
export const OPERATOR_EVENTS: readonly WebhookEvent[] = ['UPSTREAM_DOWN', 'UPSTREAM_RECOVERED'];
