/** Gets a quote, a price that the service holds for a while; gets a new one when the selection changes. */
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { useFailureWords } from '../failure-words.ts';
import { CreateQuote, type Quote } from './documents.ts';

/** Subject of a quote: the models of a new pool, or the renewal of a pool. */
export type QuoteFor = { modelIds: string[] } | { renewPoolId: string };

const PAUSE_MS = 400;
const SECOND_MS = 1_000;

interface Asked {
  key: string;
  quote: Quote | undefined;
  /** When the quote expires, in ms of the browser's clock, which need not be exact. */
  expiresAt: number;
  failure: string | undefined;
}

export interface QuoteState {
  /** The newest quote. `current` says whether it is for the current selection. */
  quote: Quote | undefined;
  current: boolean;
  /** When the quote expires, in ms of the browser's clock. */
  expiresAt: number;
  failure: string | undefined;
  /** Gets a new quote. */
  again: () => void;
}

/** The quote for the selection; undefined, without a request, while `wanted` is undefined. */
export function useQuote(wanted: QuoteFor | undefined): QuoteState {
  const client = useClient();
  const failureWords = useFailureWords();
  const [round, setRound] = useState(0);
  const [asked, setAsked] = useState<Asked>();
  const input = wanted === undefined ? undefined : JSON.stringify(wanted);
  const key = `${round} ${input}`;
  useEffect(() => {
    if (input === undefined) return;
    let left = false;
    const ask = async () => {
      const variables = { input: JSON.parse(input) };
      const { data, error } = await client.mutation(CreateQuote, variables).toPromise();
      if (left) return;
      const quote = data?.poolQuoteCreate.quote ?? undefined;
      const expiresAt = Date.now() + (quote?.validSeconds ?? 0) * SECOND_MS;
      setAsked({ key, quote, expiresAt, failure: failureWords(error, data?.poolQuoteCreate.userErrors) });
    };
    // A pause, so that picking several models requests one quote.
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
    // A change of the error texts must not request a new quote.
  }, [client, input, key]);
  const current = input !== undefined && asked?.key === key;
  return {
    quote: input === undefined ? undefined : asked?.quote,
    current: current && asked.quote !== undefined,
    expiresAt: asked?.expiresAt ?? 0,
    failure: current ? asked.failure : undefined,
    again: () => {
      setRound((count) => count + 1);
    },
  };
}
