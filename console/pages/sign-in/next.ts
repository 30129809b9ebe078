/** The page to open after signing in: only a path of this console. */
import { wordOf } from '../../components/search-parameters.ts';

const HOME = '/keys';
const PROVIDER_FAILURES = ['failed', 'unavailable'] as const;

export interface SignInSearch {
  next?: string | undefined;
  /** Why sign-in at a provider failed. */
  oidc?: (typeof PROVIDER_FAILURES)[number] | undefined;
}

/**
 * Parses the search parameter `next`; undefined for anything but a path of this origin. Returns undefined
 * explicitly, because the router fills in missing keys from the address.
 */
export function validNext(search: Record<string, unknown>): { next?: string | undefined } {
  const { next } = search;
  return { next: typeof next === 'string' && isOwnPath(next) ? next : undefined };
}

/** Parses the search parameters of the sign-in page. */
export function validSignInSearch(search: Record<string, unknown>): SignInSearch {
  return { ...validNext(search), oidc: wordOf(search['oidc'], PROVIDER_FAILURES) };
}

/** The page to open after signing in. */
export function destination(next: string | undefined): string {
  return next ?? HOME;
}

// In browsers, "//host" and "/\host" lead to another origin.
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path) && !/[\u0000-\u001f]/.test(path);
}
