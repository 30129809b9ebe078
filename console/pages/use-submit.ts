/** Sending a form once at a time, and what to say when the service refused it. */
import { type FormEvent, useState } from 'react';
import type { CombinedError } from 'urql';
import type { Refusal } from './answer-fields.ts';
import { useFailureWords } from './failure-words.ts';

/** What a mutation came back with. */
export interface Outcome {
  error?: CombinedError | undefined;
  userErrors: readonly Refusal[] | undefined;
}

interface Submit {
  /** Sends the values of the form; undefined stops without a word, when the form said why itself. */
  send: (values: FormData) => Promise<Outcome | undefined>;
  onDone: (form: HTMLFormElement) => void;
}

/** The handler of a form; a refused value is told in the service's own sentence. */
export function useSubmit({ send, onDone }: Submit) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    setBusy(true);
    const outcome = await send(new FormData(form));
    setBusy(false);
    if (!outcome) return;
    const [first] = outcome.userErrors ?? [];
    const words = first?.code === 'INVALID' ? first.message : failureWords(outcome.error, outcome.userErrors);
    setFailure(words);
    if (words === undefined) onDone(form);
  };
  return { busy, failure, submit };
}
