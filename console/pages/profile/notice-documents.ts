/** GraphQL operations of the notifications page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { UserErrorFields } from '../answer-fields.ts';

export const NoticesQuery = graphql(`
  query Notices {
    viewer {
      id
      email
      wallet {
        id
        lowBalanceThreshold
        budget {
          monthly
          spentThisMonth
        }
      }
      notificationPreferences {
        poolExpiry
        paymentReceipts
        storefrontOpening
      }
    }
  }
`);

export const SetThreshold = graphql(
  `
    mutation SetThreshold($input: WalletSettingsInput!) {
      walletSettingsUpdate(input: $input) {
        wallet {
          id
          lowBalanceThreshold
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const SetBudget = graphql(
  `
    mutation SetBudget($input: WalletBudgetInput!) {
      walletBudgetSet(input: $input) {
        wallet {
          id
          budget {
            monthly
            spentThisMonth
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Notices = NonNullable<ResultOf<typeof NoticesQuery>['viewer']>;
