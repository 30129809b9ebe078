/**
 * Bounds the CPU time that refused bodies and pipelines cost. A caller pays with time: once its refusals have
 * cost too much, its network opens new connections slowly, and its next large body is refused unread with
 * 429. A caller is a wallet, an account, a node, or a network without a valid credential.
 */

/** A cost that comes back with time, in ms of CPU time. */
interface Rate {
  perSecond: number;
  atOnce: number;
}

/** Cost of refused bodies of one wallet, account or node: a twentieth of a core. */
export const REFUSED_WORK: Rate = { perSecond: 50, atOnce: 500 };
/** Cost of refused bodies of one network without a valid credential. */
export const REFUSED_WORK_OF_NETWORK: Rate = { perSecond: 20, atOnce: 200 };
/** The same of all networks together. Above it, every network that was refused something has to wait. */
export const REFUSED_WORK_OF_STRANGERS: Rate = { perSecond: 50, atOnce: 500 };
/** A caller waits at most this long after its last refused body, in ms. */
export const LONGEST_PENALTY_MS = 30_000;
/**
 * Connections per second that all networks with a penalty together may open, and as many for those of them
 * where a valid credential was sent lately. Open connections go on.
 */
export const PENALTY_CONNECTIONS_PER_SECOND = 5;
/** Callers that are counted at once; the one that was not seen for longest is forgotten first. */
const COUNTED_CALLERS = 20_000;

/** Cost of a network chunk, in ms: even a chunk of one byte is a call and an allocation. */
const CHUNK_MS = 0.002;
/** Cost of a byte that is read, decompressed or parsed, in ms: 5 ms per MB. */
const BYTE_MS = 0.000_005;
/** Cost of a chunked body that is refused unread, in ms: Node parses what one read of 64 KiB brought. */
export const CHUNKED_REFUSAL_MS = 20;
/**
 * Cost of a connection that sent too many requests ahead, in ms: Node parses all requests of a read of
 * 64 KiB, also after the connection was closed, and the first ones were answered.
 */
export const PIPELINE_REFUSAL_MS = 10;
/** Cost of a byte that is read and dropped, in ms: 8 ms per MB, most of it garbage collection of buffers. */
const DROPPED_BYTE_MS = 0.000_008;
/** Cost of a refusal without a body, in ms. */
const REFUSAL_MS = 0.5;

const SECOND_MS = 1_000;

/** Estimated CPU time of reading a body, in ms. */
export function readingMs({ bytes, chunks }: { bytes: number; chunks: number }): number {
  return bytes * BYTE_MS + chunks * CHUNK_MS;
}

/** Estimated CPU time of refusing a request and dropping the rest of its body, in ms. */
export function droppingMs(bytes: number): number {
  return REFUSAL_MS + bytes * DROPPED_BYTE_MS;
}

/** An account of cost that shrinks with time. */
class Cost {
  readonly #rate: Rate;
  #ms = 0;
  #at = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  add(ms: number, now: number): void {
    const { perSecond, atOnce } = this.#rate;
    const most = atOnce + (LONGEST_PENALTY_MS / SECOND_MS) * perSecond;
    this.#ms = Math.min(this.msAt(now) + ms, most);
    this.#at = now;
  }

  /** The unpaid rest, in ms of CPU time. */
  msAt(now: number): number {
    return Math.max(0, this.#ms - ((now - this.#at) / SECOND_MS) * this.#rate.perSecond);
  }

  /** Time until the caller may cause more, in ms; 0 for none. */
  waitMs(now: number): number {
    const { perSecond, atOnce } = this.#rate;
    return (Math.max(0, this.msAt(now) - atOnce) / perSecond) * SECOND_MS;
  }
}

/** The wallet, account or node, and the network that pay for refused work. */
export interface Payers {
  /** The wallet, account or node; undefined without a valid credential. */
  caller: string | undefined;
  /** The network of the client; undefined if the process does not know it. */
  network: string | undefined;
}

/** The cost of refused bodies by caller. Each process counts by itself, because it has a core of its own. */
export class RefusedWork {
  readonly #now: () => number;
  readonly #callers = new Map<string, Cost>();
  readonly #networks = new Map<string, Cost>();
  readonly #strangers = new Cost(REFUSED_WORK_OF_STRANGERS);
  /** New connections of networks with a penalty, by whether a valid credential was sent there lately. */
  readonly #opened = { known: new Cost(PENALTY_CONNECTIONS), unknown: new Cost(PENALTY_CONNECTIONS) };

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a cost in ms. A network pays only for callers without a credential or with a penalty. */
  spend(ms: number, { caller, network }: Payers): void {
    if (ms <= 0) return;
    const now = this.#now();
    if (caller !== undefined) costOf(this.#callers, caller, REFUSED_WORK).add(ms, now);
    if (network === undefined || (caller !== undefined && this.waitMs(caller) === 0)) return;
    costOf(this.#networks, network, REFUSED_WORK_OF_NETWORK).add(ms, now);
    this.#strangers.add(ms, now);
  }

  /** Time until a large body of this wallet, account or node may be read, in ms; 0 for none. */
  waitMs(caller: string): number {
    return this.#callers.get(caller)?.waitMs(this.#now()) ?? 0;
  }

  /** The same for senders without a valid credential in this network. */
  waitMsOfStrangers(network: string): number {
    return this.#networks.get(network)?.waitMs(this.#now()) ?? 0;
  }

  /** Whether this network may open a connection. `isKnown`: a valid credential was sent there lately. */
  admits(network: string, isKnown: boolean): boolean {
    const now = this.#now();
    const cost = this.#networks.get(network);
    if (cost === undefined || cost.msAt(now) === 0) return true;
    if (cost.waitMs(now) === 0 && this.#strangers.waitMs(now) === 0) return true;
    const opened = this.#opened[isKnown ? 'known' : 'unknown'];
    if (opened.waitMs(now) > 0) return false;
    opened.add(1, now);
    return true;
  }
}

/** Connections instead of ms. */
const PENALTY_CONNECTIONS: Rate = {
  perSecond: PENALTY_CONNECTIONS_PER_SECOND,
  atOnce: PENALTY_CONNECTIONS_PER_SECOND - 1,
};

/** The cost of a caller, as the newest entry. */
function costOf(costs: Map<string, Cost>, key: string, rate: Rate): Cost {
  const cost = costs.get(key) ?? new Cost(rate);
  costs.delete(key);
  costs.set(key, cost);
  const [oldest] = costs.keys();
  if (costs.size > COUNTED_CALLERS && oldest !== undefined) costs.delete(oldest);
  return cost;
}
