import { describe, expect, it } from 'vitest';
import { ATTACKS } from './attacks.ts';
import { readPlan } from './options.ts';

const NAMES = ATTACKS.map(({ name }) => name);
const MINUTE_MS = 60_000;

describe('the arguments of a soak run', () => {
  it('refuse an unknown attack, and name all attacks', () => {
    expect(() => readPlan(['--attack', 'sign-in'], NAMES)).toThrow(
      `There is no attack "sign-in". Name one of:\n${NAMES.join('\n')}`,
    );
  });

  it('give all minutes to an attack that is named', () => {
    expect(readPlan(['--attack', 'sign-ins', '--minutes', '10', '--seed', '3'], NAMES)).toEqual({
      ...{ seed: 3, heapMegabytes: 512, parts: [['sign-ins']] },
      ...{ quietMs: 5 * MINUTE_MS, attackMs: 10 * MINUTE_MS, warmUpMs: MINUTE_MS, restMs: MINUTE_MS },
    });
  });

  it('share half of the minutes among all attacks if none is named', () => {
    const { parts, quietMs, attackMs } = readPlan(['--minutes', '60'], NAMES);
    expect([parts, quietMs]).toEqual([NAMES.map((name) => [name]), 30 * MINUTE_MS]);
    expect(attackMs * NAMES.length).toBeCloseTo(30 * MINUTE_MS);
  });

  it('put several attacks into one part if they run at once', () => {
    const named = NAMES.slice(0, 3).flatMap((name) => ['--attack', name]);
    const { parts, attackMs } = readPlan([...named, '--at-once', '2', '--minutes', '10'], NAMES);
    expect(parts).toEqual([NAMES.slice(0, 2), NAMES.slice(2, 3)]);
    expect(attackMs).toBe(10 * MINUTE_MS);
  });

  it.each(['0', '-1', 'ten', ''])('refuse %j minutes', (minutes) => {
    expect(() => readPlan([`--minutes=${minutes}`], NAMES)).toThrow('Give a number above 0.');
  });
});
