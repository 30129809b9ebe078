/** A passkey in software (WebAuthn Level 3, ES256, attestation `none`) that answers as a browser would. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** Parts of an answer that a test replaces with wrong values. */
export interface Deviation {
  origin?: string;
  rpId?: string;
  /** Whether the authenticator verified the user. */
  verified?: boolean;
  challenge?: string;
  userHandle?: string;
}

/** Options as the API returns them. */
export interface CredentialOptions {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
  user?: { id: string };
}

/** One passkey of one person at one site. */
export class SoftwarePasskey {
  readonly id = randomBytes(16);
  readonly #key: { privateKey: KeyObject; publicKey: KeyObject };
  #userHandle = '';
  #counter = 0;

  constructor() {
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  /** The answer to navigator.credentials.create. */
  create(options: CredentialOptions, origin: string, deviation: Deviation = {}): object {
    this.#userHandle = options.user?.id ?? '';
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    const coordinates = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')] as const;
    const cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      coordinates[0],
      Buffer.from([0x22, 0x58, 0x20]),
      coordinates[1],
    ]);
    const length = Buffer.from([0, this.id.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, cose]);
    const rpId = deviation.rpId ?? options.rp?.id ?? '';
    const data = this.#authenticatorData({ rpId, flags: HAS_CREDENTIAL, deviation, credential });
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      Buffer.from([0x59, data.length >> 8, data.length & 0xff]),
      data,
    ]);
    return this.#answer({
      clientDataJSON: clientData('webauthn.create', options, { origin, ...deviation }),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The answer to navigator.credentials.get. */
  get(options: CredentialOptions, origin: string, deviation: Deviation = {}): object {
    this.#counter += 1;
    const rpId = deviation.rpId ?? options.rpId ?? '';
    const data = this.#authenticatorData({ rpId, flags: 0, deviation, credential: Buffer.alloc(0) });
    const clientDataJSON = clientData('webauthn.get', options, { origin, ...deviation });
    const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    return this.#answer({
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', Buffer.concat([data, digest]), this.#key.privateKey).toString('base64url'),
      userHandle: deviation.userHandle ?? this.#userHandle,
    });
  }

  #answer(response: object): object {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #authenticatorData(parts: {
    rpId: string;
    flags: number;
    deviation: Deviation;
    credential: Buffer;
  }): Buffer {
    const verified = parts.deviation.verified === false ? 0 : USER_VERIFIED;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([
      createHash('sha256').update(parts.rpId).digest(),
      Buffer.from([USER_PRESENT | verified | parts.flags]),
      counter,
      parts.credential,
    ]);
  }
}

function clientData(
  type: string,
  options: CredentialOptions,
  given: { origin: string; challenge?: string },
): string {
  const { origin, challenge = options.challenge } = given;
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url');
}

/** A CBOR text string of fewer than 24 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}
