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
      ...{ seed: 3, heapMegabytes: 512, attacks: ['sign-ins'] },
      ...{ quietMs: 5 * MINUTE_MS, attackMs: 10 * MINUTE_MS, warmUpMs: MINUTE_MS, restMs: MINUTE_MS },
    });
  });

  it('share half of the minutes among all attacks if none is named', () => {
    const { attacks, quietMs, attackMs } = readPlan(['--minutes', '60'], NAMES);
    expect([attacks, quietMs]).toEqual([NAMES, 30 * MINUTE_MS]);
    expect(attackMs * NAMES.length).toBeCloseTo(30 * MINUTE_MS);
  });

  it.each(['0', '-1', 'ten', ''])('refuse %j minutes', (minutes) => {
    expect(() => readPlan([`--minutes=${minutes}`], NAMES)).toThrow('Give a number above 0.');
  });
});
