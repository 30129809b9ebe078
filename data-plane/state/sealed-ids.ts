/**
 * Ids of objects that an upstream stores for a customer. The id encrypts where the object is; the wallet and
 * the kind of object are authenticated with it, so that it opens only for them. Nothing is kept on a node.
 *
 * The cipher is SIV (Rogaway and Shrimpton, 2006): AES-256-CTR whose IV is the HMAC-SHA256 of everything. It
 * needs no random number, so the same object has the same id everywhere.
 */
import { createCipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const IV_BYTES = 16;
/** Maximum length of one encrypted text, in bytes: its length is one byte. */
const TEXT_BYTES = 255;
const TEXTS = 4;
/** Maximum length of a sealed id without its prefix. Longer ones are refused without decrypting them. */
export const SEALED_ID_CHARACTERS = Math.ceil(((IV_BYTES + TEXTS * (TEXT_BYTES + 1)) * 4) / 3);
const SEALED_TEXT = /^[A-Za-z0-9_-]+$/;

/** The beginnings of ids, by kind of object, as the clients' formats have them. */
const PREFIXES = { response: 'resp_', conversation: 'conv_', cache: 'cachedContents/' } as const;

/** A kind of object that an upstream can store. */
export type StateKind = keyof typeof PREFIXES;

/** Where a stored object is. */
export interface StoredObject {
  kind: StateKind;
  providerId: string;
  /** The credential whose account has the object; empty if the upstream needs none. */
  credentialId: string;
  /** The catalog's name of the model with which the object was stored. */
  model: string;
  /** The upstream's own id. */
  upstreamId: string;
}

/** Seals and opens ids under one key, which all nodes share. */
export class SealedIds {
  readonly #encryption: Buffer;
  readonly #authentication: Buffer;

  constructor(key: Buffer) {
    const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', use, KEY_BYTES));
    this.#encryption = derive('gateway stored object encryption v1');
    this.#authentication = derive('gateway stored object authentication v1');
  }

  /** The customer's id of an object, always the same one. Throws RangeError above 255 bytes a text. */
  seal(object: StoredObject, walletId: string): string {
    const { kind, providerId, credentialId, model, upstreamId } = object;
    const plain = Buffer.concat([providerId, credentialId, model, upstreamId].map(withLength));
    const iv = this.#ivOf(plain, { kind, walletId });
    const sealed = Buffer.concat([iv, this.#crypt(iv, plain)]);
    return PREFIXES[kind] + sealed.toString('base64url');
  }

  /** The object that an id names; undefined unless the id was sealed for this kind and wallet. */
  open(id: string, kind: StateKind, walletId: string): StoredObject | undefined {
    const prefix = PREFIXES[kind];
    const text = id.slice(prefix.length);
    if (!id.startsWith(prefix) || text.length > SEALED_ID_CHARACTERS || !SEALED_TEXT.test(text))
      return undefined;
    const sealed = Buffer.from(text, 'base64url');
    // Base64 ignores some bits of the last character. An id has one spelling.
    if (sealed.length <= IV_BYTES || sealed.toString('base64url') !== text) return undefined;
    const iv = sealed.subarray(0, IV_BYTES);
    const plain = this.#crypt(iv, sealed.subarray(IV_BYTES));
    if (!timingSafeEqual(iv, this.#ivOf(plain, { kind, walletId }))) return undefined;
    const [providerId = '', credentialId = '', model = '', upstreamId = ''] = textsOf(plain);
    return { kind, providerId, credentialId, model, upstreamId };
  }

  #ivOf(plain: Buffer, { kind, walletId }: { kind: StateKind; walletId: string }): Buffer {
    const hmac = createHmac('sha256', this.#authentication);
    return hmac
      .update(withLength(kind))
      .update(withLength(walletId))
      .update(plain)
      .digest()
      .subarray(0, IV_BYTES);
  }

  /** Encrypts, and decrypts: both are the same in counter mode. */
  #crypt(iv: Buffer, bytes: Buffer): Buffer {
    const cipher = createCipheriv('aes-256-ctr', this.#encryption, iv);
    return Buffer.concat([cipher.update(bytes), cipher.final()]);
  }
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > TEXT_BYTES) throw new RangeError(`a text of a sealed id exceeds ${TEXT_BYTES} bytes`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function textsOf(plain: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < plain.length;) {
    const end = at + 1 + (plain[at] ?? 0);
    texts.push(plain.toString('utf8', at + 1, end));
    at = end;
  }
  return texts;
}
