/**
 * Sends the lease messages of the ledger's reducer to the control plane, and dispatches the results to it.
 */
import type { BookkeepingRecord } from './journal-state.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';
import { closeLease, requestLease } from './lease-requests.ts';
import type { LeaseRequestContext } from './lease-requests.ts';
import type { WalletBudget } from './state.ts';
import { MessageQueue } from './message-queue.ts';

/** Maximum number of concurrent messages of each kind. */
const CONCURRENCY = { resends: 8, closes: 32 };
/** Results that mean that a message failed, so that its queue backs off. */
const FAILED: ReadonlySet<LedgerEvent['type']> = new Set(['UNANSWERED', 'NOT_CLOSED']);

interface LeaseClientOptions {
  /** The present connection and identity of the node. */
  context(): LeaseRequestContext;
  /** Makes the journal line of a new lease request durable. Rejects if the journal refuses the line. */
  write(record: BookkeepingRecord): Promise<void>;
  /** The budget of a lease; undefined if no budget has it. */
  budgetOf(leaseId: string): WalletBudget | undefined;
  /** Receives the result of each message. */
  dispatch(event: LedgerEvent): void;
}

/** Sends new lease requests at once; queues those that are sent again, and close messages. */
export class LeaseClient {
  readonly #options: LeaseClientOptions;
  readonly #resends = new MessageQueue(CONCURRENCY.resends);
  readonly #closes = new MessageQueue(CONCURRENCY.closes);

  constructor(options: LeaseClientOptions) {
    this.#options = options;
  }

  /** Requests a lease. A new lease request is journaled first. */
  request(effect: Extract<LedgerEffect, { type: 'REQUEST' }>): void {
    if (effect.isNew) void this.#requestNew(effect);
    else this.#enqueue(this.#resends, effect.budget, () => requestLease(this.#options.context(), effect));
  }

  /** Queues the close message of a lease. */
  close(effect: Extract<LedgerEffect, { type: 'CLOSE' }>): void {
    const budget = this.#options.budgetOf(effect.leaseId);
    this.#enqueue(this.#closes, budget, () => closeLease(this.#options.context(), effect));
  }

  /** Discards all queued messages. */
  stop(): void {
    this.#resends.stop();
    this.#closes.stop();
  }

  async #requestNew(effect: Extract<LedgerEffect, { type: 'REQUEST' }>): Promise<void> {
    const { context, write, dispatch } = this.#options;
    const { no, want, need } = effect.request;
    const { walletId, keyId } = effect.budget;
    try {
      await write({ type: 'requested', no, walletId, keyId, want: String(want), need: String(need) });
    } catch {
      return dispatch({ type: 'UNSENT', no });
    }
    dispatch(await requestLease(context(), effect));
  }

  #enqueue(queue: MessageQueue, budget: WalletBudget | undefined, send: () => Promise<LedgerEvent>): void {
    queue.add({
      hasWaitingClient: () => budget !== undefined && budget.waiters.length > 0,
      send: async () => {
        const event = await send();
        this.#options.dispatch(event);
        return !FAILED.has(event.type);
      },
    });
  }
}
