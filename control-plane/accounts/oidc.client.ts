/** Talks to the identity provider of this installation: OpenID Connect with PKCE, state and nonce. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { Configuration } from 'openid-client';
import { emailIn } from '../email-address.ts';
import type { OidcSettings } from '../settings.ts';

const TIMEOUT_SECONDS = 10;
/** The provider's keys and addresses are read again after this long. */
const KNOWN_MS = 60 * 60_000;
const NAME_LENGTH_MAX = 100;

/** What has to be kept between leaving for the provider and coming back. */
export interface OidcSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who the provider says somebody is. */
export interface OidcIdentity {
  issuer: string;
  subject: string;
  /** As one could register it, in lower case; null unless the provider itself has verified it. */
  email: string | null;
  displayName: string | null;
}

/** One per process: it keeps what discovery said. */
export class OidcClient {
  readonly label: string;
  readonly #settings: OidcSettings;
  #known: { configuration: Promise<Configuration>; until: number } | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
    this.label = settings.label;
  }

  /** Where to send the browser, and what to remember. Rejects while the provider does not answer. */
  async begin(redirectUri: string): Promise<{ url: string; secrets: OidcSecrets }> {
    const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      response_type: 'code',
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      state: secrets.state,
      nonce: secrets.nonce,
    });
    return { url: url.href, secrets };
  }

  /**
   * Who came back. `callback` is the whole address that the provider sent the browser to. Rejects where
   * state, nonce, signature, audience or time are wrong, and where the user refused.
   */
  async finish(callback: URL, { state, nonce, verifier }: OidcSecrets): Promise<OidcIdentity> {
    const configuration = await this.#configuration();
    const tokens = await authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('The provider sent no ID token.');
    // With the code flow a provider may keep everything but the subject for its userinfo endpoint.
    const isWhole = claims['email'] !== undefined || !configuration.serverMetadata().userinfo_endpoint;
    const about = isWhole ? claims : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
    const { email, email_verified: isVerified, name } = about;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' && isVerified === true ? (emailIn(email) ?? null) : null,
      displayName: typeof name === 'string' ? name.trim().slice(0, NAME_LENGTH_MAX) || null : null,
    };
  }

  #configuration(): Promise<Configuration> {
    if (!this.#known || this.#known.until < Date.now()) {
      const configuration = this.#discover();
      this.#known = { configuration, until: Date.now() + KNOWN_MS };
      // A provider that did not answer is asked again the next time.
      configuration.catch(() => {
        this.#known = undefined;
      });
    }
    return this.#known.configuration;
  }

  #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const server = new URL(issuer);
    // The settings allow plain http on this machine alone.
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : [];
    const secret = ClientSecretBasic(clientSecret);
    return discovery(server, clientId, undefined, secret, { timeout: TIMEOUT_SECONDS, execute });
  }
}
