/** Values of the filters of top-ups and deposits. */
import { wordOf } from '../../../components/search-parameters.ts';
import type { PaymentsParameters } from './search.ts';

export const CARD_STATES = ['CREATED', 'AWAITING_PAYMENT', 'FAILED', 'EXPIRED'] as const;
export const DEPOSIT_STATES = ['SEEN', 'CONFIRMING', 'ORPHANED'] as const;
export const PAID_STATES = ['CREDITED', 'PARTIALLY_REFUNDED', 'REFUNDED', 'DISPUTED'] as const;
export const TOP_UP_STATES = [...CARD_STATES, ...DEPOSIT_STATES, ...PAID_STATES] as const;
export const TOP_UP_METHODS = ['CARD', 'CRYPTO'] as const;

/** The parameters with known values. */
export interface PaymentsSearch extends PaymentsParameters {
  state?: (typeof TOP_UP_STATES)[number] | undefined;
  method?: (typeof TOP_UP_METHODS)[number] | undefined;
}

/** The parameters without unknown states and methods. */
export function knownSearch({ state, method, ...search }: PaymentsParameters): PaymentsSearch {
  return { ...search, state: wordOf(state, TOP_UP_STATES), method: wordOf(method, TOP_UP_METHODS) };
}
