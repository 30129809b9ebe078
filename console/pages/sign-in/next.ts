/** Where to go after signing in: a path of this console and nothing else. */

const HOME = '/keys';

/** Reads the search parameter `next`; anything but a path of this origin is left out. */
export function validNext(search: Record<string, unknown>): { next?: string | undefined } {
  const { next } = search;
  return typeof next === 'string' && isOwnPath(next) ? { next } : {};
}

/** The page to open after signing in. */
export function destination(next: string | undefined): string {
  return next ?? HOME;
}

// "//host" and "/\host" leave this origin in browsers.
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path) && !/[\u0000-\u001f]/.test(path);
}
