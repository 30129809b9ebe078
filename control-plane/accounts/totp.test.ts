/** Tests one-time passwords against RFC 6238, and recovery codes. */
import { describe, expect, it } from 'vitest';
import { matchingStep, newRecoveryCode, newTotpSecret, plainRecoveryCode, stepAt, totpCode } from './totp.ts';

/** The key of RFC 6238, appendix B: "12345678901234567890". */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('one-time passwords', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ])('equal the codes of RFC 6238 at second %i', (seconds, code) => {
    expect(totpCode(RFC_SECRET, stepAt(seconds * 1000))).toBe(code);
  });

  it('match within one step around the time, and no further', () => {
    const secret = newTotpSecret();
    const time = 1_800_000_000_000;
    const step = stepAt(time);
    for (const away of [-1, 0, 1])
      expect(matchingStep(secret, totpCode(secret, step + away), time)).toBe(step + away);
    for (const away of [-2, 2]) expect(matchingStep(secret, totpCode(secret, step + away), time)).toBeNull();
    for (const wrong of ['', '12345', '1234567', 'abcdef'])
      expect(matchingStep(secret, wrong, time)).toBeNull();
  });

  it('have recovery codes that may be typed with spaces, hyphens or capitals', () => {
    const code = newRecoveryCode();
    expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(plainRecoveryCode(` ${code.toUpperCase().replaceAll('-', ' ')} `)).toBe(plainRecoveryCode(code));
  });
});
