/** The GraphQL documents with which a node requests and closes leases, with their variables and answers. */

/**
 * Requests a lease on a wallet, or on a key with a spend limit. A repeated request with the same number
 * returns the same lease.
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
/** Amounts of money are decimal dollars as text, see `formatDollars` and `parseDollars`. */
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
  /** The smallest useful amount: the price of one request. */
  need: string;
  /**
   * Total price of the requests that wait for the lease. Up to `want`, it is granted even if little is left.
   */
  waiting: string;
}
export interface NodeLeaseAnswer {
  /** Null if no lease was granted; `userErrors` then has the reason. */
  leaseId: string | null;
  /** The amount of the lease: the sum of `cash` and `gift`. */
  granted: string;
  cash: string;
  gift: string;
  /** Time in ms, from the sending of the request, for which the node may spend without contact. */
  deadlineMs: number;
  /**
   * INSUFFICIENT_BALANCE, SPEND_LIMIT_REACHED and WALLET_FROZEN are final. CONFLICT: leases of other nodes
   * are being recalled; send the request again.
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
  /** Number of charges on the lease. */
  count: number;
  /** Sum of these charges, in dollars. */
  sum: string;
}
