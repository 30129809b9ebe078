/** Counts a request among the concurrent requests of its wallet and key, before its body is read. */
import type { Payer } from '../call/body.ts';
import type { Config } from '../config/config.ts';
import { withWalletPage } from '../ledger/holds.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Caller } from './authenticate.ts';
import type { Bulkhead } from './bulkhead.ts';
import { usableModels } from './find-model.ts';

interface SlotLimits {
  wallets: Bulkhead;
  keys: Bulkhead;
  ledger: Ledger;
}

/** Counts as one request of the wallet and of the key until `leave`. */
export class Slot implements Payer {
  readonly #caller: Caller;
  readonly #config: Config;
  readonly #limits: SlotLimits;
  #left = false;

  /** Throws `too_many_concurrent`; otherwise `leave` must follow. */
  constructor(caller: Caller, config: Config, limits: SlotLimits) {
    const { key } = caller;
    limits.wallets.enter(key.walletId);
    try {
      limits.keys.enter(key.id);
    } catch (error) {
      limits.wallets.leave(key.walletId);
      throw error;
    }
    this.#caller = caller;
    this.#config = config;
    this.#limits = limits;
  }

  get walletId(): string {
    return this.#caller.key.walletId;
  }

  /** Ends the counts. Only the first call counts. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    const { key } = this.#caller;
    this.#limits.wallets.leave(key.walletId);
    this.#limits.keys.leave(key.id);
  }

  /**
   * Resolves if the wallet can pay the cheapest model that the key may use. Nothing stays held, because the
   * model is known only after the body. Rejects with the refusals of the ledger.
   */
  async afford(): Promise<void> {
    const price = cheapestPrice(this.#config, this.#caller);
    if (price === 0n) return;
    try {
      (await this.#limits.ledger.hold(this.#caller.key, price)).release();
    } catch (error) {
      throw withWalletPage(error, this.#config.settings.consoleUrl);
    }
  }
}

/** The lowest price in micro-USD that this caller can be charged: 0 in a pool whose period is paid. */
function cheapestPrice(config: Config, caller: Caller): bigint {
  if (caller.pool && config.settings.poolRequestsFree) return 0n;
  const prices = usableModels(config, caller).map(({ prices }) =>
    BigInt(prices[caller.key.group]?.price ?? 0),
  );
  // A key without any model gets its refusal only after the body, so its wallet must have some money.
  return prices.reduce((least, price) => (price < least ? price : least), prices[0] ?? 1n);
}
