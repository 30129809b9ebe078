/**
 * Removes every credential of an account but its password, so that an earlier owner cannot sign in any more.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { removeTotp } from './factor.service.ts';
import { removeIdentities } from './identity.service.ts';
import { removePasskeys } from './passkey.service.ts';
import { revokeTokens } from './token.service.ts';

/** Removes passkeys, linked identities, authenticator app and recovery codes, and revokes access tokens. */
export async function removeOtherCredentials(em: EntityManager, userId: string): Promise<void> {
  await removeTotp(em, userId);
  await removePasskeys(em, userId);
  await removeIdentities(em, userId);
  await revokeTokens(em, userId);
}
