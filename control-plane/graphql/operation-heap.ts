/** Counts the heap of the operations of WebSockets: a subscription holds its message while it is open. */
import type { DocumentNode } from 'graphql';
import { OPERATION_HEAP } from '../limits.ts';
import { Shares } from '../request/shares.ts';
import type { Claimant } from '../request/shares.ts';

/** Heap of one token with its syntax nodes, without locations, in bytes. Node 26 takes 80 to 210. */
const TOKEN_BYTES = 210;
/** Heap of a byte of parsed JSON, in bytes: `[{},{},…` takes 21. */
const JSON_BYTES = 21;

/** The operations of one socket. */
export interface SocketOperations {
  /** Counts an operation. False if its caller has too much. Nodes are not counted. */
  take(id: string, bytes: number, claimant: Claimant): boolean;
  give(id: string): void;
  /** Gives back operations that the socket no longer runs. */
  keepOnly(running: object): void;
  giveAll(): void;
}

/** Counts the operations of all sockets of a listener. */
export class OperationHeap {
  readonly #shares = new Shares(OPERATION_HEAP);

  /** Estimated heap of all operations, in bytes. */
  get bytes(): number {
    return this.#shares.total;
  }

  /** The operations of a new socket. */
  ofSocket(): SocketOperations {
    const held = new Map<string, () => void>();
    const give = (id: string): void => {
      held.get(id)?.();
      held.delete(id);
    };
    return {
      take: (id, bytes, claimant) => {
        give(id);
        if (claimant.rank === 'node') return true;
        const giveBack = this.#shares.take(claimant, bytes);
        if (giveBack) held.set(id, giveBack);
        return giveBack !== null;
      },
      give,
      keepOnly: (running) => {
        for (const id of held.keys()) if (!Object.hasOwn(running, id)) give(id);
      },
      giveAll: () => {
        for (const id of held.keys()) give(id);
      },
    };
  }
}

/**
 * Estimated heap of an operation that arrived in a message of `messageBytes`, in bytes. The document is
 * counted as its tokens, all other bytes of the message as JSON.
 */
export function heapOfOperation({ loc }: DocumentNode, messageBytes: number): number {
  let tokens = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) tokens += 1;
  const others = Math.max(0, messageBytes - (loc?.source.body.length ?? 0));
  return messageBytes + tokens * TOKEN_BYTES + others * JSON_BYTES;
}
