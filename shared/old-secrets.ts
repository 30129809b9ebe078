/** Reports of nodes about secrets from before a rotation. */

/** Maximum number of old secrets in one heartbeat; the most recently used come first. */
export const OLD_SECRETS_MAX = 500;

/** When the old secret of a key was last used. An age in ms, because the clocks of nodes may differ. */
export interface OldSecretReport {
  keyId: string;
  usedMsAgo: number;
}
