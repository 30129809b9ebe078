/** Recognises addresses of files that are stored at a provider, in the operator's account. */

/** Schemes of addresses that providers fetch without an account. */
const PUBLIC_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'data:']);
/**
 * Hosts of APIs that store files, with their regional and alternative names. https://ai.google.dev/api/files
 * https://cloud.google.com/vertex-ai/docs/reference/rest#service-endpoint
 */
const API_HOST = /^(?:[^.]*-)?(?:generativelanguage|aiplatform)(?:[.-][^.]+)*\.(?:googleapis|google)\.com$/;

/**
 * Whether an upstream would read this address with the operator's account. Compares the parsed host name,
 * because spellings differ in letter case, port, user, and dot at the end. An address without a scheme is a
 * file's name.
 */
export function isStoredAddress(address: string): boolean {
  const url = URL.parse(address);
  if (!url) return true;
  if (!PUBLIC_SCHEMES.has(url.protocol)) return true;
  return API_HOST.test(url.hostname.replace(/\.+$/, '').toLowerCase());
}
