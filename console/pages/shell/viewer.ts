/** The query of the signed-in user, for the frame of every page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { VIEWER_TEXT } from './first.ts';
import { useFrameQuery } from './frame-query.ts';

export const ViewerQuery = graphql(VIEWER_TEXT);

export type Viewer = NonNullable<ResultOf<typeof ViewerQuery>['viewer']>;

/** The signed-in user, as `useFrameQuery` answers. */
export const useViewer = () => useFrameQuery(ViewerQuery);
