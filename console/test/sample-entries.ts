/** Sample lines of a ledger for the fake control plane, newest first. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import { ago } from './sample.ts';

const HOUR_MS = 3_600_000;

const ENTRIES = [
  ['USAGE', 'GIFT', '14 requests', { topic: 'REQUESTS', count: 14 }, '-3.26', '222.40'],
  ['USAGE', 'GIFT', '31 requests', { topic: 'REQUESTS', count: 31 }, '-8.115', '225.66'],
  ['USAGE', 'GIFT', '12 requests', { topic: 'REQUESTS', count: 12 }, '-3.625', '233.775'],
  ['TOP_UP_CARD', 'CASH', 'Top-up by card', { topic: 'TOP_UP' }, '100', '237.40'],
  ['GIFT_ADMIN', 'GIFT', 'Slow replies on 18 Nov', { topic: 'NOTE' }, '25', '137.40'],
  ['USAGE', 'CASH', '147 requests', { topic: 'REQUESTS', count: 147 }, '-32.65', '112.40'],
  [
    'USAGE_REVERSAL',
    'CASH',
    'Reverses entry 48,190: upstream broke after the end',
    { topic: 'NOTE' },
    '0.45',
    '145.05',
  ],
  ['TOP_UP_CRYPTO', 'CASH', 'Top-up on a blockchain', { topic: 'TOP_UP' }, '50', '144.60'],
  ['GIFT_POOL', 'GIFT', 'Gift: Dedicated pool atlas', { topic: 'POOL_GIFT', pool: 'atlas' }, '10', '94.60'],
  [
    'POOL_PURCHASE',
    'CASH',
    'Dedicated pool atlas',
    { topic: 'POOL_FIRST_PERIOD', pool: 'atlas' },
    '-99',
    '84.60',
  ],
] as const;

/** The entries of a wallet, newest first. */
export const entries = ENTRIES.map(([kind, bucket, description, subject, amount, balanceAfter], index) => ({
  __typename: 'LedgerEntry',
  id: `led_${index}`,
  seq: 100 - index,
  kind,
  bucket,
  description,
  subject: { __typename: 'LedgerSubject', count: null, pool: null, playMoney: false, ...subject },
  amount,
  balanceAfter,
  reference: `settle:nod_eu-1:${90_100 - index}`,
  owner: { __typename: 'User', id: 'usr_admin_1', email: 'mara@lindgren.dev' },
  createdAt: ago(index * 7 * HOUR_MS),
}));

/** The entries of a wallet with usage by day, as the service rolls it up. */
export function historyOf(kinds: readonly string[] | null | undefined): HistoryLine[] {
  const chosen = entries.filter(({ kind }) => kinds?.includes(kind) ?? true);
  const days = Map.groupBy(chosen, ({ kind, bucket, createdAt, id }) =>
    kind === 'USAGE' ? `${createdAt.slice(0, 'YYYY-MM-DD'.length)} ${bucket}` : id,
  );
  return [...days.values()].flatMap((list): HistoryLine[] => {
    const [newest] = list;
    if (!newest) return [];
    const line = { __typename: 'WalletHistoryLine', id: `wal_1:${newest.seq}` };
    if (newest.kind !== 'USAGE') return [{ ...line, entry: newest, usage: null }];
    return [{ ...line, entry: null, usage: dayOf(list, newest) }];
  });
}

interface HistoryLine {
  __typename: string;
  id: string;
  entry: Entry | null;
  usage: object | null;
}

function dayOf(list: readonly Entry[], { bucket, balanceAfter, createdAt }: Entry) {
  return {
    __typename: 'WalletUsageDay',
    day: `${createdAt.slice(0, 'YYYY-MM-DD'.length)}T00:00:00.000Z`,
    bucket,
    balanceAfter,
    amount: formatDollars(list.reduce((sum, { amount }) => sum + (parseDollars(amount) ?? 0n), 0n)),
    entryCount: list.length,
  };
}

/** The entries of usage of a day that this kind of credit paid. */
export function entriesOfDay(day: string, bucket: string): Entry[] {
  const date = day.slice(0, 'YYYY-MM-DD'.length);
  return entries.filter(
    (entry) => entry.kind === 'USAGE' && entry.bucket === bucket && entry.createdAt.startsWith(date),
  );
}

type Entry = (typeof entries)[number];
