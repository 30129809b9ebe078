/** The inputs that reached something new. They are the parents of further inputs. */
import type { Random } from './random.ts';

/** Number of newest inputs that are chosen more often, because they have been changed least. */
const NEWEST = 32;

export class Corpus {
  readonly #inputs: Buffer[] = [];

  get size(): number {
    return this.#inputs.length;
  }

  add(input: Buffer): void {
    this.#inputs.push(Buffer.from(input));
  }

  /** One of the newest inputs in a third of the cases, else the shortest one of three. */
  choose(random: Random): Buffer {
    const newest = Math.min(NEWEST, this.size);
    if (random.oneIn(3)) return this.#at(this.size - 1 - random.below(newest));
    const some = Array.from({ length: 3 }, () => this.#at(random.below(this.size)));
    return some.reduce((one, other) => (one.length <= other.length ? one : other));
  }

  #at(index: number): Buffer {
    return this.#inputs[index] ?? Buffer.from('a');
  }
}
