/** What of the list of access tokens is in the address. */
import { textOf } from '../../components/search-parameters.ts';

/** Reads the search parameters. */
export function validTokensSearch(search: Record<string, unknown>): { after?: string | undefined } {
  return { after: textOf(search['after']) };
}
