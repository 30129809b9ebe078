/** Deposit addresses: derived from an extended public key, so that no private key is ever on the server. */
import { HDKey } from '@scure/bip32';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';

/** Largest index of a child that a public key can derive (BIP-32: not hardened). */
export const INDEX_MAX = 2 ** 31 - 1;
const ADDRESS_BYTES = 20;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** An address in lower case, as the database, topics of logs and comparisons use it. */
export type Address = `0x${string}`;

/** Why a text is no extended public key that the server may hold. */
export type KeyFault = 'PRIVATE' | 'MALFORMED';

/**
 * Checks an extended public key of BIP-32. PRIVATE: the text is an extended private key, which the server
 * must never hold. Null if the key can be used.
 */
export function faultOfKey(text: string): KeyFault | null {
  try {
    const key = HDKey.fromExtendedKey(text.trim());
    return key.privateKey ? 'PRIVATE' : null;
  } catch {
    return 'MALFORMED';
  }
}

/** The address of child `index` of an extended public key, in lower case. Throws if the key is invalid. */
export function deriveAddress(extendedKey: string, index: number): Address {
  const child = HDKey.fromExtendedKey(extendedKey.trim()).deriveChild(index);
  if (!child.publicKey) throw new Error(`The extended key has no public child ${index}.`);
  const point = secp256k1.ProjectivePoint.fromHex(child.publicKey).toRawBytes(false);
  // The first byte names the format of the point, and is no part of the key.
  return `0x${bytesToHex(keccak_256(point.subarray(1)).slice(-ADDRESS_BYTES))}`;
}

/** The address in the mixed case of EIP-55, which wallets check. */
export function checksummed(address: Address): string {
  const digits = address.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

/**
 * The address in lower case. Accepts all lower case, all upper case, and the right mixed case of EIP-55;
 * null for a wrong checksum, which is a typing error, and for anything else.
 */
export function parseAddress(text: string): Address | null {
  const trimmed = text.trim();
  if (!ADDRESS.test(trimmed)) return null;
  const digits = trimmed.slice(2);
  const address: Address = `0x${digits.toLowerCase()}`;
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isOneCase || checksummed(address) === trimmed ? address : null;
}

/** The request for a payment of EIP-681 that wallets read from a QR code: this token to this address. */
export function paymentRequest(target: { chainId: number; token: Address; to: Address }): string {
  const { chainId, token, to } = target;
  return `ethereum:${checksummed(token)}@${chainId}/transfer?address=${checksummed(to)}`;
}
