/** Secrets in the fragment of an address: read once, and out of the address at once. */

/**
 * What stands in the fragment after `prefix`; undefined where there is nothing. The fragment is taken out of
 * the address and out of the history, so that nobody reads it over a shoulder or from a bookmark.
 */
export function takeFragment(prefix = ''): string | undefined {
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith(prefix) || fragment.length === prefix.length) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  return fragment.slice(prefix.length);
}
