/**
 * Whether the service answers the queries of the API client. The watcher loads after the page (`live.ts`),
 * and sees the queries from then on.
 */
import type { Exchange, Operation, OperationResult } from 'urql';
import { map, pipe, tap } from 'wonka';
import { createStore, type Store } from './components/store.ts';

/** `slow` if a query runs for longer than usual, `silent` if one got no answer. */
export type Reach = 'answering' | 'slow' | 'silent';

export interface Stores {
  state: Store<Reach>;
  /** Whether a query is running. */
  pending: Store<boolean>;
}

export interface Watcher {
  send(operation: Operation): void;
  /** Returns the result that pages get. */
  receive(result: OperationResult): OperationResult;
  /** Sends all queries without an answer again, at once. */
  retry(): void;
  /** Stops all timers. */
  close(): void;
}

export interface Reaching extends Stores {
  /** Place it outside of the cache. */
  exchange: Exchange;
  /** Undefined until it has loaded. */
  watcher: Watcher | undefined;
}

/** Creates the exchange and its stores. */
export function createReach(): Reaching {
  const reach: Reaching = {
    state: createStore<Reach>('answering'),
    pending: createStore(false),
    watcher: undefined,
    exchange:
      ({ forward }) =>
      (operations) =>
        pipe(
          operations,
          tap((operation) => reach.watcher?.send(operation)),
          forward,
          map((result) => reach.watcher?.receive(result) ?? result),
        ),
  };
  return reach;
}
