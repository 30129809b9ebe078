/**
 * The GraphQL documents that a node sends to the control plane, with the types of their variables and
 * answers. Leases are in lease-api.ts, usage reports in usage-report.ts, permits in permit-api.ts.
 */
import type { OldSecretReport } from './old-secrets.ts';
import type { ConfigKind, ConfigRecord } from './records.ts';
import type { UpstreamReports } from './upstream-health.ts';

/** One record of the configuration. */
export interface ConfigEntry {
  kind: ConfigKind;
  /** Id of the record among those of its kind. */
  key: string;
  /** Revision of the last change of this record. */
  revision: number;
  payload: ConfigRecord;
}

/**
 * Events of the configuration subscription. A snapshot is sent in `chunks` events, numbered from 0 by
 * `chunk`. `checksum` is that of the whole configuration after the event (checksum.ts), in each part of a
 * snapshot, too. `at` is an RFC 3339 timestamp.
 */
export type ConfigEvent =
  | {
      __typename: 'ConfigSnapshot';
      revision: number;
      checksum: string;
      chunk: number;
      chunks: number;
      entries: ConfigEntry[];
      /** The JSON of the entries instead of `entries`, compressed with gzip, in base64. */
      packed?: string | null;
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

/**
 * Subscribes to the configuration. The first event has the changes after `fromRevision`, or is a snapshot if
 * the control plane no longer has these changes.
 */
export const CONFIG_SUBSCRIPTION = /* GraphQL */ `
  subscription DataPlaneConfig($nodeId: ID!, $fromRevision: Int) {
    dataPlaneConfig(nodeId: $nodeId, fromRevision: $fromRevision, packed: true) {
      __typename
      ... on ConfigSnapshot {
        revision
        checksum
        chunk
        chunks
        packed
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

/**
 * Registers a process of the data plane as the node that its bearer token identifies. A process must register
 * before it sends anything else.
 */
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
  /** Name of the node, NODE_NAME. */
  name: string;
  /** Release of the node. */
  version: string;
  /** Public key with which the control plane encrypts secrets for this node, see `exportPublicKey`. */
  publicKey: string;
  /** Id that the journal got when its file was created. */
  journalId: string;
  /** Number of processes that have opened the journal, this one included. */
  start: number;
  /** Unique id of this process. */
  instanceId: string;
  /** Time without a confirmation after which the node serves no requests, MAX_CONFIG_AGE. */
  maxConfigAgeSeconds: number;
  /** False if the process only settles the journal of a worker that the node no longer has. */
  serves?: false;
}

/** Identifies the sending process, so that a late message of a dead process does not count for the next. */
export interface NodeProcess {
  nodeId: string;
  instanceId: string;
}

/**
 * Acknowledges that the node has applied a revision. With `error`, the node refused the revision and keeps
 * the previous one.
 */
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
export interface NodeConfigAckInput extends NodeProcess {
  revision: number;
  checksum: string;
  error?: string;
}

/** Reserves an Idempotency-Key for one request. A repeated reservation of the same request has no effect. */
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
export interface NodeRequestClaimInput extends NodeProcess {
  walletId: string;
  /** Path of the request. */
  route: string;
  /** SHA-256 of the Idempotency-Key, in hex. */
  keyDigest: string;
  /** SHA-256 of the request's body, in hex. The same key with another fingerprint is a mismatch. */
  fingerprint: string;
  requestId: string;
}
export interface NodeRequestClaimAnswer {
  state: 'CLAIMED' | 'IN_FLIGHT' | 'DONE' | 'MISMATCH' | null;
  /** The request that has reserved the key. */
  requestId: string | null;
  /** Cost of that request in dollars; null until it is known. */
  cost: string | null;
}

/** Releases the Idempotency-Key of a request that was not charged. */
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

/** Time without a heartbeat, in ms, after which a node counts as offline and its reports as outdated. */
export const OFFLINE_AFTER_MS = 20_000;

/** Reports that the node is alive, with its measurements. The answer extends the deadlines of its leases. */
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
export interface NodeHeartbeatInput extends NodeProcess, UpstreamReports {
  journalId: string;
  /** Whether every charge that the journal held when this process started is settled. */
  formerSettled: boolean;
  /** True in the last message of a process: another process may take over the node at once. */
  leaving: boolean;
  /** Revision of the configuration that the node serves with. */
  appliedRevision: number;
  /** Finished requests per second since the last heartbeat, with one decimal. */
  rps: string;
  /** Number of requests in progress. */
  inflight: number;
  /** 99th percentile of the event loop delay since the last heartbeat, in ms. */
  eventLoopP99Ms: number;
  /** Number of charges that are not settled yet. */
  usageBacklog: number;
  /** Keys whose old secret was used recently, in the grace period after a rotation. */
  oldSecrets: OldSecretReport[];
}
