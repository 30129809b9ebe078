/** GraphQL mutations of keys. Loaded with the dialogs that use them. */
import { graphql } from '../../graphql.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { KeyFields } from './documents.ts';

/** Result of creating and of rotating a key. */
const CreatedFields = graphql(
  `
    fragment CreatedFields on ApiKeyCreatePayload {
      apiKey {
        ...KeyFields
      }
      userErrors {
        ...UserErrorFields
      }
    }
  `,
  [KeyFields, UserErrorFields],
);

/** A node that may serve and has not applied a change. */
export const PendingNodeFields = graphql(`
  fragment PendingNodeFields on DataPlaneNode {
    id
    name
    lastSeenAt
  }
`);

/** Result of disabling a key and of ending a grace period, with the nodes that have applied it. */
const DisabledFields = graphql(
  `
    fragment DisabledFields on ApiKeyDisablePayload {
      apiKey {
        ...KeyFields
      }
      appliedNodes
      pendingNodes {
        ...PendingNodeFields
      }
      userErrors {
        ...UserErrorFields
      }
    }
  `,
  [KeyFields, PendingNodeFields, UserErrorFields],
);

export const CreateKey = graphql(
  `
    mutation CreateKey($input: ApiKeyCreateInput!) {
      apiKeyCreate(input: $input) {
        ...CreatedFields
      }
    }
  `,
  [CreatedFields],
);

export const RevealKey = graphql(
  `
    mutation RevealKey($input: IdInput!) {
      apiKeyReveal(input: $input) {
        apiKey {
          ...KeyFields
        }
        secret
        appliedNodes
        pendingNodes {
          ...PendingNodeFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [KeyFields, PendingNodeFields, UserErrorFields],
);

export const DisableKey = graphql(
  `
    mutation DisableKey($input: ApiKeyDisableInput!) {
      apiKeyDisable(input: $input) {
        ...DisabledFields
      }
    }
  `,
  [DisabledFields],
);

export const EndGrace = graphql(
  `
    mutation EndGrace($input: IdInput!) {
      apiKeyGraceEnd(input: $input) {
        ...DisabledFields
      }
    }
  `,
  [DisabledFields],
);

export const EnableKey = graphql(
  `
    mutation EnableKey($input: IdInput!) {
      apiKeyEnable(input: $input) {
        apiKey {
          ...KeyFields
        }
        appliedNodes
        pendingNodes {
          ...PendingNodeFields
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [KeyFields, PendingNodeFields, UserErrorFields],
);

export const RotateKey = graphql(
  `
    mutation RotateKey($input: ApiKeyRotateInput!) {
      apiKeyRotate(input: $input) {
        ...CreatedFields
      }
    }
  `,
  [CreatedFields],
);

/** The answer has all fields that can change, so that pages show their new values. */
export const UpdateKey = graphql(
  `
    mutation UpdateKey($input: ApiKeyUpdateInput!) {
      apiKeyUpdate(input: $input) {
        apiKey {
          ...KeyFields
          allowedIps
          allowedModels {
            id
            name
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [KeyFields, UserErrorFields],
);
