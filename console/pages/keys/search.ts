/** Search parameters of the key list. */
import { type ListSearch, listOf, textOf, wordOf } from '../../components/search-parameters.ts';

export const KEY_STATES = ['ENABLED', 'DISABLED'] as const;
export const GROUPS = ['DEFAULT', 'VIP', 'SVIP'] as const;

/** Value of the domain filter for keys without a pool. */
export const MAIN_DOMAIN = 'main';

/** Value of `open` for the dialog that creates a key. */
export const NEW_KEY = 'create';

export interface KeysSearch extends ListSearch {
  search?: string | undefined;
  state?: (typeof KEY_STATES)[number] | undefined;
  group?: (typeof GROUPS)[number] | undefined;
  /** `main`, or the id of a pool. */
  domain?: string | undefined;
  /** The dialog that is open: `create`, or the id of the key that is edited. */
  open?: string | undefined;
}

/** Parses the search parameters of the key list. */
export function validKeysSearch(search: Record<string, unknown>): KeysSearch {
  return {
    search: textOf(search['search']),
    state: wordOf(search['state'], KEY_STATES),
    group: wordOf(search['group'], GROUPS),
    domain: textOf(search['domain']),
    ...listOf(search),
    open: textOf(search['open']),
  };
}
