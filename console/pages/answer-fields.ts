/** GraphQL fragments that many documents share: user errors, and the page of a list. */
import { graphql, type ResultOf } from '../graphql.ts';
import { PAGE_FIELDS_TEXT } from './shell/first.ts';

/** Errors of a mutation; an empty list means success. */
export const UserErrorFields = graphql(`
  fragment UserErrorFields on UserError {
    code
    message
    field
  }
`);

/** Whether there are pages before and after a page of a list, and its cursors. */
export const PageFields = graphql(PAGE_FIELDS_TEXT);

/** One error of a mutation. */
export type Refusal = ResultOf<typeof UserErrorFields>;
