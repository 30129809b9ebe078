/** A price that the service holds for a while: asked for again whenever what it is for changes. */
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { useFailureWords } from '../failure-words.ts';
import { CreateQuote, type Quote } from './documents.ts';

/** What the price is for: models of a new pool, or another period of one. */
export type QuoteFor = { modelIds: string[] } | { renewPoolId: string };

const PAUSE_MS = 400;

interface Asked {
  key: string;
  quote: Quote | undefined;
  failure: string | undefined;
}

export interface HeldQuote {
  /** The newest quote; `current` says whether it is for what is wanted now. */
  quote: Quote | undefined;
  current: boolean;
  failure: string | undefined;
  /** Asks for a new one. */
  again: () => void;
}

/** The quote for what is wanted; nothing is asked while nothing is. */
export function useQuote(wanted: QuoteFor | undefined): HeldQuote {
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
      setAsked({ key, quote, failure: failureWords(error, data?.poolQuoteCreate.userErrors) });
    };
    // Somebody who picks several models asks for one price, not for several.
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
    // The words are looked up when the answer comes; they are no reason to ask again.
  }, [client, input, key]);
  const current = input !== undefined && asked?.key === key;
  return {
    quote: input === undefined ? undefined : asked?.quote,
    current: current && asked.quote !== undefined,
    failure: current ? asked.failure : undefined,
    again: () => {
      setRound((count) => count + 1);
    },
  };
}
