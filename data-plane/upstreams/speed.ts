/**
 * How fast and how reliable a route was recently: decayed sums of the times to the first content and of the
 * failures. Pure apart from its own object; times are ms of a monotonic clock.
 */

/** Time after which a sample counts half. */
const HALF_LIFE_MS = 60_000;
/** Time that counts for a route without any answer, in ms: a route that fails quickly is not the fastest. */
const UNANSWERED_MS = 30_000;
/** Largest share of failures in the score. */
const FAILED_SHARE_MAX = 0.95;
/** A route that was not used for this time gets one request, even if it was slow. */
export const EXPLORE_MS = 30_000;
/** A conversation leaves its route for one that is faster by this factor, and by SLOWER_MS. */
const SLOWER_FACTOR = 2;
const SLOWER_MS = 250;

/** The recent past of one route. Counting allocates nothing. */
export class Speed {
  #answers = 0;
  #sumMs = 0;
  #failures = 0;
  #at = 0;
  /** When the route was last chosen or has last answered. */
  #usedAt: number;

  constructor(now: number) {
    this.#usedAt = now;
  }

  /** Notes that a request is sent now. */
  used(now: number): void {
    this.#usedAt = now;
  }

  /** Counts an answer whose first content came after `ms`. */
  answered(ms: number, now: number): void {
    this.#decay(now);
    this.#answers += 1;
    this.#sumMs += ms;
  }

  /** Counts an attempt that the upstream failed. */
  failed(now: number): void {
    this.#decay(now);
    this.#failures += 1;
  }

  /** Whether the route was not used for so long that it may have become faster. */
  isStale(now: number): boolean {
    return now - this.#usedAt > EXPLORE_MS;
  }

  /** The expected time to the first content in ms, with failures as a penalty; undefined without samples. */
  get score(): number | undefined {
    const all = this.#answers + this.#failures;
    if (all === 0) return undefined;
    const meanMs = this.#answers > 0 ? this.#sumMs / this.#answers : UNANSWERED_MS;
    return meanMs / (1 - Math.min(this.#failures / all, FAILED_SHARE_MAX)) ** 2;
  }

  #decay(now: number): void {
    const factor = 2 ** (-Math.max(0, now - this.#at) / HALF_LIFE_MS);
    this.#answers *= factor;
    this.#sumMs *= factor;
    this.#failures *= factor;
    this.#at = now;
    this.#usedAt = now;
  }
}

interface Choice {
  now: number;
  /** Whether the request belongs to a conversation, whose prompt cache is warm at its first choice. */
  isConversation: boolean;
}

/**
 * Whether the second choice is to be preferred to the first one. A stale route is tried once; a conversation
 * stays at its first choice unless that is clearly slower.
 */
export function isSecondBetter(
  first: Speed | undefined,
  second: Speed | undefined,
  { now, isConversation }: Choice,
): boolean {
  if (first?.isStale(now) === true) return false;
  if (second?.isStale(now) === true && !isConversation) return true;
  const [slow, fast] = [first?.score, second?.score];
  if (slow === undefined || fast === undefined) return false;
  return isConversation ? slow > fast * SLOWER_FACTOR && slow - fast > SLOWER_MS : slow > fast;
}

/** Maximum number of routes whose speed a node keeps. */
const ROUTES_MAX = 2_000;

/** The speeds of routes, separately for streamed and whole answers. Forgets the route first noted. */
export class Speeds {
  readonly #byRoute = new Map<string, Speed>();

  /** The speed of a route; undefined if nothing is known. */
  of(routeId: string, streamed: boolean): Speed | undefined {
    return this.#byRoute.get(keyOf(routeId, streamed));
  }

  /** Notes that the route gets a request, and returns its speed. */
  use(routeId: string, streamed: boolean, now: number): Speed {
    const key = keyOf(routeId, streamed);
    const known = this.#byRoute.get(key);
    if (known) {
      known.used(now);
      return known;
    }
    const [oldest] = this.#byRoute.keys();
    if (this.#byRoute.size >= ROUTES_MAX && oldest !== undefined) this.#byRoute.delete(oldest);
    const speed = new Speed(now);
    this.#byRoute.set(key, speed);
    return speed;
  }
}

function keyOf(routeId: string, streamed: boolean): string {
  return streamed ? `${routeId} streamed` : routeId;
}
