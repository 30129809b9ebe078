/** The GraphQL query of the receipt, which loads with the receipt. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const ReceiptQuery = graphql(`
  query Receipt($requestId: String!) {
    requestReceipt(requestId: $requestId) {
      explanation
      amount
      settlement
      transactionId
      settledAt
      attemptsOmitted
      attempts {
        outcome
        errorCode
        ms
        httpStatus
        extraCost
        route {
          id
          upstreamModel
          provider {
            id
            name
          }
        }
      }
      entry {
        id
        requestId
        modelName
        key {
          id
          name
        }
        source
        ip
        ttftMs
        latencyMs
        family
        basePrice
        ratio
        group
        inputTokens
        cachedTokens
        outputTokens
        outcome
        httpStatus
        errorCode
        streamed
        createdAt
      }
    }
  }
`);

export type Receipt = NonNullable<ResultOf<typeof ReceiptQuery>['requestReceipt']>;
