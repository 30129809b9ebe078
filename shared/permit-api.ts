/** What a node says to the control plane about permits of pools: documents, variables, answers. */

/** Asks for permits of one pool, and accounts for those that it had. */
export const NODE_PERMIT_REQUEST = /* GraphQL */ `
  mutation NodePermitRequest($input: NodePermitRequestInput!) {
    nodePermitRequest(input: $input) {
      grantId
      granted
      ttlMs
      resetMs
      remaining
      userErrors {
        code
        message
        field
      }
    }
  }
`;

/** What became of a grant; what was not used never will be. */
export interface NodePermitUse {
  grantId: string;
  used: number;
  /** How long ago the last one was used, at least, in ms. */
  agoMs: number;
}

export interface NodePermitRequestInput {
  nodeId: string;
  poolId: string;
  want: number;
  finished: NodePermitUse[];
}

export interface NodePermitAnswer {
  grantId: string | null;
  granted: number;
  /** How long after the request was sent the permits may be used, in ms. */
  ttlMs: number;
  /** Until the next permit comes back, in ms; 0 where all are free. */
  resetMs: number;
  /** What was free beside the grant. */
  remaining: number;
  userErrors: { code: string; message: string }[];
}

/** Promises to admit nothing without permits for a while. */
export const NODE_PERMIT_PROMISE = /* GraphQL */ `
  mutation NodePermitPromise($input: NodePermitPromiseInput!) {
    nodePermitPromise(input: $input) {
      clock
      accepted
      hasRoom
      userErrors {
        code
        message
        field
      }
    }
  }
`;

/** Requests that were admitted without permits. */
export interface NodePermitAloneUse {
  poolId: string;
  used: number;
  /** How long ago the last one was admitted, at least, in ms. */
  agoMs: number;
}

export interface NodePermitPromiseInput {
  nodeId: string;
  /** The clock of the last answer; null promises nothing, and only asks for the clock. */
  heard: string | null;
  nodes: number;
  place: number;
  /** Null where the node does not know. */
  alone: NodePermitAloneUse[] | null;
  leaving: boolean;
}

export interface NodePermitPromiseAnswer {
  clock: string | null;
  accepted: boolean;
  /** Whether the node may act by this place when it hears nothing. */
  hasRoom: boolean;
  userErrors: { code: string; message: string }[];
}
