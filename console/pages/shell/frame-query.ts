/** The first query of a frame, which says who is signed in. */
import { useState } from 'react';
import { type AnyVariables, type Client, type DocumentInput, useClient, useQuery } from 'urql';

/**
 * The latest answer to the query of a frame, the error of the query that came after it, and a function that
 * repeats the query. A query that fails does not take the earlier answer away: the page stays as it is.
 */
export function useFrameQuery<Answer>(query: DocumentInput<Answer, AnyVariables>) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query, variables: {} });
  const [kept, setKept] = useState<[Client, Answer]>();
  // React renders again at once, with the new state.
  if (data && data !== kept?.[1]) setKept([client, data]);
  // Another client is that of another account. Until its first answer, `useQuery` has the earlier one's data.
  return { data: kept?.[0] === client ? kept[1] : undefined, error, again };
}
