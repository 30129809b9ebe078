/** Gives a browser the session that was just opened. */
import type { Context } from '../context.ts';
import type { SignedIn } from './session.service.ts';

/** Sets the session cookie. Throws BAD_USER_INPUT on a WebSocket, where none can be set. */
export function enter(context: Context, signedIn: SignedIn): SignedIn {
  context.setSession(signedIn.token, signedIn.session.expiresAt);
  return signedIn;
}
