/**
 * What happens when the service wants to know again who sits here (REAUTH_REQUIRED): the mutation waits, the
 * proof is asked for, and the same mutation is sent once more. No page has to know of it.
 */
import { type CombinedError, type Exchange, type Operation, type OperationResult } from 'urql';
import { empty, fromPromise, fromValue, makeSubject, merge, mergeMap, pipe, share } from 'wonka';
import { createStore, type Store } from './components/store.ts';

/** A proof that is being asked for; to be settled once, with whether it was given. */
export interface AskedProof {
  settle: (given: boolean) => void;
}

export interface Proof {
  /** What the dialog shows; undefined while nothing is asked. */
  asked: Store<AskedProof | undefined>;
  exchange: Exchange;
}

/** The exchange and what it asks; it stands right before the one that fetches. */
export function createProof(): Proof {
  const asked = createStore<AskedProof | undefined>(undefined);
  let running: Promise<boolean> | undefined;
  // Mutations that are refused together wait for one proof.
  const ask = () => {
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
  return { asked, exchange: exchangeFor(ask) };
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
