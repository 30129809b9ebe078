/** Tests of deposit addresses: derivation without a private key, checksums, and requests for payments. */
import { HDKey, mnemonicToAccount } from 'viem/accounts';
import { getAddress } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import { checksummed, deriveAddress, faultOfKey, parseAddress, paymentRequest } from './address.rules.ts';

/** The published test phrase of anvil and Hardhat. */
const PHRASE = 'test test test test test test test test test test test junk';
const PATH = "m/44'/60'/0'/0";
const parent = mnemonicToAccount(PHRASE, { path: PATH }).getHdKey();
const PUBLIC = parent.publicExtendedKey;

describe('derived addresses', () => {
  it('equal those of the private branch for every index', () => {
    for (const index of [0, 1, 2, 77, 100_000, 2 ** 31 - 1]) {
      const own = mnemonicToAccount(PHRASE, { path: `${PATH}/${index}` }).address;
      expect(checksummed(deriveAddress(PUBLIC, index))).toBe(own);
    }
  });

  it('accept spaces around the key, and refuse a hardened index', () => {
    expect(deriveAddress(` ${PUBLIC}\n`, 0)).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
    expect(() => deriveAddress(PUBLIC, 2 ** 31)).toThrow();
  });

  it('are derived from a key without a private part', () => {
    expect(HDKey.fromExtendedKey(PUBLIC).privateKey).toBeNull();
  });
});

describe('an extended key', () => {
  it('is accepted if it is public', () => {
    expect(faultOfKey(` ${PUBLIC} `)).toBeNull();
  });

  it('is refused if it is private, or damaged', () => {
    expect(faultOfKey(parent.privateExtendedKey)).toBe('PRIVATE');
    expect(faultOfKey(PUBLIC.slice(0, -1))).toBe('MALFORMED');
    expect(faultOfKey(`${PUBLIC.slice(0, -2)}11`)).toBe('MALFORMED');
    expect(faultOfKey(PHRASE)).toBe('MALFORMED');
    expect(faultOfKey('')).toBe('MALFORMED');
  });
});

describe('an address', () => {
  const lower = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
  const mixed = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

  it('has the checksum of EIP-55', () => {
    expect(checksummed(lower)).toBe(mixed);
    for (let index = 0; index < 40; index += 1) {
      const address = deriveAddress(PUBLIC, index);
      expect(checksummed(address)).toBe(getAddress(address));
    }
  });

  it('is read in lower, upper and checksummed form', () => {
    expect(parseAddress(` ${mixed} `)).toBe(lower);
    expect(parseAddress(lower)).toBe(lower);
    expect(parseAddress(`0x${lower.slice(2).toUpperCase()}`)).toBe(lower);
  });

  it('is refused with a wrong checksum, another length or other characters', () => {
    expect(parseAddress(mixed.replace('A0b', 'a0b'))).toBeNull();
    expect(parseAddress(lower.slice(0, -1))).toBeNull();
    expect(parseAddress(`${lower}0`)).toBeNull();
    expect(parseAddress(lower.replace('0xa', '0xg'))).toBeNull();
    expect(parseAddress(lower.slice(2))).toBeNull();
  });

  it('is paid by a request that names token, chain and recipient', () => {
    const to = deriveAddress(PUBLIC, 0);
    expect(paymentRequest({ chainId: 8453, token: lower, to })).toBe(
      `ethereum:${mixed}@8453/transfer?address=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266`,
    );
  });
});
