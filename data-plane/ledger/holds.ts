/** One reserved price in the hands of a request, and how refusals read. */
import { GatewayError } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { UsageRecord } from '@gateway/shared/records';
import type { Refusal } from './events.ts';
import type { Hold } from './ledger.ts';

/** What becomes of a price that was held from a lease. */
export interface HoldActions {
  commit(leaseId: string, price: Micros, usage: UsageRecord): Promise<void>;
  release(leaseId: string, price: Micros): void;
}

const ENDED_TWICE = 'a hold was ended twice';

/** Sees to it that a hold is ended once, and with the price that was held. */
export class LeaseHold implements Hold {
  readonly #leaseId: string;
  readonly #price: Micros;
  readonly #actions: HoldActions;
  #ended = false;

  constructor(leaseId: string, price: Micros, actions: HoldActions) {
    this.#leaseId = leaseId;
    this.#price = price;
    this.#actions = actions;
  }

  commit(usage: UsageRecord): Promise<void> {
    if (this.#ended) return Promise.reject(new Error(ENDED_TWICE));
    this.#ended = true;
    if (BigInt(usage.cost) === this.#price) return this.#actions.commit(this.#leaseId, this.#price, usage);
    this.#actions.release(this.#leaseId, this.#price);
    const reason = `a charge of ${usage.cost} was made for a hold of ${this.#price}`;
    return Promise.reject(new Error(reason));
  }

  release(): void {
    if (this.#ended) throw new Error(ENDED_TWICE);
    this.#ended = true;
    this.#actions.release(this.#leaseId, this.#price);
  }
}

const REFUSALS: Record<Refusal, string> = {
  insufficient_funds:
    'The wallet has too little credit for this request. Add credit in the console and try again.',
  spend_limit_reached: 'This key has reached its spend limit. Raise it in the console or use another key.',
  wallet_frozen: 'The wallet is frozen. Contact the operator of this gateway.',
  all_in_use:
    'Requests in flight hold the rest of the credit. Try again when they have ended, or add credit.',
  unavailable: 'The gateway cannot reach its billing at the moment. Try again shortly.',
};

const RETRY_AFTER_MS = 1_000;

/** The failure that a client gets for a refusal of the money rules. */
export function refusal(code: Refusal): GatewayError {
  if (code === 'unavailable' || code === 'all_in_use') return unavailable(REFUSALS[code]);
  return new GatewayError(code, REFUSALS[code]);
}

/** Paid requests cannot be served at the moment; nothing was charged. */
export function unavailable(message: string, cause?: unknown): GatewayError {
  return new GatewayError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
