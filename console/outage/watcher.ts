/**
 * Watches the queries of the API client: whether one is running, and whether the service answers. A query
 * that gets no answer keeps its last data and is sent again until the service answers.
 */
import { type Client, makeOperation, type Operation, type OperationResult } from 'urql';
import type { Stores, Watcher } from '../reach.ts';

/** Pauses in ms. */
export interface Pauses {
  slow: number;
  /** The pause before the first repetition; each later one is twice as long, up to `retryMost`. */
  retryFirst: number;
  retryMost: number;
}

const PAUSES: Pauses = { slow: 4_000, retryFirst: 1_000, retryMost: 8_000 };

interface Watched {
  operation: Operation;
  /** The data of the last answer; undefined if there was none. */
  data: OperationResult['data'];
  pending: boolean;
  /** Whether the query is behind a button, as a check of the ledger, and may take long. */
  patient: boolean;
  /** Whether the last attempt got no answer. */
  failed: boolean;
}

/** Starts to watch the queries of a client. */
export function startWatcher({ state, pending }: Stores, client: Client, pauses: Pauses = PAUSES): Watcher {
  const queries = new Queries();
  const slow = new Timer();
  const again = new Timer();
  let attempts = 0;
  const update = (isSlow = false): void => {
    pending.set(queries.some((query) => query.pending));
    if (!queries.some(isUsual)) slow.stop();
    else slow.start(pauses.slow, () => update(true));
    const isLate = pending.get() && (isSlow || state.get() === 'slow');
    if (queries.some(({ failed }) => failed)) state.set('silent');
    else state.set(isLate ? 'slow' : 'answering');
    if (state.get() !== 'silent') attempts = 0;
    else again.start(Math.min(pauses.retryFirst * 2 ** attempts, pauses.retryMost), retry);
  };
  const retry = (): void => {
    again.stop();
    attempts += 1;
    for (const { operation } of queries.failed()) client.reexecuteOperation(afresh(operation));
    update();
  };
  return {
    send: (operation) => {
      queries.send(operation);
      update();
    },
    receive: (result) => {
      const kept = queries.receive(result);
      update();
      return kept;
    },
    retry,
    close: () => [slow, again].forEach((timer) => timer.stop()),
  };
}

function isUsual({ pending, patient }: Watched): boolean {
  return pending && !patient;
}

function afresh(operation: Operation): Operation {
  return makeOperation('query', operation, { ...operation.context, requestPolicy: 'network-only' });
}

/** The queries that pages use now. */
class Queries {
  readonly #watched = new Map<number, Watched>();

  some(holds: (query: Watched) => boolean): boolean {
    return [...this.#watched.values()].some(holds);
  }

  /** The queries without an answer that are not running. */
  failed(): Watched[] {
    return [...this.#watched.values()].filter(({ failed, pending }) => failed && !pending);
  }

  send(operation: Operation): void {
    const { kind, key } = operation;
    if (kind === 'teardown') this.#watched.delete(key);
    if (kind !== 'query') return;
    // The cache sends a query again as network-only, so only the first policy counts.
    const isForced = operation.context.requestPolicy === 'network-only';
    const { data, failed = false, patient = isForced } = this.#watched.get(key) ?? {};
    this.#watched.set(key, { operation, data, failed, patient, pending: true });
  }

  /** Returns the result; without an answer, it has the data of the last answer. */
  receive(result: OperationResult): OperationResult {
    const query = this.#watched.get(result.operation.key);
    if (!query || result.operation.kind !== 'query') return result;
    // The cache answers at once and marks its answer as stale while the service is asked.
    query.pending = result.stale;
    if (!result.stale) query.failed = result.error?.networkError !== undefined;
    query.data = result.data ?? query.data;
    return query.failed ? { ...result, data: query.data } : result;
  }
}

/** A timer that runs at most once at a time. */
class Timer {
  #running: ReturnType<typeof setTimeout> | undefined;

  /** Starts the timer unless it is running. */
  start(ms: number, act: () => void): void {
    this.#running ??= setTimeout(() => {
      this.#running = undefined;
      act();
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#running);
    this.#running = undefined;
  }
}
