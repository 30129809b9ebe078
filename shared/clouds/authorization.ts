/**
 * Authorizes requests to upstreams whose secret is not simply sent: with tokens that are fetched and renewed,
 * or by signing them.
 */
import { bindingOf } from './access.ts';
import type { UpstreamAccess } from './access.ts';
import { readAwsKeys } from './secrets.ts';
import type { AwsKeys } from './secrets.ts';
import { Signer } from './signature.ts';
import type { SignWith, UnsignedRequest } from './signature.ts';
import { TokenRefused, fetchAwsKeys, fetchToken } from './token-grants.ts';
import type { TokenIo } from './token-grants.ts';
import { TokenCache } from './tokens.ts';

const AWS_SERVICE = 'bedrock';

/** A credential as far as it matters here; without one, the node's own identity is used. */
export interface CloudCredential {
  id: string;
  secret: string;
}

/** The credential and the access for which a request is authorized. */
export interface CloudCaller {
  access: UpstreamAccess;
  credential: CloudCredential | undefined;
  /** I/O for the token endpoint. */
  io: TokenIo;
}

/** The tokens and signing keys of a process. */
export class CloudAuthorization {
  readonly #tokens: TokenCache<string>;
  readonly #keys: TokenCache<AwsKeys>;
  readonly #signer: Signer;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number, signWith: SignWith) {
    this.#signer = new Signer(signWith);
    this.#tokens = new TokenCache(now);
    this.#keys = new TokenCache(now);
  }

  /**
   * The headers that authorize a request; undefined for kinds whose secret is sent as it is. Throws
   * TokenRefused, and the errors of the I/O.
   */
  async headers(request: UnsignedRequest, caller: CloudCaller): Promise<Record<string, string> | undefined> {
    const { access, credential, io } = caller;
    const { auth, region, service } = access;
    const key = keyOf(caller);
    switch (auth) {
      case 'AZURE_ENTRA':
      case 'GOOGLE_SERVICE_ACCOUNT':
      case 'GOOGLE_WORKLOAD_IDENTITY': {
        const fetch = () => fetchToken(access, credential?.secret ?? '', io);
        const token = await this.#tokens.get(key, fetch, io.renewalFailed);
        return { authorization: `Bearer ${token}` };
      }
      case 'AWS_KEYS':
      case 'AWS_WEB_IDENTITY': {
        const keys = auth === 'AWS_KEYS' ? keysOf(credential) : await this.#assumed(key, caller);
        const scope = { keys, region: region ?? '', service: service ?? AWS_SERVICE, at: io.wallNow() };
        return this.#signer.sign(request, scope);
      }
      default:
        return undefined;
    }
  }

  /** Notes that the upstream refused: a token that was revoked is fetched again. */
  refused(caller: Pick<CloudCaller, 'access' | 'credential'>): void {
    this.#tokens.refused(keyOf(caller));
    this.#keys.refused(keyOf(caller));
  }

  #assumed(key: string, { access, io }: CloudCaller): AwsKeys | Promise<AwsKeys> {
    return this.#keys.get(key, () => fetchAwsKeys(access, io), io.renewalFailed);
  }
}

function keysOf(credential: CloudCredential | undefined): AwsKeys {
  const keys = credential && readAwsKeys(credential.secret);
  if (!keys)
    throw new TokenRefused('The keys of the credential cannot be read. Add the credential again.', 0);
  return keys;
}

/** Changes of secret and parameters start a new token. */
function keyOf({ access, credential }: Pick<CloudCaller, 'access' | 'credential'>): string {
  const { tenantId, clientId, scope, roleArn, audience, serviceAccount, tokenUrl } = access;
  const parameters = [tenantId, clientId, scope, roleArn, audience, serviceAccount, tokenUrl];
  return JSON.stringify([bindingOf(access), ...parameters, credential?.id, credential?.secret]);
}
