/** The query of the signed-in user, for the frame of every page. */
import { useState } from 'react';
import { type Client, useClient, useQuery } from 'urql';
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
  const [kept, setKept] = useState<[Client, Answer]>();
  // If a part of the viewer fails, the viewer is null. Without an error, nobody is signed in.
  const isAnswer = data && (data.viewer || !error);
  // React renders again at once, with the new state.
  if (isAnswer && data !== kept?.[1]) setKept([client, data]);
  // Another client is that of another account, and has the data of the earlier one until its first answer.
  return { data: kept?.[0] === client ? kept[1] : undefined, error, again };
}
