/** Where to go after signing in: a path of this console and nothing else. */
import { wordOf } from '../../components/search-parameters.ts';

const HOME = '/keys';
const PROVIDER_FAILURES = ['failed', 'unavailable'] as const;

export interface SignInSearch {
  next?: string | undefined;
  /** What became of signing in at a provider, where it failed. */
  oidc?: (typeof PROVIDER_FAILURES)[number] | undefined;
}

/**
 * Reads the search parameter `next`; anything but a path of this origin is undefined. Said outright, because
 * the router fills in what is left out from the address as it stands.
 */
export function validNext(search: Record<string, unknown>): { next?: string | undefined } {
  const { next } = search;
  return { next: typeof next === 'string' && isOwnPath(next) ? next : undefined };
}

/** Reads the search parameters of the sign-in page. */
export function validSignInSearch(search: Record<string, unknown>): SignInSearch {
  return { ...validNext(search), oidc: wordOf(search['oidc'], PROVIDER_FAILURES) };
}

/** The page to open after signing in. */
export function destination(next: string | undefined): string {
  return next ?? HOME;
}

// "//host" and "/\host" leave this origin in browsers.
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path) && !/[\u0000-\u001f]/.test(path);
}
