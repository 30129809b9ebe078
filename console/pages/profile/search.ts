/** What of the profile is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

/** Reads the search parameters of the list of access tokens. */
export function validTokensSearch(search: Record<string, unknown>): { after?: string | undefined } {
  return { after: textOf(search['after']) };
}

const LINK_OUTCOMES = ['linked', 'taken', 'limit_reached', 'failed'] as const;

export interface SecuritySearch {
  /** What became of linking an identity, where the browser just came back from its provider. */
  oidc?: (typeof LINK_OUTCOMES)[number] | undefined;
}

/** Reads the search parameters of the security page; an outcome that it has no words for is a failure. */
export function validSecuritySearch(search: Record<string, unknown>): SecuritySearch {
  const outcome = textOf(search['oidc']);
  return { oidc: outcome === undefined ? undefined : (wordOf(outcome, LINK_OUTCOMES) ?? 'failed') };
}
