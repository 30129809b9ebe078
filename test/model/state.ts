/** What the world of the model check consists of. */
import { emptyBook } from '../../data-plane/ledger/book.ts';
import type { Book, JournalRecord } from '../../data-plane/ledger/book.ts';
import { beginWith } from '../../data-plane/ledger/state.ts';
import type { LedgerState } from '../../data-plane/ledger/state.ts';

/** How much there is of everything, and how often each fault may strike. */
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
   * The control plane is of an earlier release: it tells of a recall once, and grants a lease to a copy of a
   * question that it refused.
   */
  formerControl?: boolean;
}

/** A lease as the control plane knows it. */
export interface ModelLease {
  id: string;
  journal: string;
  node: number;
  amount: number;
  charged: number;
  state: 'open' | 'closed' | 'reclaimed';
  /** Granted after the time had passed. */
  late: boolean;
  /** The control plane wants it back; and the process that runs has heard so. */
  recalled: boolean;
  heard: boolean;
}
/** What the client of a request saw of it. */
export type Seen = 'nothing' | 'part' | 'all' | 'error';
export interface ModelRequest {
  phase: 'new' | 'waiting' | 'held' | 'checked' | 'sent' | 'committed' | 'done' | 'failed';
  node: number;
  leaseId: string;
  seen: Seen;
  /** The client itself left after content: nothing more is sent, and it is charged. */
  left: boolean;
}
export interface ModelNode {
  up: boolean;
  late: boolean;
  ledger: LedgerState;
  book: Book;
  /** Records that were noted and are not on the disk yet. */
  noted: JournalRecord[];
  /** Charges on the disk, in order: request and lease. */
  charges: [number, string][];
  lives: number;
  /** The journal by which the control plane knows the node. */
  registered: string;
}
export interface World {
  balance: number;
  revenue: number;
  writtenOff: number;
  leases: ModelLease[];
  /** Answers by journal and request number. */
  granted: Record<string, string>;
  /** The last question of each journal that was refused. */
  refused: Record<string, number>;
  charged: number[];
  nodes: ModelNode[];
  requests: ModelRequest[];
  messages: string[];
  crashes: number;
  diskLosses: number;
  reclaims: number;
  lost: number[];
  bad: string;
}

/** The world before anything happened. */
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
      const book = emptyBook(`j${at}`);
      const registered = book.journalId;
      const none = { noted: [], charges: [], lives: 0 };
      return { up: true, late: false, ledger: beginWith(book), book, ...none, registered };
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
    bad: '',
  };
}

/**
 * A world that can be changed without changing this one. Its nodes are still the same ones: who changes one
 * puts a copy into its place first (`copyNode`), so that worlds share what differs in none of them.
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

/** A node that shares nothing with this one that the money rules change in place. */
export function copyNode(node: ModelNode): ModelNode {
  const { ledger, book } = node;
  return {
    ...node,
    ledger: {
      ...ledger,
      purses: copyMap(ledger.purses, (purse) => ({
        ...purse,
        leaseIds: [...purse.leaseIds],
        waiters: [...purse.waiters],
      })),
      leases: copyMap(ledger.leases, (lease) => ({ ...lease })),
      requests: copyMap(ledger.requests, (request) => ({ ...request })),
      recalled: copyMap(ledger.recalled, (unknown) => ({ ...unknown })),
    },
    book: {
      ...book,
      requests: copyMap(book.requests, (request) => ({ ...request })),
      leases: copyMap(book.leases, (lease) => ({ ...lease })),
      parked: new Map(book.parked),
    },
    noted: [...node.noted],
    charges: [...node.charges],
  };
}

function copyMap<Key, Value>(map: Map<Key, Value>, copy: (value: Value) => Value): Map<Key, Value> {
  const copied = new Map<Key, Value>();
  for (const [key, value] of map) copied.set(key, copy(value));
  return copied;
}
