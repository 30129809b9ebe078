/** The GraphQL documents by which a node asks for permits of pools, with their variables and answers. */

/** Asks for permits of one pool, and reports how many permits of earlier grants were used. */
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

/** Final use of a grant. Its unused permits are given back. */
export interface NodePermitUse {
  grantId: string;
  used: number;
  /** Lower bound of the time since the last permit was used, in ms. */
  agoMs: number;
}

export interface NodePermitRequestInput {
  nodeId: string;
  poolId: string;
  /** Number of permits wanted; 0 only reports finished grants. */
  want: number;
  finished: NodePermitUse[];
}

export interface NodePermitAnswer {
  grantId: string | null;
  granted: number;
  /** How long after sending the request the permits may be used, in ms. */
  ttlMs: number;
  /** Time until the next permit becomes free, in ms; 0 if all are free. */
  resetMs: number;
  /** Permits that are still free after this grant. */
  remaining: number;
  userErrors: { code: string; message: string }[];
}

/** Promises to admit no request without a permit for PROMISE_MS, so that other nodes may use the share. */
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

/** Requests of one pool that the node admitted without permits. */
export interface NodePermitAloneUse {
  poolId: string;
  used: number;
  /** Lower bound of the time since the last one was admitted, in ms. */
  agoMs: number;
}

export interface NodePermitPromiseInput {
  nodeId: string;
  /** The `clock` of the last answer. Null makes no promise: the answer then contains only the clock. */
  heard: string | null;
  /** Number of registered nodes in the configuration that the node serves. */
  nodes: number;
  /** Index of this node among them, sorted by id; -1 if it is not among them. */
  place: number;
  /** Requests that the node admitted without permits in the last minute; null if unknown. */
  alone: NodePermitAloneUse[] | null;
  /** True if the node shuts down and admits nothing alone before its next promise. */
  leaving: boolean;
}

export interface NodePermitPromiseAnswer {
  /** To be sent back as `heard` with the next promise. */
  clock: string | null;
  /** False if nothing was promised or the promise arrived too late. */
  accepted: boolean;
  /** Whether the node may admit its share without permits while it is alone. */
  hasRoom: boolean;
  userErrors: { code: string; message: string }[];
}
