/** GraphQL operations of the settings of payments by card. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';

export const CardSettingsQuery = graphql(`
  query CardSettings {
    admin {
      systemHealth {
        paymentProvider
      }
      paymentSettings {
        version
        cardEnabled
        apiAddress
        apiKeySuffix
        managedPayments
        automaticTax
        stablecoins
        taxCode
        amountMin
        amountMax
        dailyMax
        presets
        playMoney
        lastError
        lastErrorAt
        lastSuccessAt
        reconciledAt
        webhookAddress
        webhookSecrets {
          id
          label
          suffix
          createdAt
        }
      }
    }
  }
`);

export const SetCardSettings = graphql(
  `
    mutation SetCardSettings($input: AdminPaymentSettingsInput!) {
      adminPaymentSettingsSet(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const AddWebhookSecret = graphql(
  `
    mutation AddWebhookSecret($input: AdminWebhookSecretInput!) {
      adminWebhookSecretAdd(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RemoveWebhookSecret = graphql(
  `
    mutation RemoveWebhookSecret($input: AdminReasonInput!) {
      adminWebhookSecretRemove(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

type Admin = NonNullable<ResultOf<typeof CardSettingsQuery>['admin']>;
export type CardHealth = Admin['systemHealth']['paymentProvider'];
export type CardSettings = Admin['paymentSettings'];
export type WebhookSecret = CardSettings['webhookSecrets'][number];

/** The dialog that is open. */
export type CardTask =
  | { kind: 'processor' | 'terms' | 'addSecret' }
  | { kind: 'removeSecret'; secret: WebhookSecret };
