/** Fields that many answers have in common: what was refused and why, and where a list goes on. */
import { graphql, type ResultOf } from '../graphql.ts';

/** Each value that the service refused; an empty list means that all is done. */
export const UserErrorFields = graphql(`
  fragment UserErrorFields on UserError {
    code
    message
    field
  }
`);

/** Whether a list goes on, and after which cursor. */
export const PageFields = graphql(`
  fragment PageFields on PageInfo {
    hasNextPage
    endCursor
  }
`);

/** One refused value. */
export type Refusal = ResultOf<typeof UserErrorFields>;
