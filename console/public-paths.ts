/** Pages that need no session. */

const NAMES =
  'sign-in|register|forgot-password|reset|verify|claim|activate|help|docs|pricing|compare|status|' +
  'privacy-policy';
const PUBLIC = new RegExp(`^/(?:${NAMES})(?:/|$)`);

/** Whether the page at this path, or at a path below it, can be read without a session. */
export function isPublic(pathname: string): boolean {
  return PUBLIC.test(pathname);
}
