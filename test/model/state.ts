/** The world of the model check: what it consists of, and how it is copied. */
import { emptyJournalState } from '../../data-plane/ledger/journal-state.ts';
import type { JournalState, JournalRecord } from '../../data-plane/ledger/journal-state.ts';
import { initialLedgerState } from '../../data-plane/ledger/state.ts';
import type { LedgerState } from '../../data-plane/ledger/state.ts';

/** The size of a world, and how often each fault may occur. */
export interface Bounds {
  nodes: number;
  requests: number;
  total: number;
  chunk: number;
  leases: number;
  crashes: number;
  diskLosses: number;
  reclaims: number;
  /**
   * The control plane is of an earlier release: it sends a recall once, and grants a lease to a copy of a
   * lease request that it refused.
   */
  earlierControl?: boolean;
}

/** A lease in the control plane. */
export interface ModelLease {
  id: string;
  journal: string;
  node: number;
  amount: number;
  charged: number;
  state: 'open' | 'closed' | 'reclaimed';
  /** Granted after the time passed that ends the deadlines of earlier leases. */
  late: boolean;
  /** Whether the control plane recalled the lease, and whether the running process received the recall. */
  recalled: boolean;
  recallDelivered: boolean;
}
/** The part of an answer that the client has received. */
export type Seen = 'nothing' | 'part' | 'all' | 'error';
export interface ModelRequest {
  phase: 'new' | 'waiting' | 'held' | 'checked' | 'sent' | 'committed' | 'done' | 'failed';
  node: number;
  leaseId: string;
  seen: Seen;
  /** Whether the client left after some content: nothing more is sent, and the request is charged. */
  left: boolean;
}
export interface ModelNode {
  up: boolean;
  late: boolean;
  ledger: LedgerState;
  journal: JournalState;
  /** Records that are queued and not yet on the disk. */
  queuedRecords: JournalRecord[];
  /** Charges on the disk, in order: request number and lease. */
  charges: [number, string][];
  lives: number;
  /** The journal under which the node is registered. */
  registered: string;
}
export interface World {
  balance: number;
  revenue: number;
  writtenOff: number;
  leases: ModelLease[];
  /** Leases granted so far, by journal and request number. */
  granted: Record<string, string>;
  /** Number of the last refused lease request of each journal. */
  refused: Record<string, number>;
  charged: number[];
  nodes: ModelNode[];
  requests: ModelRequest[];
  messages: string[];
  crashes: number;
  diskLosses: number;
  reclaims: number;
  lost: number[];
  violation: string;
}

/** The initial world. */
export function newWorld({ nodes, requests, total }: Bounds): World {
  return {
    balance: total,
    revenue: 0,
    writtenOff: 0,
    leases: [],
    granted: {},
    refused: {},
    charged: [],
    nodes: Array.from({ length: nodes }, (_, at) => {
      const journal = emptyJournalState(`j${at}`);
      const registered = journal.journalId;
      const none = { queuedRecords: [], charges: [], lives: 0 };
      return { up: true, late: false, ledger: initialLedgerState(journal), journal, ...none, registered };
    }),
    requests: Array.from({ length: requests }, () => ({
      phase: 'new' as const,
      node: -1,
      leaseId: '',
      seen: 'nothing' as const,
      left: false,
    })),
    messages: [],
    crashes: 0,
    diskLosses: 0,
    reclaims: 0,
    lost: [],
    violation: '',
  };
}

/**
 * A copy of a world that can be changed independently. Both share their nodes: before changing a node,
 * replace it with a copy (`copyNode`).
 */
export function copyWorld(world: World): World {
  return {
    ...world,
    leases: world.leases.map((lease) => ({ ...lease })),
    granted: { ...world.granted },
    refused: { ...world.refused },
    charged: [...world.charged],
    nodes: [...world.nodes],
    requests: world.requests.map((request) => ({ ...request })),
    messages: [...world.messages],
    lost: [...world.lost],
  };
}

/** A copy of a node that shares nothing that the money rules change in place. */
export function copyNode(node: ModelNode): ModelNode {
  const { ledger, journal } = node;
  return {
    ...node,
    ledger: {
      ...ledger,
      budgets: copyMap(ledger.budgets, (budget) => ({
        ...budget,
        leaseIds: [...budget.leaseIds],
        waiters: [...budget.waiters],
      })),
      leases: copyMap(ledger.leases, (lease) => ({ ...lease })),
      requests: copyMap(ledger.requests, (request) => ({ ...request })),
      unknownRecalls: copyMap(ledger.unknownRecalls, (unknown) => ({ ...unknown })),
    },
    journal: {
      ...journal,
      requests: copyMap(journal.requests, (request) => ({ ...request })),
      leases: copyMap(journal.leases, (lease) => ({ ...lease })),
      quarantined: new Map(journal.quarantined),
    },
    queuedRecords: [...node.queuedRecords],
    charges: [...node.charges],
  };
}

function copyMap<Key, Value>(map: Map<Key, Value>, copy: (value: Value) => Value): Map<Key, Value> {
  const copied = new Map<Key, Value>();
  for (const [key, value] of map) copied.set(key, copy(value));
  return copied;
}
