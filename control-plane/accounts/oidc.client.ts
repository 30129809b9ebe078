/** OpenID Connect client of the configured identity provider, with PKCE, state and nonce. */
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
import { parseEmail } from '../process/email-address.ts';
import type { OidcSettings } from '../process/settings.ts';

const TIMEOUT_SECONDS = 10;
/** How long the provider's metadata and keys are cached. */
const CACHE_MS = 60 * 60_000;
const NAME_LENGTH_MAX = 100;

/** Secrets that are stored between the redirect to the provider and its callback. */
export interface OidcSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** A user as the provider identifies them. */
export interface OidcIdentity {
  issuer: string;
  subject: string;
  /** A valid address in lower case; null unless the provider has verified it. */
  email: string | null;
  displayName: string | null;
}

/** The client. Use one per process, because it caches the provider's metadata. */
export class OidcClient {
  readonly label: string;
  readonly #settings: OidcSettings;
  #cached: { configuration: Promise<Configuration>; until: number } | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
    this.label = settings.label;
  }

  /** The provider's address for the browser, and the secrets to store. Rejects if discovery fails. */
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
   * The identity of the user. `callback` is the full address to which the provider redirected the browser.
   * Rejects if state, nonce, signature, audience or time are wrong, and if the user refused.
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
    if (!claims) throw new Error('The identity provider sent no ID token. Allow the scope openid there.');
    // With the code flow a provider may return all claims but the subject only from its userinfo endpoint.
    const isComplete = claims['email'] !== undefined || !configuration.serverMetadata().userinfo_endpoint;
    const user = isComplete ? claims : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
    const { email, email_verified: isVerified, name } = user;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' && isVerified === true ? (parseEmail(email) ?? null) : null,
      displayName: typeof name === 'string' ? name.trim().slice(0, NAME_LENGTH_MAX) || null : null,
    };
  }

  #configuration(): Promise<Configuration> {
    if (!this.#cached || this.#cached.until < Date.now()) {
      const configuration = this.#discover();
      this.#cached = { configuration, until: Date.now() + CACHE_MS };
      // Failures are not cached: the next call tries again.
      configuration.catch(() => {
        this.#cached = undefined;
      });
    }
    return this.#cached.configuration;
  }

  #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const server = new URL(issuer);
    // The settings accept plain http only for an issuer on this machine.
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : [];
    const secret = ClientSecretBasic(clientSecret);
    return discovery(server, clientId, undefined, secret, { timeout: TIMEOUT_SECONDS, execute });
  }
}
