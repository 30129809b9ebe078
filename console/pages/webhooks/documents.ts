/** GraphQL operations of the webhooks page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields, UserErrorFields } from '../answer-fields.ts';

const EndpointFields = graphql(`
  fragment EndpointFields on WebhookEndpoint {
    id
    url
    description
    events
    state
    version
    failingSince
    previousSecretUntil
  }
`);

const DeliveryFields = graphql(`
  fragment DeliveryFields on WebhookDelivery {
    id
    eventId
    type
    payload
    state
    attempts
    createdAt
    nextAttemptAt
    lastAttemptAt
    responseStatus
    error
  }
`);

export const WebhooksQuery = graphql(
  `
    query Webhooks {
      viewer {
        id
        email
        role
      }
      webhookEndpoints {
        ...EndpointFields
      }
    }
  `,
  [EndpointFields],
);

export const DeliveriesQuery = graphql(
  `
    query WebhookDeliveries($first: Int!, $after: String, $before: String) {
      webhookEndpoints {
        id
        deliveries(first: $first, after: $after, before: $before) {
          nodes {
            ...DeliveryFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [DeliveryFields, PageFields],
);

export const CreateWebhook = graphql(
  `
    mutation CreateWebhook($input: WebhookEndpointCreateInput!) {
      webhookEndpointCreate(input: $input) {
        endpoint {
          ...EndpointFields
        }
        secret
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [EndpointFields, UserErrorFields],
);

export const UpdateWebhook = graphql(
  `
    mutation UpdateWebhook($input: WebhookEndpointUpdateInput!) {
      webhookEndpointUpdate(input: $input) {
        endpoint {
          ...EndpointFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [EndpointFields, UserErrorFields],
);

export const DeleteWebhook = graphql(
  `
    mutation DeleteWebhook($input: IdInput!) {
      webhookEndpointDelete(input: $input) {
        ok
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RotateWebhookSecret = graphql(
  `
    mutation RotateWebhookSecret($input: IdInput!) {
      webhookSecretRotate(input: $input) {
        endpoint {
          ...EndpointFields
        }
        secret
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [EndpointFields, UserErrorFields],
);

export const TestWebhook = graphql(
  `
    mutation TestWebhook($input: IdInput!) {
      webhookEndpointTest(input: $input) {
        delivery {
          id
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ReplayDelivery = graphql(
  `
    mutation ReplayDelivery($input: IdInput!) {
      webhookDeliveryReplay(input: $input) {
        delivery {
          ...DeliveryFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [DeliveryFields, UserErrorFields],
);

export type Endpoint = ResultOf<typeof EndpointFields>;
export type Delivery = ResultOf<typeof DeliveryFields>;
type EventName = Endpoint['events'][number];

/** Events that every user can choose. */
export const USER_EVENTS = [
  'WALLET_LOW_BALANCE',
  'TOP_UP_CREDITED',
  'KEY_DISABLED',
  'POOL_ENDING',
] as const satisfies readonly EventName[];
/** Additional events that administrators can choose. */
export const ADMIN_EVENTS = ['UPSTREAM_DOWN', 'UPSTREAM_RECOVERED'] as const satisfies readonly EventName[];
