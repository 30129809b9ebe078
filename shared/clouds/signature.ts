/** Signs requests to AWS by Signature Version 4. */
import type { AwsKeys } from './secrets.ts';

/** Signing keys that are kept: one per day, region, service and secret. */
const SIGNING_KEYS_MAX = 100;
/** A body that is sent while it is read cannot be hashed before. */
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** The request to sign. */
export interface UnsignedRequest {
  method: string;
  /** Absolute, with its query. */
  url: string;
  /** Undefined for a body that is streamed. */
  body: Buffer | string | undefined;
}

/** The inputs of a signature: the request, the credential and the time. */
export interface SigningScope {
  keys: AwsKeys;
  region: string;
  service: string;
  /** ms since the epoch. */
  at: number;
}

/** The options of `AwsV4Signer` of aws4fetch that are used. */
export interface SignerOptions extends AwsKeys {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  region: string;
  service: string;
  /** Derived keys, by secret, day, region and service. */
  cache: Map<string, ArrayBuffer>;
  /** Like 20260131T235959Z. */
  datetime: string;
}

/** Signs with the library of the plane. */
export type SignWith = (options: SignerOptions) => Promise<{ headers: Headers }>;

/** Keeps derived signing keys, which are valid for a day. */
export class Signer {
  readonly #signWith: SignWith;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(signWith: SignWith) {
    this.#signWith = signWith;
  }

  /**
   * The headers that sign a request. Only host, date and session token are signed, so that a proxy may change
   * others. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
   */
  async sign(
    { method, url, body }: UnsignedRequest,
    { keys, region, service, at }: SigningScope,
  ): Promise<Record<string, string>> {
    if (this.#signingKeys.size >= SIGNING_KEYS_MAX) this.#signingKeys.clear();
    const unsigned: Record<string, string> = body === undefined ? { 'x-amz-content-sha256': UNSIGNED } : {};
    const signed = await this.#signWith({
      ...keys,
      method,
      url,
      headers: unsigned,
      ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
      region,
      service,
      cache: this.#signingKeys,
      datetime: new Date(at).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    });
    return Object.fromEntries(signed.headers);
  }
}
