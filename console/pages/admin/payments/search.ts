/** Search parameters of the administrators' lists of top-ups and deposits, as they are in the address. */
import { type ListSearch, listOf, textOf } from '../../../components/search-parameters.ts';

/** The parameters as texts. The pages check their values: the lists of states would be part of every page. */
export interface PaymentsParameters extends ListSearch {
  state?: string | undefined;
  method?: string | undefined;
  /** Id of the user. */
  user?: string | undefined;
  /** Only top-ups that an administrator should look at. */
  stuck?: true | undefined;
}

/** Parses the search parameters of either list. */
export function validPaymentsSearch(search: Record<string, unknown>): PaymentsParameters {
  const { state, method, user, stuck } = search;
  return {
    state: textOf(state),
    method: textOf(method),
    user: textOf(user),
    stuck: stuck === true || undefined,
    ...listOf(search),
  };
}
