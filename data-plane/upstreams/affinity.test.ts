/** The scores of routes for many conversations. */
import { describe, expect, it } from 'vitest';
import { scoreOf, seedOf, weightedScore } from './affinity.ts';

const CONVERSATIONS = 20_000;
const seeds = Array.from({ length: CONVERSATIONS }, (_, index) =>
  seedOf(`wallet-${index % 7}`, `talk ${index}`),
);

/** The id with the highest weighted score. */
function winner(seed: number, weights: Readonly<Record<string, number>>): string {
  const scores = Object.entries(weights).map(
    ([id, weight]) => [id, weightedScore(scoreOf(seed, id), weight)] as const,
  );
  return scores.reduce((best, score) => (score[1] > best[1] ? score : best))[0];
}

function sharesOf(weights: Readonly<Record<string, number>>): Map<string, number> {
  const won = Map.groupBy(seeds, (seed) => winner(seed, weights));
  return new Map([...won].map(([id, all]) => [id, all.length / CONVERSATIONS]));
}

describe('conversations', () => {
  it('are spread in proportion to the weights, within a tenth', () => {
    const weights = { a1: 1, a2: 1, a3: 2, a4: 3, a5: 3 };
    for (const [id, share] of sharesOf(weights)) {
      const fair = Object.entries(weights).find(([name]) => name === id)?.[1] ?? 0;
      expect(Math.abs(share / (fair / 10) - 1)).toBeLessThan(0.1);
    }
  });

  it('are spread over ids that differ in one character', () => {
    const ids = Array.from({ length: 5 }, (_, index) => `0190d3c2-7f1a-7000-8000-00000000000${index}`);
    const shares = sharesOf(Object.fromEntries(ids.map((id) => [id, 1])));
    for (const id of ids) expect(Math.abs((shares.get(id) ?? 0) * 5 - 1)).toBeLessThan(0.1);
  });

  it('move only to a sixth id, and only its share', () => {
    const five = { a1: 1, a2: 1, a3: 1, a4: 1, a5: 1 };
    const moved = seeds.filter((seed) => winner(seed, five) !== winner(seed, { ...five, a6: 1 }));
    expect(moved.every((seed) => winner(seed, { ...five, a6: 1 }) === 'a6')).toBe(true);
    expect(moved.length / CONVERSATIONS).toBeLessThan(1 / 6 + 0.05);
  });

  it('never choose an id of weight zero while another id has a weight', () => {
    expect(new Set(seeds.slice(0, 100).map((seed) => winner(seed, { none: 0, some: 1 })))).toEqual(
      new Set(['some']),
    );
  });
});

describe('seedOf', () => {
  it('depends on the wallet', () => {
    expect(seedOf('wallet-1', 'session one')).not.toBe(seedOf('wallet-2', 'session one'));
  });
});
