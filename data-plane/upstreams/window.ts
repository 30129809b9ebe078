/** Counts the results and latencies of the last five minutes of one upstream, in a fixed amount of memory. */
import { FAULTS } from '@gateway/shared/upstream-health';
import type { Fault } from '@gateway/shared/upstream-health';

/** The window is a ring of slots: the oldest slot is cleared for the next. */
const SLOT_MS = 30_000;
const SLOTS = 10;
/** Length of the window, in ms. */
export const WINDOW_SPAN_MS = SLOT_MS * SLOTS;
/**
 * Upper bounds of the latency buckets: the first in ms, each further one larger by the factor, so that a
 * reported latency is at most a fifth too high.
 */
const FIRST_BOUND_MS = 10;
const BOUND_FACTOR = 1.2;
/** Number of buckets. The last bound is above ten minutes; longer latencies count there. */
const BOUNDS = 62;

/** Layout of a slot: successes, each kind of fault, latency buckets, input tokens, cached ones of them. */
const LATENCIES_AT = 1 + FAULTS.length;
const INPUT_AT = LATENCIES_AT + BOUNDS;
const CACHED_AT = INPUT_AT + 1;
const SLOT_SIZE = CACHED_AT + 1;

/** Results within the window: successes, and faults in the order of `FAULTS`. */
interface Counts {
  succeeded: number;
  faults: readonly number[];
}

/** Input tokens within the window, and those of them that came from a cache. */
interface InputTokens {
  input: number;
  cached: number;
}

/** Recent results of one upstream. Counting allocates nothing. Times are ms of one monotonic clock. */
export class HealthWindow {
  readonly #counts = new Uint32Array(SLOTS * SLOT_SIZE);
  #slot = 0;

  /** Counts an attempt that ended with this fault; undefined: with success. */
  countAttempt(fault: Fault | undefined, now: number): void {
    this.#add(fault === undefined ? 0 : 1 + FAULTS.indexOf(fault), now);
  }

  /** Counts an answer that began after `ms`. */
  countLatency(ms: number, now: number): void {
    const above = Math.ceil(Math.log(Math.max(ms, FIRST_BOUND_MS) / FIRST_BOUND_MS) / Math.log(BOUND_FACTOR));
    this.#add(LATENCIES_AT + Math.min(above, BOUNDS - 1), now);
  }

  /** Counts the input tokens of an answer. */
  countInput({ input, cached }: InputTokens, now: number): void {
    this.#add(INPUT_AT, now, input);
    this.#add(CACHED_AT, now, cached);
  }

  /** The input tokens within the window that ends at `now`. */
  inputTokens(now: number): InputTokens {
    this.#advance(now);
    return { input: this.#sum(INPUT_AT), cached: this.#sum(CACHED_AT) };
  }

  /** The results within the window that ends at `now`. */
  counts(now: number): Counts {
    this.#advance(now);
    return { succeeded: this.#sum(0), faults: FAULTS.map((_, index) => this.#sum(1 + index)) };
  }

  /** The time in ms within which this share (0 to 1) of the answers began; null without answers. */
  quantile(share: number, now: number): number | null {
    this.#advance(now);
    const latencies = Array.from({ length: BOUNDS }, (_, index) => this.#sum(LATENCIES_AT + index));
    const all = latencies.reduce((sum, count) => sum + count, 0);
    if (all === 0) return null;
    let seen = 0;
    const bound = latencies.findIndex((count) => (seen += count) >= all * share);
    return Math.round(FIRST_BOUND_MS * BOUND_FACTOR ** bound);
  }

  #add(place: number, now: number, count = 1): void {
    this.#advance(now);
    const at = (this.#slot % SLOTS) * SLOT_SIZE + place;
    this.#counts[at] = (this.#counts[at] ?? 0) + count;
  }

  #advance(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    for (let passed = Math.max(this.#slot + 1, slot - SLOTS + 1); passed <= slot; passed += 1) {
      const from = (passed % SLOTS) * SLOT_SIZE;
      this.#counts.fill(0, from, from + SLOT_SIZE);
    }
    this.#slot = Math.max(this.#slot, slot);
  }

  #sum(place: number): number {
    let sum = 0;
    for (let at = place; at < this.#counts.length; at += SLOT_SIZE) sum += this.#counts[at] ?? 0;
    return sum;
  }
}
