/** Tests of the wait for the comparisons after a chaos run. */
import { describe, expect, it } from 'vitest';
import { compareAll } from './settle.ts';
import type { Comparisons } from './settle.ts';

/** Top-ups that the control plane takes at a time. */
const TAKEN = 50;

/**
 * A control plane that needs `readings` readings of its progress for each top-up that it compares. Its clock
 * is the number of readings so far.
 */
class SlowControlPlane implements Comparisons {
  readonly #all: number;
  readonly #readings: number;
  #clock = 0;
  #due = 0;
  #run = { begun: 0, left: 0 };
  #ended: Date | null = null;
  /** Top-ups compared since they became due. */
  compared = 0;

  constructor(all: number, readings: number) {
    this.#all = all;
    this.#readings = readings;
  }

  async makeDue(): Promise<void> {
    this.#due = this.#all;
    this.compared = 0;
  }

  async progress(): Promise<Awaited<ReturnType<Comparisons['progress']>>> {
    return { at: new Date(this.#clock), due: this.#due, begun: this.#ended, error: null };
  }

  async pause(): Promise<void> {
    this.#clock += 1;
    if (this.#run.left > 0 && this.#clock % this.#readings === 0) {
      this.#run.left -= 1;
      this.compared += 1;
    }
    if (this.#run.left > 0) return;
    this.#ended = new Date(this.#run.begun);
    this.#run = { begun: this.#clock, left: Math.min(this.#due, TAKEN) };
    this.#due -= this.#run.left;
  }
}

describe('a round of comparisons', () => {
  it.each([
    ['fast', 1],
    ['slow', 7],
    ['very slow', 20],
  ])('ends when every top-up was compared by a %s control plane', async (_name, readings) => {
    const control = new SlowControlPlane(130, readings);
    await compareAll(control);
    expect(control.compared).toBe(130);
    await compareAll(control);
    expect(control.compared).toBe(130);
  });

  it('ends without a top-up', async () => {
    const control = new SlowControlPlane(0, 1);
    await compareAll(control);
    expect(control.compared).toBe(0);
  });

  it('fails if the control plane compares nothing any more, and names what waits', async () => {
    const control = new SlowControlPlane(3, Number.POSITIVE_INFINITY);
    await expect(compareAll(control)).rejects.toThrow(/does not compare top-ups any more: .*"due":0/);
  });
});
