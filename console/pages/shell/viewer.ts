/** The query of the signed-in user, for the frame of every page. */
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { graphql, type ResultOf } from '../../graphql.ts';
import { VIEWER_TEXT } from './first.ts';

export const ViewerQuery = graphql(VIEWER_TEXT);

type Answer = ResultOf<typeof ViewerQuery>;

export type Viewer = NonNullable<Answer['viewer']>;

/**
 * The latest answer about the signed-in user, the error of the query that came after it, and a function that
 * repeats the query. A query that fails does not take the earlier answer away: the page stays as it is.
 */
export function useViewer() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query: ViewerQuery });
  const [kept, setKept] = useState<{ client: typeof client; data: Answer | undefined }>({ client, data });
  if (data && (data !== kept.data || client !== kept.client)) setKept({ client, data });
  // Another client is that of another account.
  const known = data ?? (kept.client === client ? kept.data : undefined);
  return { data: known, error, again };
}
