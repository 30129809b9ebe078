/** Who is signed in, as the frame of every page needs to know. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const ViewerQuery = graphql(`
  query Viewer {
    viewer {
      id
      email
      role
      timeZone
      mustAcceptPolicy {
        id
        version
      }
      wallet {
        id
        available
        frozen
      }
    }
    baseAddress
  }
`);

export type Viewer = NonNullable<ResultOf<typeof ViewerQuery>['viewer']>;
