/** A virtual device that holds passkeys, for a page of the browser. */
import type { Page } from 'playwright-core';

export interface Authenticator {
  /** How often it has proven its owner so far. */
  asserted(): number;
  takeAway(): Promise<void>;
}

/**
 * An authenticator that is built into a device. It stores passkeys and always confirms the presence of the
 * user.
 */
export async function giveAuthenticator(page: Page): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page);
  let asserted = 0;
  session.on('WebAuthn.credentialAsserted', () => {
    asserted += 1;
  });
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    asserted: () => asserted,
    takeAway: async () => {
      await session.send('WebAuthn.disable');
      await session.detach();
    },
  };
}
