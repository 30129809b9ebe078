/** Waits until nodes have applied a revision. All waiting calls share their queries of the database. */
import type { Acks } from '../database/config-log.ts';

/** Acknowledgements are also polled, because notifications can be lost. */
const POLL_MS = 100;
/** Longest wait for nodes that keep applying revisions, in ms. */
const WAIT_MAX_MS = 20_000;

/** A worker that may serve requests, with its configuration. Worker 1 has the id of its node. */
export interface ServingWorker {
  id: string;
  nodeId: string;
  appliedRevision: number;
  /** Whether the worker has had contact recently. Waits ignore other workers. */
  isReachable: boolean;
}

/** Counts acknowledgements for calls that wait for a revision. One per process. */
export class Confirmations {
  readonly #readWorkers: () => Promise<ServingWorker[]>;
  /** The last of the reads, which run one after the other. */
  #reading: Promise<unknown> = Promise.resolve();
  #queued: Promise<ServingWorker[]> | undefined;
  #change: { promise: Promise<void>; resolve: () => void } | undefined;
  #stopped = false;

  /** `readWorkers` reads all workers that may serve. */
  constructor(readWorkers: () => Promise<ServingWorker[]>) {
    this.#readWorkers = readWorkers;
  }

  /** Makes all waiting calls look again, after an acknowledgement. */
  noteChange(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }

  /**
   * Waits until every reachable worker that may serve has applied the revision, and returns the
   * acknowledgements so far, by node: a node has applied a revision when all its workers have. A worker that
   * applies nothing for `timeoutMs` is no longer waited for. Repeats failed reads, and rejects if they fail
   * for 20 s.
   */
  async wait(revision: number, timeoutMs: number): Promise<Acks> {
    const until = performance.now() + WAIT_MAX_MS;
    const progress = new Map<string, { revision: number; at: number }>();
    for (;;) {
      const change = this.#nextChange();
      const workers = await this.#read().catch((error: unknown) => {
        if (this.#stopped || performance.now() >= until) throw error;
        return undefined;
      });
      if (workers) {
        const pending = workers.filter(({ appliedRevision }) => appliedRevision < revision);
        const awaited = pending.filter((worker) => isMoving(progress, worker, timeoutMs));
        if (awaited.length === 0 || this.#stopped || performance.now() >= until)
          return acksOf(workers, pending);
      }
      await change;
    }
  }

  /** Ends all waits with the acknowledgements so far. */
  stop(): void {
    this.#stopped = true;
    this.noteChange();
  }

  /** Reads the workers. A call joins a read that has not begun yet, and never one that has. */
  #read(): Promise<ServingWorker[]> {
    this.#queued ??= this.#reading.then(() => {
      this.#queued = undefined;
      const workers = this.#readWorkers();
      this.#reading = workers.catch(() => undefined);
      return workers;
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

/** The nodes of which all workers have applied the revision are counted; the others are named. */
function acksOf(workers: readonly ServingWorker[], pending: readonly ServingWorker[]): Acks {
  const pendingNodes = new Set(pending.map(({ nodeId }) => nodeId));
  const nodes = new Set(workers.map(({ nodeId }) => nodeId));
  return { appliedNodes: nodes.size - pendingNodes.size, pendingNodes: [...pendingNodes] };
}

/** Whether a worker is reachable and has applied something within the timeout; remembers what it applied. */
function isMoving(
  progress: Map<string, { revision: number; at: number }>,
  { id, appliedRevision, isReachable }: ServingWorker,
  timeoutMs: number,
): boolean {
  const now = performance.now();
  const last = progress.get(id);
  if (!last || appliedRevision > last.revision) progress.set(id, { revision: appliedRevision, at: now });
  return isReachable && now < (progress.get(id)?.at ?? now) + timeoutMs;
}
