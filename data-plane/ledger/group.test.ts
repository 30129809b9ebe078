/** How long a group of records waits for more of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { GROUP_TURNS, collectGroup } from './group.ts';

/** Counts the turns that a group waits if this many records come in each turn. */
async function turnsWith(arrivals: readonly number[]): Promise<number> {
  let queued = 1;
  let turns = 0;
  let isCollecting = true;
  const collected = collectGroup(() => queued).then(() => {
    isCollecting = false;
  });
  for (;;) {
    queued += arrivals[turns] ?? 0;
    await nextTurn();
    turns += 1;
    if (!isCollecting) break;
  }
  await collected;
  return turns;
}

describe('a group of records', () => {
  test('is written after one turn of the event loop if its record comes alone', async () => {
    expect(await turnsWith([0, 0, 0, 0, 0, 0])).toBe(1);
  });

  test('waits as long as records come in each turn, but only a few turns', async () => {
    expect(await turnsWith([1, 0, 0, 0, 0, 0])).toBe(2);
    expect(await turnsWith([1, 1, 1, 1, 1, 1])).toBe(GROUP_TURNS);
  });
});
