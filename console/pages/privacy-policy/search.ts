/** What of the privacy policy is in the address. */
import { textOf } from '../../components/search-parameters.ts';

/** Reads the search parameters: the number of the version to read, the one in force when left out. */
export function validPolicySearch(search: Record<string, unknown>): { version?: string | undefined } {
  // The router reads 1.0 as a number.
  const { version } = search;
  return { version: textOf(typeof version === 'number' ? String(version) : version) };
}
