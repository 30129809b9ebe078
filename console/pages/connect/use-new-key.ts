/** Creates a key and reveals its secret at once. */
import { useState } from 'react';
import { useClient } from 'urql';
import { useFailureWords } from '../failure-words.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { CreateKey, RevealKey } from '../keys/changes.ts';
import type { Key } from '../keys/documents.ts';
import type { GROUPS } from '../keys/search.ts';

/** A key with its secret, which exists only on this page. */
export interface NewKey {
  key: Key;
  secret: string;
}

interface Wanted {
  name: string;
  group: (typeof GROUPS)[number];
}

// Not useMutation: its state would keep the secret as long as the page exists.
/** Returns a function that does it, whether it runs, and why it failed. A retry creates no second key. */
export function useNewKey(onMade: (made: NewKey) => void) {
  const client = useClient();
  const failureWords = useFailureWords();
  const idempotencyKeyFor = useIdempotencyKey();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const make = async (wanted: Wanted) => {
    setBusy(true);
    const input = { ...wanted, idempotencyKey: idempotencyKeyFor(wanted) };
    const created = await client.mutation(CreateKey, { input }).toPromise();
    const key = created.data?.apiKeyCreate.apiKey;
    const revealed = key && (await client.mutation(RevealKey, { input: { id: key.id } }).toPromise());
    const secret = revealed?.data?.apiKeyReveal.secret ?? undefined;
    setBusy(false);
    setFailure(
      revealed
        ? failureWords(revealed.error, revealed.data?.apiKeyReveal.userErrors)
        : failureWords(created.error, created.data?.apiKeyCreate.userErrors),
    );
    if (key && secret !== undefined) onMade({ key, secret });
  };
  return { busy, failure, make };
}
