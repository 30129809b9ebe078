/** Pages that need no session. */

const PUBLIC =
  /^\/(?:sign-in|register|forgot-password|reset|verify|claim|activate|help|pricing|privacy-policy)(?:\/|$)/;

/** Whether the page at this path, or at a path below it, can be read without a session. */
export function isPublic(pathname: string): boolean {
  return PUBLIC.test(pathname);
}
