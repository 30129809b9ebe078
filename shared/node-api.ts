/**
 * What a node says to the control plane: the GraphQL documents, and the types of their variables and answers.
 */
import type { Family, Group } from './catalog.ts';
import type {
  ConfigKind,
  ConfigRecord,
  UsageOutcome,
  UsageRecord,
  UsageSource,
  UsageStatus,
} from './records.ts';
import { formatDollars } from './money.ts';

export interface ConfigEntry {
  kind: ConfigKind;
  key: string;
  revision: number;
  payload: ConfigRecord;
}

/**
 * Events of the config subscription. A snapshot comes in `chunks` parts, numbered from 0; all carry the final
 * checksum.
 */
export type ConfigEvent =
  | {
      __typename: 'ConfigSnapshot';
      revision: number;
      checksum: string;
      chunk: number;
      chunks: number;
      entries: ConfigEntry[];
    }
  | {
      __typename: 'ConfigDelta';
      fromRevision: number;
      revision: number;
      checksum: string;
      upserts: ConfigEntry[];
      removals: { kind: ConfigKind; key: string }[];
    }
  | { __typename: 'ConfigHeartbeat'; revision: number; at: string }
  | { __typename: 'LeaseRecall'; leaseId: string };

export const CONFIG_SUBSCRIPTION = /* GraphQL */ `
  subscription DataPlaneConfig($nodeId: ID!, $fromRevision: Int) {
    dataPlaneConfig(nodeId: $nodeId, fromRevision: $fromRevision) {
      __typename
      ... on ConfigSnapshot {
        revision
        checksum
        chunk
        chunks
        entries {
          kind
          key
          revision
          payload
        }
      }
      ... on ConfigDelta {
        fromRevision
        revision
        checksum
        upserts {
          kind
          key
          revision
          payload
        }
        removals {
          kind
          key
        }
      }
      ... on ConfigHeartbeat {
        revision
        at
      }
      ... on LeaseRecall {
        leaseId
      }
    }
  }
`;

