/** A reserved price in the hands of one request, and the errors that clients get for refused holds. */
import { GatewayError } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { UsageRecord } from '@gateway/shared/records';
import type { Refusal } from './events.ts';
import type { Hold } from './ledger.ts';

/** The two ways in which the ledger ends a hold. */
export interface HoldActions {
  commit(leaseId: string, price: Micros, usage: UsageRecord): Promise<void>;
  release(leaseId: string, price: Micros): void;
}

const ENDED_TWICE = 'This hold was already committed or released.';

/** Ensures that a hold is committed or released exactly once, and only with the price that was held. */
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
    const reason = `A charge of ${usage.cost} micro-USD does not match its hold of ${this.#price} micro-USD.`;
    return Promise.reject(new Error(reason));
  }

  release(): void {
    if (this.#ended) throw new Error(ENDED_TWICE);
    this.#ended = true;
    this.#actions.release(this.#leaseId, this.#price);
  }
}

const REFUSAL_MESSAGES: Record<Refusal, string> = {
  insufficient_funds:
    'The wallet has too little credit for this request. Add credit in the console and try again.',
  spend_limit_reached: 'This key has reached its spend limit. Raise it in the console or use another key.',
  wallet_frozen: 'The wallet is frozen. Contact the operator of this gateway.',
  all_in_use:
    'Requests in flight hold the rest of the credit. Try again when they have ended, or add credit.',
  unavailable: 'The gateway cannot reach its billing at the moment. Try again shortly.',
};

const RETRY_AFTER_MS = 1_000;

/** The client error for a refusal of the money rules. */
export function refusalError(code: Refusal): GatewayError {
  if (code === 'unavailable' || code === 'all_in_use') return unavailableError(REFUSAL_MESSAGES[code]);
  return new GatewayError(code, REFUSAL_MESSAGES[code]);
}

/** The error with the address of the wallet page, if the wallet has too little credit; any other as it is. */
export function withWalletPage(error: unknown, consoleUrl: string): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'insufficient_funds') return error;
  const message = `The wallet has too little credit for this request. Add credit at ${consoleUrl}/wallet`;
  return new GatewayError(error.code, `${message} and try again.`, error.details);
}

/** The 503, with a retry time, for a paid request that was not charged. `cause` goes to the log only. */
export function unavailableError(message: string, cause?: unknown): GatewayError {
  return new GatewayError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
