/** Submits forms: one request at a time, and the text of its error. */
import { type FormEvent, useState } from 'react';
import type { CombinedError } from 'urql';
import type { Refusal } from './answer-fields.ts';
import { useFailureWords } from './failure-words.ts';
import { refusalText } from './refusal-text.ts';

/** Result of a mutation. */
export interface Outcome {
  error?: CombinedError | undefined;
  userErrors: readonly Refusal[] | undefined;
}

interface Submit {
  /** Sends the values. Returns undefined if the form itself already shows why it did not send. */
  send: (values: FormData) => Promise<Outcome | undefined>;
  onDone: (form: HTMLFormElement) => void;
}

/** The submit handler of a form. For INVALID, the failure is the service's own message. */
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
    const [first] = outcome?.userErrors ?? [];
    const words =
      first?.code === 'INVALID'
        ? await refusalText(first.message)
        : failureWords(outcome?.error, outcome?.userErrors);
    setBusy(false);
    if (!outcome) return;
    setFailure(words);
    if (words === undefined) onDone(form);
  };
  return { busy, failure, submit };
}
