/**
 * What a node says to the control plane: the GraphQL documents, and the types of their variables and answers.
 * How it reports usage stands in usage-report.ts.
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
  /** The process: its number among those that have had the journal, and a name of its own. */
  start: number;
  instanceId: string;
}

/** A process that is a node: a late word of one that is dead says nothing about the next. */
export interface NodeProcess {
  nodeId: string;
  instanceId: string;
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
export interface NodeConfigAckInput extends NodeProcess {
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
  /** The number where it is beyond 2^31 - 1; requestNo is 0 then. */
  requestNumber?: string;
  walletId: string;
  keyId?: string;
  want: string;
  need: string;
  /** What the requests that wait for it cost together: granted where it is there, of little money, too. */
  waiting: string;
}
export interface NodeLeaseAnswer {
  leaseId: string | null;
  granted: string;
  cash: string;
  gift: string;
  /** How long after the request was sent the node may spend without hearing from the control plane, in ms. */
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
export interface NodeRequestClaimInput extends NodeProcess {
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

/** Without a heartbeat for this long a node counts as offline, and its reports as old, in ms. */
export const OFFLINE_AFTER_MS = 20_000;

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
export interface NodeHeartbeatInput extends NodeProcess {
  journalId: string;
  /** Whether all charges are settled that stood in the journal when the process began. */
  formerSettled: boolean;
  /** Whether this is its last word: then another process may be the node at once. */
  leaving: boolean;
  appliedRevision: number;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
  /** Upstreams that were asked lately, or are left alone. */
  upstreams: UpstreamReport[];
  /** Credentials that were used lately. */
  credentials: CredentialReport[];
  /** Keys whose old secret was used lately, during the grace period of a rotation. */
  oldSecrets: OldSecretReport[];
}

/** Old secrets in one heartbeat, at most: those that were used last come first. */
export const OLD_SECRETS_MAX = 500;

/** When the old secret of a key was used last. Told as an age in ms: clocks of nodes are not compared. */
export interface OldSecretReport {
  keyId: string;
  usedMsAgo: number;
}
