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

  it('put attacks into one part that are named together', () => {
    const [first, second, third] = NAMES;
    const named = ['--attack', `${first} + ${second}`, '--attack', `${third}`];
    const { parts, attackMs } = readPlan([...named, '--minutes', '10'], NAMES);
    expect(parts).toEqual([[first, second], [third]]);
    expect(attackMs).toBe(10 * MINUTE_MS);
  });

  it.each(['0', '-1', 'ten', ''])('refuse %j minutes', (minutes) => {
    expect(() => readPlan([`--minutes=${minutes}`], NAMES)).toThrow('Give a number above 0.');
  });
});