/** Announces this process; must succeed before anything else. The node's id comes from its token. */
export const NODE_REGISTER = /* GraphQL */ `
  mutation NodeRegister($input: NodeRegisterInput!) {
    nodeRegister(input: $input) {
      node {
        id
        name
      }
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeRegisterInput {
  name: string;
  version: string;
  publicKey: string;
  journalId: string;
}

/** Acknowledges a revision as applied, or refuses it with `error`; the old one then serves on. */
export const NODE_CONFIG_ACK = /* GraphQL */ `
  mutation NodeConfigAck($input: NodeConfigAckInput!) {
    nodeConfigAck(input: $input) {
      ok
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeConfigAckInput {
  nodeId: string;
  revision: number;
  checksum: string;
  error?: string;
}

/**
 * Asks for credit of one wallet (of one key, where the key has a spend limit). The same requestNo gives the
 * same lease.
 */
export const NODE_LEASE_REQUEST = /* GraphQL */ `
  mutation NodeLeaseRequest($input: NodeLeaseRequestInput!) {
    nodeLeaseRequest(input: $input) {
      leaseId
      granted
      cash
      gift
      deadlineMs
      userErrors {
        code
        message
        field
      }
    }
  }
`;
/** Money is a dollar string on the GraphQL API (shared/money: formatDollars, parseDollars). */
export interface NodeLeaseRequestInput {
  nodeId: string;
  journalId: string;
  requestNo: number;
  walletId: string;
  keyId?: string;
  want: string;
  need: string;
  /**
   * What the requests that wait for it cost together: so much is granted where it is there, even of a small
   * balance.
   */
  waiting: string;
}
export interface NodeLeaseAnswer {
  leaseId: string | null;
  granted: string;
  cash: string;
  gift: string;
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
    nodeLeaseClose(input: $input) {
      ok
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeLeaseCloseInput {
  nodeId: string;
  journalId: string;
  leaseId: string;
  count: number;
  sum: string;
}

/** Settles journal records and reports free requests. At-least-once; idempotent by request id. */
export const NODE_USAGE_REPORT = /* GraphQL */ `
  mutation NodeUsageReport($input: NodeUsageReportInput!) {
    nodeUsageReport(input: $input) {
      accepted
      duplicates
      rejected
      userErrors {
        code
        message
        field
      }
    }
  }
`;

/** The most records one report may carry. */
export const USAGE_BATCH_MAX = 500;

export interface NodeUsageReportInput {
  nodeId: string;
  batchId: string;
  records: NodeUsageRecordInput[];
}
export interface NodeUsageReportAnswer {
  accepted: number;
  duplicates: number;
  /**
   * Request ids that can never be settled (foreign lease or journal, replay under another place): drop them.
   */
  rejected: string[];
  userErrors: { code: string; message: string }[];
}

/**
 * One finished request as the GraphQL API takes it: money in dollars, enum values in capitals, time in RFC
 * 3339.
 */
export interface NodeUsageRecordInput {
  requestId: string;
  journalId: string | null;
  seq: string | null;
  leaseId: string | null;
  at: string;
  keyId: string;
  walletId: string;
  poolId: string | null;
  group: Uppercase<Group>;
  source: UsageSource;
  modelName: string;
  family: Uppercase<Family>;
  routeId: string | null;
  basePrice: string;
  ratio: string;
  cost: string;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  status: UsageStatus;
  outcome: UsageOutcome;
  httpStatus: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  ttftMs: number | null;
  ip: string | null;
  lossesInAnswer: number;
}

/**
 * Where a charge stands: its journal, its number among that journal's charges (from 1, without gaps), its
 * lease.
 */
export interface ChargePlace {
  journalId: string;
  seq: number;
  leaseId: string;
}

/** The record as `nodeUsageReport` takes it; `place` is null exactly for requests that cost nothing. */
export function usageInput(usage: UsageRecord, place: ChargePlace | null): NodeUsageRecordInput {
  return {
    requestId: usage.requestId,
    journalId: place?.journalId ?? null,
    seq: place ? String(place.seq) : null,
    leaseId: place?.leaseId ?? null,
    at: new Date(usage.at).toISOString(),
    keyId: usage.keyId,
    walletId: usage.walletId,
    poolId: usage.poolId,
    group: capitals(usage.group),
    source: usage.source,
    modelName: usage.model,
    family: capitals(usage.family),
    routeId: usage.routeId,
    basePrice: formatDollars(BigInt(usage.basePrice)),
    ratio: usage.ratio,
    cost: formatDollars(BigInt(usage.cost)),
    inputTokens: usage.tokens.input,
    outputTokens: usage.tokens.output,
    cachedTokens: usage.tokens.cached,
    reasoningTokens: usage.tokens.reasoning,
    status: usage.status,
    outcome: usage.outcome,
    httpStatus: usage.httpStatus,
    errorCode: usage.errorCode,
    streamed: usage.streamed,
    latencyMs: usage.latencyMs,
    ttftMs: usage.firstContentMs,
    ip: usage.ip,
    lossesInAnswer: usage.lossesInAnswer,
  };
}

function capitals<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}

/** Claims an Idempotency-Key for one request; harmless when it is asked again for the same request. */
export const NODE_REQUEST_CLAIM = /* GraphQL */ `
  mutation NodeRequestClaim($input: NodeRequestClaimInput!) {
    nodeRequestClaim(input: $input) {
      state
      requestId
      cost
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeRequestClaimInput {
  nodeId: string;
  walletId: string;
  /** The path of the request; the digests are SHA-256 in hex. */
  route: string;
  keyDigest: string;
  fingerprint: string;
  requestId: string;
}
export interface NodeRequestClaimAnswer {
  state: 'CLAIMED' | 'IN_FLIGHT' | 'DONE' | 'MISMATCH' | null;
  /** The request that has the key, and what it cost, in dollars. */
  requestId: string | null;
  cost: string | null;
}

/** Frees the key of a request that cost nothing. */
export const NODE_REQUEST_RELEASE = /* GraphQL */ `
  mutation NodeRequestRelease($input: NodeRequestReleaseInput!) {
    nodeRequestRelease(input: $input) {
      ok
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeRequestReleaseInput {
  nodeId: string;
  requestId: string;
}

/** Says that the node lives, and how it does. The node's leases are confirmed by it. */
export const NODE_HEARTBEAT = /* GraphQL */ `
  mutation NodeHeartbeat($input: NodeHeartbeatInput!) {
    nodeHeartbeat(input: $input) {
      node {
        id
        state
        latestRevision
      }
      userErrors {
        code
        message
        field
      }
    }
  }
`;
export interface NodeHeartbeatInput {
  nodeId: string;
  journalId: string;
  appliedRevision: number;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
}
