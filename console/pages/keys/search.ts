/** What of the key list is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const KEY_STATES = ['ENABLED', 'DISABLED'] as const;
export const GROUPS = ['DEFAULT', 'VIP', 'SVIP'] as const;

/** The value of the filter that stands for keys of no pool. */
export const MAIN_DOMAIN = 'main';

/** The value of `open` that stands for the drawer of a new key. */
export const NEW_KEY = 'create';

export interface KeysSearch {
  search?: string | undefined;
  state?: (typeof KEY_STATES)[number] | undefined;
  group?: (typeof GROUPS)[number] | undefined;
  /** `main`, or the id of a pool. */
  domain?: string | undefined;
  after?: string | undefined;
  /** The drawer that is open: `create`, or the id of the key that is being edited. */
  open?: string | undefined;
}

/** Reads the search parameters of the key list. */
export function validKeysSearch(search: Record<string, unknown>): KeysSearch {
  return {
    search: textOf(search['search']),
    state: wordOf(search['state'], KEY_STATES),
    group: wordOf(search['group'], GROUPS),
    domain: textOf(search['domain']),
    after: textOf(search['after']),
    open: textOf(search['open']),
  };
}
