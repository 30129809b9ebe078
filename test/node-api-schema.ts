/** The part of the control plane's schema that the feed of a node uses. */
import { buildSchema } from 'graphql';

/** The schema. */
export const SCHEMA = buildSchema(/* GraphQL */ `
  scalar JSON
  enum ConfigKind {
    API_KEY
    MODEL
    PROVIDER
    CREDENTIAL
    ROUTE
    POOL
    ACCOUNT
    SETTINGS
  }
  type ConfigKey {
    kind: ConfigKind!
    key: String!
  }
  type ConfigEntry {
    kind: ConfigKind!
    key: String!
    revision: Int!
    payload: JSON!
  }
  type ConfigSnapshot {
    revision: Int!
    checksum: String!
    chunk: Int!
    chunks: Int!
    entries: [ConfigEntry!]!
    packed: String
  }
  type ConfigDelta {
    fromRevision: Int!
    revision: Int!
    checksum: String!
    upserts: [ConfigEntry!]!
    removals: [ConfigKey!]!
  }
  type ConfigHeartbeat {
    revision: Int!
    at: String!
  }
  type LeaseRecall {
    leaseId: ID!
  }
  union ConfigEvent = ConfigSnapshot | ConfigDelta | ConfigHeartbeat | LeaseRecall
  input NodeConfigAckInput {
    nodeId: ID!
    instanceId: ID!
    revision: Int!
    checksum: String!
    error: String
  }
  type UserError {
    code: String!
    message: String!
    field: [String!]
  }
  type AckPayload {
    ok: Boolean!
    userErrors: [UserError!]!
  }
  type Query {
    nothing: Boolean
  }
  type Mutation {
    nodeConfigAck(input: NodeConfigAckInput!): AckPayload!
  }
  type Subscription {
    dataPlaneConfig(nodeId: ID!, fromRevision: Int, packed: Boolean): ConfigEvent!
  }
`);
