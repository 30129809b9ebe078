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
}
export interface World {
  balance: number;
  revenue: number;
  writtenOff: number;
  leases: ModelLease[];
  /** Answers by journal and request number. */
  granted: Record<string, string>;
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
    charged: [],
    nodes: Array.from({ length: nodes }, (_, at) => {
      const book = emptyBook(`j${at}`);
      return { up: true, late: false, ledger: beginWith(book), book, noted: [], charges: [], lives: 0 };
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
