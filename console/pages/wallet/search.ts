/** Search parameters of the wallet page. */
import { type ListPage, pageOf, textOf, wordOf } from '../../components/search-parameters.ts';

export const LEDGER_KINDS = [
  'TOP_UP_CARD',
  'TOP_UP_CRYPTO',
  'GIFT_POOL',
  'GIFT_ADMIN',
  'USAGE',
  'USAGE_REVERSAL',
  'POOL_PURCHASE',
  'POOL_RENEWAL',
  'REFUND',
  'DISPUTE_HOLD',
  'DISPUTE_RELEASE',
  'ADJUSTMENT',
  'GIFT_EXPIRY',
] as const;

export interface WalletSearch extends ListPage {
  kind?: (typeof LEDGER_KINDS)[number] | undefined;
  /** The top-up from whose payment page the browser returns. */
  topup?: string | undefined;
  /** Whether the user left the payment page without paying. */
  cancelled?: boolean | undefined;
  /** Path of the console to which the payment page leads back. */
  back?: string | undefined;
}

/** Parses the search parameters of the wallet page. */
export function validWalletSearch(search: Record<string, unknown>): WalletSearch {
  return {
    kind: wordOf(search['kind'], LEDGER_KINDS),
    ...pageOf(search),
    topup: textOf(search['topup']),
    cancelled: search['cancelled'] === undefined ? undefined : true,
    back: textOf(search['back']),
  };
}
