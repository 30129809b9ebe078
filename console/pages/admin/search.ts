/** Search parameters of the administrators' lists of users, ledger entries and audit events. */
import { type ListSearch, listOf, textOf, wordOf } from '../../components/search-parameters.ts';
import { LEDGER_KINDS } from '../wallet/search.ts';

export const USER_STATES = ['ACTIVE', 'SUSPENDED', 'DELETED'] as const;

export interface AdminSearch extends ListSearch {
  search?: string | undefined;
  state?: (typeof USER_STATES)[number] | undefined;
  kind?: (typeof LEDGER_KINDS)[number] | undefined;
  /** Audit log: the action, and the id of the actor, or its kind if it has no id. */
  action?: string | undefined;
  actor?: string | undefined;
}

/** Parses the search parameters of any of these lists. */
export function validAdminSearch(search: Record<string, unknown>): AdminSearch {
  return {
    search: textOf(search['search']),
    state: wordOf(search['state'], USER_STATES),
    kind: wordOf(search['kind'], LEDGER_KINDS),
    action: textOf(search['action']),
    actor: textOf(search['actor']),
    ...listOf(search),
  };
}
