/** Sample lines of a ledger for the fake control plane, newest first. */
import { ago } from './sample.ts';

const HOUR_MS = 3_600_000;

const ENTRIES = [
  ['USAGE', 'GIFT', '14 requests, settled 15:00', '-3.26', '222.40'],
  ['USAGE', 'GIFT', '31 requests, settled 14:59', '-8.115', '225.66'],
  ['USAGE', 'GIFT', '12 requests, settled 14:30', '-3.625', '233.775'],
  ['TOP_UP_CARD', 'CASH', 'Receipt R-20418', '100', '237.40'],
  ['GIFT_ADMIN', 'GIFT', 'From the operator: slow replies on 18 Nov', '25', '137.40'],
  ['USAGE', 'CASH', '147 requests, settled 23:59', '-32.65', '112.40'],
  ['USAGE_REVERSAL', 'CASH', 'Reverses entry 48,190: upstream broke after the end', '0.45', '145.05'],
  ['TOP_UP_CRYPTO', 'CASH', 'Base, 0x7f3a…91c2', '50', '144.60'],
  ['GIFT_POOL', 'GIFT', 'atlas, first period', '10', '94.60'],
  ['POOL_PURCHASE', 'CASH', 'atlas, 30 days, 3 models', '-99', '84.60'],
] as const;

/** The entries of a wallet, newest first. */
export const entries = ENTRIES.map(([kind, bucket, description, amount, balanceAfter], index) => ({
  __typename: 'LedgerEntry',
  id: `led_${index}`,
  seq: 100 - index,
  kind,
  bucket,
  description,
  amount,
  balanceAfter,
  reference: `settle:nod_eu-1:${90_100 - index}`,
  owner: { __typename: 'User', id: 'usr_admin_1', email: 'mara@lindgren.dev' },
  createdAt: ago(index * 7 * HOUR_MS),
}));
