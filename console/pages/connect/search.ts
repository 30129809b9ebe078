/** Search parameters of the quickstart page. */
import { textOf } from '../../components/search-parameters.ts';

export interface QuickstartSearch {
  /** The client that is set up. */
  client?: string | undefined;
  /** The id of the key, or NEW_KEY. */
  key?: string | undefined;
}

/** Parses the search parameters of the quickstart page. */
export function validQuickstartSearch(search: Record<string, unknown>): QuickstartSearch {
  return { client: textOf(search['client']), key: textOf(search['key']) };
}
