/** Tests the ULIDs of stored objects. */
import { decodeTime, isValid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { ulidFactory } from './ulids.ts';

const NOW = Date.UTC(2026, 10, 28);
const MANY = 5_000;

describe('a ULID', () => {
  it('is valid and has the time of its creation', () => {
    const next = ulidFactory(() => NOW);
    for (const id of Array.from({ length: MANY }, next)) {
      expect(isValid(id)).toBe(true);
      expect(decodeTime(id)).toBe(NOW);
    }
  });

  it('is greater than those before, within a millisecond and if the clock is set back', () => {
    let ms = NOW;
    const next = ulidFactory(() => ms);
    const ids: string[] = [];
    for (const step of [0, 1, -5, 3, 10]) {
      ms += step;
      ids.push(...Array.from({ length: MANY }, next));
    }
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(ids).toHaveLength(5 * MANY);
  });

  it('differs between factories', () => {
    const ids = Array.from({ length: 100 }, () => ulidFactory(() => NOW)().slice(0, 20));
    expect(new Set(ids).size).toBe(100);
  });
});
