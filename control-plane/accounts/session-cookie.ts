/** Sends the token of a new session to the browser. */
import type { Context } from '../graphql/context.ts';
import type { SignedIn } from './session.service.ts';

/**
 * Sets the session cookie and returns `signedIn`. Throws BAD_USER_INPUT on a WebSocket, which cannot set one.
 */
export function setSessionCookie(context: Context, signedIn: SignedIn): SignedIn {
  context.setSession(signedIn.token, signedIn.session.expiresAt);
  return signedIn;
}
