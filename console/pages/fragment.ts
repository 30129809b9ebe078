/** Reads secrets from the fragment of the address and removes them from it. */

/**
 * Returns the fragment after `prefix`; undefined if there is none. Removes the fragment from the address and
 * the history, so that the secret does not end up in bookmarks or screenshots.
 */
export function takeFragment(prefix = ''): string | undefined {
  // The build renders pages without an address.
  if (typeof location === 'undefined') return undefined;
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith(prefix) || fragment.length === prefix.length) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  return fragment.slice(prefix.length);
}
