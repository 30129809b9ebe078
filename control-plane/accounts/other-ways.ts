/** Takes every way into an account away that is not its password: what a new owner must not find laid. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { removeTotp } from './factor.service.ts';
import { removeIdentities } from './identity.service.ts';
import { removePasskeys } from './passkey.service.ts';
import { revokeTokens } from './token.service.ts';

/** Passkeys, linked identities, access tokens, the authenticator app and its recovery codes. */
export async function removeOtherWays(em: EntityManager, userId: string): Promise<void> {
  await removeTotp(em, userId);
  await removePasskeys(em, userId);
  await removeIdentities(em, userId);
  await revokeTokens(em, userId);
}
