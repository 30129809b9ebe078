/** Waits until nodes have applied a revision. All waiting calls share their queries of the database. */
import type { Acks } from '../database/config-log.ts';

/** Acknowledgements are also polled, because notifications can be lost. */
const POLL_MS = 100;
/** Longest wait for nodes that keep applying revisions, in ms. */
const WAIT_MAX_MS = 20_000;

/** A node that may serve requests, with its configuration. */
export interface ServingNode {
  id: string;
  appliedRevision: number;
  /** Whether the node has had contact recently. Waits ignore other nodes. */
  isReachable: boolean;
}

/** Counts acknowledgements for calls that wait for a revision. One per process. */
export class Confirmations {
  readonly #readNodes: () => Promise<ServingNode[]>;
  /** The last read that began, or that begins after it. */
  #reading: Promise<unknown> = Promise.resolve();
  #queued: Promise<ServingNode[]> | undefined;
  #change: { promise: Promise<void>; resolve: () => void } | undefined;
  #stopped = false;

  /** `readNodes` reads all nodes that may serve. */
  constructor(readNodes: () => Promise<ServingNode[]>) {
    this.#readNodes = readNodes;
  }

  /** Makes all waiting calls look again, after an acknowledgement. */
  noteChange(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }

  /**
   * Waits until every reachable node that may serve has applied the revision, and returns the
   * acknowledgements so far. A node that applies nothing for `timeoutMs` is no longer waited for. Repeats
   * failed reads, and rejects if they fail for 20 s.
   */
  async wait(revision: number, timeoutMs: number): Promise<Acks> {
    const until = performance.now() + WAIT_MAX_MS;
    const progress = new Map<string, { revision: number; at: number }>();
    for (;;) {
      const change = this.#nextChange();
      const nodes = await this.#read().catch((error: unknown) => {
        if (this.#stopped || performance.now() >= until) throw error;
        return undefined;
      });
      if (nodes) {
        const pending = nodes.filter(({ appliedRevision }) => appliedRevision < revision);
        const awaited = pending.filter((node) => isMoving(progress, node, timeoutMs));
        if (awaited.length === 0 || this.#stopped || performance.now() >= until)
          return { appliedNodes: nodes.length - pending.length, pendingNodes: pending.map(({ id }) => id) };
      }
      await change;
    }
  }

  /** Ends all waits with the acknowledgements so far. */
  stop(): void {
    this.#stopped = true;
    this.noteChange();
  }

  /** Reads the nodes. A call joins a read that has not begun yet, and never one that has. */
  #read(): Promise<ServingNode[]> {
    this.#queued ??= this.#reading.then(() => {
      this.#queued = undefined;
      const nodes = this.#readNodes();
      this.#reading = nodes.catch(() => undefined);
      return nodes;
    });
    return this.#queued;
  }

  /** Resolves after the next acknowledgement or poll. */
  #nextChange(): Promise<void> {
    if (!this.#change) {
      const change = Promise.withResolvers<void>();
      setTimeout(change.resolve, POLL_MS);
      this.#change = change;
      void change.promise.then(() => {
        if (this.#change === change) this.#change = undefined;
      });
    }
    return this.#change.promise;
  }
}

/** Whether a node is reachable and has applied something within the timeout; remembers what it applied. */
function isMoving(
  progress: Map<string, { revision: number; at: number }>,
  { id, appliedRevision, isReachable }: ServingNode,
  timeoutMs: number,
): boolean {
  const now = performance.now();
  const last = progress.get(id);
  if (!last || appliedRevision > last.revision) progress.set(id, { revision: appliedRevision, at: now });
  return isReachable && now < (progress.get(id)?.at ?? now) + timeoutMs;
}
