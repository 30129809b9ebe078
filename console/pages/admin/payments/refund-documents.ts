/** GraphQL mutation of refunds. Loaded with the dialog that uses it. */
import { graphql } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const RefundTopUp = graphql(
  `
    mutation RefundTopUp($input: AdminTopUpRefundInput!) {
      adminTopUpRefund(input: $input) {
        topUp {
          id
          state
          refunded
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);
