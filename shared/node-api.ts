/**
 * What a node says to the control plane: the GraphQL documents, and the types of their variables and answers.
 */
import type { ConfigKind, ConfigRecord } from './records.ts';

export interface ConfigEntry { kind: ConfigKind; key: string; revision: number; payload: ConfigRecord }

/**
 * Events of the config subscription. A snapshot comes in `chunks` parts, numbered from 0; all carry the final
 * checksum.
 */
export type ConfigEvent =
  | {
    __typename: 'ConfigSnapshot'; revision: number; checksum: string;
    chunk: number; chunks: number; entries: ConfigEntry[];
  }
  | {
    __typename: 'ConfigDelta'; fromRevision: number; revision: number; checksum: string;
    upserts: ConfigEntry[]; removals: { kind: ConfigKind; key: string }[];
  }
  | { __typename: 'ConfigHeartbeat'; revision: number; at: string }
  | { __typename: 'LeaseRecall'; leaseId: string };

export const CONFIG_SUBSCRIPTION = /* GraphQL */ `
  subscription DataPlaneConfig($nodeId: ID!, $fromRevision: Int) {
    dataPlaneConfig(nodeId: $nodeId, fromRevision: $fromRevision) {
      __typename
      ... on ConfigSnapshot { revision checksum chunk chunks entries { kind key revision payload } }
      ... on ConfigDelta {
        fromRevision revision checksum upserts { kind key revision payload } removals { kind key }
      }
      ... on ConfigHeartbeat { revision at }
      ... on LeaseRecall { leaseId }
    }
  }
`;

/** Announces this process; must succeed before anything else. The node's id comes from its token. */
export const NODE_REGISTER = /* GraphQL */ `
  mutation NodeRegister($input: NodeRegisterInput!) {
    nodeRegister(input: $input) { node { id name } userErrors { code message field } }
  }
`;
export interface NodeRegisterInput { name: string; version: string; publicKey: string; journalId: string }

/** Acknowledges a revision as applied, or refuses it with `error`; the old one then serves on. */
export const NODE_CONFIG_ACK = /* GraphQL */ `
  mutation NodeConfigAck($input: NodeConfigAckInput!) {
    nodeConfigAck(input: $input) { ok userErrors { code message field } }
  }
`;
export interface NodeConfigAckInput { nodeId: string; revision: number; checksum: string; error?: string }

/**
 * Asks for credit of one wallet (of one key, where the key has a spend limit). The same requestNo gives the
 * same lease.
 */
export const NODE_LEASE_REQUEST = /* GraphQL */ `
  mutation NodeLeaseRequest($input: NodeLeaseRequestInput!) {
    nodeLeaseRequest(input: $input) { leaseId granted cash gift deadlineMs userErrors { code message field } }
  }
`;
/** Money is a dollar string on the GraphQL API (shared/money: formatDollars, parseDollars). */
export interface NodeLeaseRequestInput {
  nodeId: string; journalId: string; requestNo: number; walletId: string; keyId?: string;
  want: string; need: string;
}
export interface NodeLeaseAnswer {
  leaseId: string | null; granted: string; cash: string; gift: string;
  /**
   * How long after the request was sent the node may spend from the lease without hearing from the control
   * plane, in ms.
   */
  deadlineMs: number;
  /**
   * INSUFFICIENT_BALANCE | SPEND_LIMIT_REACHED | WALLET_FROZEN are authoritative; CONFLICT means: recalling,
   * ask again.
   */
  userErrors: { code: string; message: string }[];
}

/**
 * Closes a lease; accepted only when the control plane has settled exactly `count` charges of `sum` in it.
 */
export const NODE_LEASE_CLOSE = /* GraphQL */ `
  mutation NodeLeaseClose($input: NodeLeaseCloseInput!) {
    nodeLeaseClose(input: $input) { ok userErrors { code message field } }
  }
`;
export interface NodeLeaseCloseInput {
  nodeId: string; journalId: string; leaseId: string; count: number; sum: string;
}

/** Settles journal records and reports free requests. At-least-once; idempotent by request id. */
export const NODE_USAGE_REPORT = /* GraphQL */ `
  mutation NodeUsageReport($input: NodeUsageReportInput!) {
    nodeUsageReport(input: $input) { accepted duplicates rejected userErrors { code message field } }
  }
`;

/** Says that the node lives, and how it does. The node's leases are confirmed by it. */
export const NODE_HEARTBEAT = /* GraphQL */ `
  mutation NodeHeartbeat($input: NodeHeartbeatInput!) {
    nodeHeartbeat(input: $input) { node { id state latestRevision } userErrors { code message field } }
  }
`;
export interface NodeHeartbeatInput {
  nodeId: string; journalId: string; appliedRevision: number; rps: string;
  inflight: number; eventLoopP99Ms: number; usageBacklog: number;
}
