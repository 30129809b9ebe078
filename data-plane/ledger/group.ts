/** How long a group of records waits for more of them before it is written. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Turns of the event loop that a group waits at most. A write takes more CPU time than a turn, and answers of
 * a busy node wait for several turns anyway.
 */
export const GROUP_TURNS = 4;

/**
 * Resolves after the turn of the event loop in which no record came, at the latest after `GROUP_TURNS`. So
 * records that come together share a write, and one that comes alone waits one turn.
 */
export async function collectGroup(queued: () => number): Promise<void> {
  let before = 0;
  for (let turn = 0; turn < GROUP_TURNS && queued() > before; turn += 1) {
    before = queued();
    await nextTurn();
  }
}
