/** Guarantees of the code that the planes share: timestamps, money, secrets, sealing, checksum, failures. */
import fc from 'fast-check';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { ConfigChecksum } from './checksum.ts';
import { asGatewayError, FAILURES, GatewayError } from './failures.ts';
import {
  chargeFor,
  dollarsOf,
  formatDollars,
  formatRatio,
  parseDollars,
  parseRatio,
  RATIO_ONE,
} from './money.ts';
import { exportPublicKey, seal, unseal } from './sealing.ts';
import { deriveKey, digestOf, isWellFormedKey, issueKey, maskOf } from './secrets.ts';
import { TimestampFormatter } from './timestamps.ts';

describe('TimestampFormatter', () => {
  it('writes the same text as Date.toISOString, in any order of timestamps', () => {
    const any = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
    const near = fc.integer({ min: 1_795_000_000_000, max: 1_795_000_003_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(any, near)), (timestamps) => {
        const formatter = new TimestampFormatter();
        for (const at of timestamps) expect(formatter.format(at)).toBe(new Date(at).toISOString());
      }),
    );
    expect(() => new TimestampFormatter().format(Number.NaN)).toThrow(RangeError);
  });

  it('formats equal timestamps once, and the seconds of one second once', () => {
    const [seconds, milliseconds] = [
      vi.spyOn(Date.prototype, 'toISOString'),
      vi.spyOn(String.prototype, 'padStart'),
    ];
    const formatter = new TimestampFormatter();
    for (const ms of [1, 1, 999, 999]) formatter.format(1_795_000_000_000 + ms);
    const counts = [seconds.mock.calls.length, milliseconds.mock.calls.length];
    vi.restoreAllMocks();
    expect(counts).toEqual([1, 2]);
  });
});

describe('money', () => {
  it('parses every amount that it formats', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (amount) => {
        expect(parseDollars(formatDollars(amount))).toBe(amount);
      }),
    );
  });

  it('formats the decimal text of a record like a bigint', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (amount) => {
        expect(dollarsOf(String(amount))).toBe(formatDollars(amount));
      }),
    );
    expect(['0', '1', '255000', '12000000', '1230000'].map(dollarsOf)).toEqual([
      '0.00',
      '0.000001',
      '0.255',
      '12.00',
      '1.23',
    ]);
  });

  it('parses whole dollars and fractions down to one micro-dollar', () => {
    expect(['12', '0', '-3', '0.5', '1.000001', '-0.25'].map(parseDollars)).toEqual([
      12_000_000n,
      0n,
      -3_000_000n,
      500_000n,
      1_000_001n,
      -250_000n,
    ]);
  });

  it('formats at least two fraction digits and no further trailing zeros', () => {
    expect([0n, 255_000n, 600_000n, -1n, 12_000_000n].map(formatDollars)).toEqual([
      '0.00',
      '0.255',
      '0.60',
      '-0.000001',
      '12.00',
    ]);
  });

  it.each(['', '1e3', '0x10', '1,5', ' 1', '1.2345678', '١', '+1', '.5', '1.', 'NaN', '99999999999999'])(
    'does not parse %j as an amount',
    (text) => expect(parseDollars(text)).toBeUndefined(),
  );

  it('charges the price times the ratio, rounded half up, and exactly the price at ratio 1', () => {
    expect(chargeFor(600_000n, 9_000n)).toBe(540_000n);
    expect(chargeFor(1n, 5_000n)).toBe(1n);
    expect(chargeFor(1n, 4_999n)).toBe(0n);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), (price) => {
        expect(chargeFor(price, RATIO_ONE)).toBe(price);
      }),
    );
  });

  it('parses every ratio that it formats, and nothing else', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 99_999_999n }), (ratio) => {
        expect(parseRatio(formatRatio(ratio))).toBe(ratio);
      }),
    );
    expect(['0.85', '2', '12.0001', '0'].map(parseRatio)).toEqual([8_500n, 20_000n, 120_001n, 0n]);
    expect([8_500n, 20_000n, 120_001n, 9_000n, 0n].map(formatRatio)).toEqual([
      '0.85',
      '2',
      '12.0001',
      '0.9',
      '0',
    ]);
    for (const text of ['', '1x', 'x1', '1.', '.5', '1.23456', '12345'])
      expect(parseRatio(text)).toBeUndefined();
    expect(parseRatio('-1')).toBeUndefined();
  });
});

describe('API keys', () => {
  it('are sk- and 48 characters with a correct checksum', () => {
    const key = issueKey();
    expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
    expect(isWellFormedKey(key)).toBe(true);
    expect(maskOf(key)).toEqual({ prefix: key.slice(0, 7), suffix: key.slice(-4) });
  });

  it('are malformed when one character has changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 50 }), (at) => {
        const key = issueKey();
        const other = key[at] === 'a' ? 'b' : 'a';
        expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('are equal when derived from the same bytes, and different otherwise', () => {
    const [one, two] = [deriveKey(Buffer.alloc(32, 1)), deriveKey(Buffer.alloc(32, 2))];
    expect(one).toBe(deriveKey(Buffer.alloc(32, 1)));
    expect(digestOf(one)).not.toBe(digestOf(two));
    expect(isWellFormedKey(one)).toBe(true);
  });
});

describe('sealing', () => {
  const pair = generateKeyPairSync('x25519');
  const publicKey = exportPublicKey(pair.publicKey);

  it('opens only with the private key and the same context', () => {
    const sealed = seal('upstream secret', publicKey, 'credential_1');
    expect(unseal(sealed, pair.privateKey, 'credential_1')).toBe('upstream secret');
    expect(() => unseal(sealed, pair.privateKey, 'credential_2')).toThrow();
    expect(() => unseal(sealed, generateKeyPairSync('x25519').privateKey, 'credential_1')).toThrow();
  });

  it('detects any changed byte', () => {
    const sealed = Buffer.from(seal('x', publicKey, 'c'), 'base64url');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => unseal(changed.toString('base64url'), pair.privateKey, 'c')).toThrow();
    }
  });
});

describe('the configuration checksum', () => {
  it('does not depend on order, and forgets an entry that was added and removed', () => {
    const [one, two] = [new ConfigChecksum(), new ConfigChecksum()];
    one.toggle('MODEL', 'a', 1);
    one.toggle('API_KEY', 'b', 2);
    two.toggle('API_KEY', 'b', 2);
    two.toggle('ROUTE', 'c', 3);
    two.toggle('MODEL', 'a', 1);
    expect(one.value).not.toBe(two.value);
    two.toggle('ROUTE', 'c', 3);
    expect(one.value).toBe(two.value);
  });
});

describe('failures', () => {
  it('have the status of their code; an unexpected error becomes internal without its message', () => {
    expect(new GatewayError('insufficient_funds', 'Top up.').status).toBe(FAILURES.insufficient_funds);
    expect(new GatewayError('insufficient_funds', 'Top up.').shouldRetry).toBe(false);
    const unexpected = asGatewayError(new Error('secret detail'));
    expect(unexpected.code).toBe('internal');
    expect(unexpected.message).not.toContain('secret detail');
  });
});
