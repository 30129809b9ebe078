/** Search parameters of the privacy policy. */
import { textOf } from '../../components/search-parameters.ts';

/** Parses the search parameters: the version number; undefined for the current version. */
export function validPolicySearch(search: Record<string, unknown>): { version?: string | undefined } {
  // The router parses 1.0 as a number.
  const { version } = search;
  return { version: textOf(typeof version === 'number' ? String(version) : version) };
}
