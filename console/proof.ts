/**
 * Handles REAUTH_REQUIRED: asks the user to prove their identity, and sends the refused mutation again. The
 * page receives the second answer, or the refusal if the user gives no proof.
 */
import { type CombinedError, type Exchange, type Operation, type OperationResult } from 'urql';
import { empty, fromPromise, fromValue, makeSubject, merge, mergeMap, pipe, share } from 'wonka';
import { createStore, type Store } from './components/store.ts';

/** A pending proof of identity. Call `settle` once, with whether the user gave the proof. */
export interface AskedProof {
  settle: (given: boolean) => void;
}

export interface Proof {
  /** The pending proof; undefined if there is none. */
  asked: Store<AskedProof | undefined>;
  /**
   * Call this when a dialog can show the pending proof, and the returned function when it no longer can.
   * Without a dialog, refused mutations fail at once, and a pending proof counts as not given.
   */
  attach: () => () => void;
  exchange: Exchange;
}

/** Creates the urql exchange and its pending proof. Place the exchange directly before `fetchExchange`. */
export function createProof(): Proof {
  const asked = createStore<AskedProof | undefined>(undefined);
  let dialogs = 0;
  let running: Promise<boolean> | undefined;
  // Mutations that are refused at the same time wait for the same proof.
  const ask = () => {
    if (dialogs === 0) return Promise.resolve(false);
    running ??= new Promise<boolean>((resolve) => {
      asked.set({
        settle: (given) => {
          running = undefined;
          asked.set(undefined);
          resolve(given);
        },
      });
    });
    return running;
  };
  const attach = () => {
    dialogs += 1;
    return () => {
      dialogs -= 1;
      // When one frame replaces another, the dialog of the new frame attaches within the same task.
      queueMicrotask(() => {
        if (dialogs === 0) asked.get()?.settle(false);
      });
    };
  };
  return { asked, attach, exchange: exchangeFor(ask) };
}

function exchangeFor(ask: () => Promise<boolean>): Exchange {
  return ({ forward }) =>
    (operations) => {
      const again = makeSubject<Operation>();
      const afterProof = (result: OperationResult) => (given: boolean) => {
        if (!given) return fromValue(result);
        again.next(result.operation);
        return empty as ReturnType<typeof fromValue<OperationResult>>;
      };
      return pipe(
        merge([operations, again.source]),
        forward,
        mergeMap((result) =>
          isRefused(result.error)
            ? pipe(fromPromise(ask()), mergeMap(afterProof(result)))
            : fromValue(result),
        ),
        share,
      );
    };
}

function isRefused(error: CombinedError | undefined): boolean {
  return error?.graphQLErrors.some(({ extensions }) => extensions['code'] === 'REAUTH_REQUIRED') ?? false;
}
