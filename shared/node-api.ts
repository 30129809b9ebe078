/**
 * The GraphQL documents that a node sends to the control plane, with the types of their variables and
 * answers. Usage reports are in usage-report.ts, permits in permit-api.ts.
 */
import type { ConfigKind, ConfigRecord } from './records.ts';
import type { CredentialReport, UpstreamReport } from './upstream-health.ts';

export interface ConfigEntry {
  kind: ConfigKind;
  key: string;
  revision: number;
  payload: ConfigRecord;
}

/**
 * Events of the configuration subscription. A snapshot comes in `chunks` parts, numbered from 0; each part
 * carries the checksum of the whole snapshot.
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

/** Subscribes to the configuration. Sends the changes after `fromRevision`, or a snapshot. */
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

/** Registers this process as the node of its bearer token. A process registers before any other call. */
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
  /** How many processes have opened the journal, with this one. */
  start: number;
  /** Unique id of this process. */
  instanceId: string;
  maxConfigAgeSeconds: number;
}

/** Identifies the sending process, so that a late message of a dead process does not count for the next. */
export interface NodeProcess {
  nodeId: string;
  instanceId: string;
}

/** Acknowledges a revision as applied. With `error` it was refused and the previous one stays in use. */
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

/** Asks for a lease on a wallet, or on a key with a spend limit. Repeating `requestNo` is idempotent. */
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
/** Amounts of money are dollar strings, see formatDollars and parseDollars of money.ts. */
export interface NodeLeaseRequestInput {
  nodeId: string;
  journalId: string;
  requestNo: number;
  /** The request number as text, if it is larger than a GraphQL Int; `requestNo` is 0 then. */
  requestNumber?: string;
  walletId: string;
  keyId?: string;
  /** The preferred amount. */
  want: string;
  /** The least useful amount: the price of one request. */
  need: string;
  /** Total price of the requests that wait for the lease: granted also from a small balance, up to `want`. */
  waiting: string;
}
export interface NodeLeaseAnswer {
  leaseId: string | null;
  granted: string;
  cash: string;
  gift: string;
  /** Time after the sending of the request for which the node may spend without contact, in ms. */
  deadlineMs: number;
  /**
   * INSUFFICIENT_BALANCE, SPEND_LIMIT_REACHED and WALLET_FROZEN are final. CONFLICT: leases of other nodes
   * are being recalled; ask again.
   */
  userErrors: { code: string; message: string }[];
}

/** Closes a lease. Refused until exactly `count` charges of the lease are settled and their sum is `sum`. */
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

/** Claims an Idempotency-Key for one request. Repeating the claim of the same request has no effect. */
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
  /** SHA-256 of the request, in hex: the same key with another fingerprint is a mismatch. */
  fingerprint: string;
  requestId: string;
}
export interface NodeRequestClaimAnswer {
  state: 'CLAIMED' | 'IN_FLIGHT' | 'DONE' | 'MISMATCH' | null;
  /** The request that holds the key, and its cost in dollars once known. */
  requestId: string | null;
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

/** Reports that the node is alive, with its measurements. Also confirms the node's leases. */
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
export interface NodeHeartbeatInput extends NodeProcess {
  journalId: string;
  /** Whether every charge that the journal held when this process started is settled. */
  formerSettled: boolean;
  /** True in the last message of a process: another process may take over the node at once. */
  leaving: boolean;
  appliedRevision: number;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
  /** Upstreams that were asked recently or whose circuit is open. */
  upstreams: UpstreamReport[];
  /** Credentials that were used recently. */
  credentials: CredentialReport[];
  /** Keys whose old secret was used recently, in the grace period after a rotation. */
  oldSecrets: OldSecretReport[];
}

/** Maximum number of old secrets in one heartbeat; the most recently used come first. */
export const OLD_SECRETS_MAX = 500;

/** When the old secret of a key was last used. An age in ms, because the clocks of nodes may differ. */
export interface OldSecretReport {
  keyId: string;
  usedMsAgo: number;
}
