/** Search parameters of the profile pages. */
import { type ListPage, pageOf, textOf, wordOf } from '../../components/search-parameters.ts';

/** Parses the search parameters of the access tokens page. */
export function validTokensSearch(search: Record<string, unknown>): ListPage {
  return pageOf(search);
}

const LINK_OUTCOMES = ['linked', 'taken', 'limit_reached', 'failed'] as const;

export interface SecuritySearch {
  /** The result of linking an identity, after the return from the provider. */
  oidc?: (typeof LINK_OUTCOMES)[number] | undefined;
}

/** Parses the search parameters of the security page. Unknown results count as failed. */
export function validSecuritySearch(search: Record<string, unknown>): SecuritySearch {
  const outcome = textOf(search['oidc']);
  return { oidc: outcome === undefined ? undefined : (wordOf(outcome, LINK_OUTCOMES) ?? 'failed') };
}
