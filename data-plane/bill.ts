/** One request's money and usage row: a price is held, then charged exactly once or given back. */
import { lastOutcome, withAttempt } from '@gateway/shared/attempts';
import { GatewayError } from '@gateway/shared/failures';
import type { Family } from '@gateway/shared/catalog';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type {
  AttemptRecord,
  GroupPriceRecord,
  TokenCounts,
  Tried,
  UsageOutcome,
  UsageRecord,
  UsageStatus,
} from '@gateway/shared/records';
import type { Caller } from './authenticate.ts';
import type { Call } from './call.ts';
import type { SoldModel } from './config/config.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Permit, Permits } from './permits/permits.ts';
import type { Hold, Ledger } from './ledger/ledger.ts';
import type { Metrics } from './metrics.ts';

/** Outcomes that cost the price. */
export type ChargedOutcome = 'DELIVERED' | 'CLIENT_LEFT' | 'KEY_CUT';

/** What is bought: found by the pipeline before the bill is opened. */
export interface Sale {
  model: SoldModel;
  price: GroupPriceRecord;
  family: Family;
  streamed: boolean;
}

/** Where money and places are taken from. */
export interface Till {
  ledger: Ledger;
  permits: Permits;
  wallets: Bulkhead;
  keys: Bulkhead;
  metrics: Metrics;
}

/**
 * Takes a place among the wallet's and the key's requests in flight, a permit of the pool, and holds the
 * price. Throws `insufficient_funds` and its kin, `unavailable`, `rate_limited` or `too_many_concurrent`; a
 * refusal is reported for the usage log and costs nothing.
 */
export async function openBill(
  call: Call,
  caller: Caller,
  { sale, till }: { sale: Sale; till: Till },
): Promise<Bill> {
  const free = caller.pool !== undefined && call.config.settings.poolRequestsFree;
  const cost: Micros = free ? 0n : BigInt(sale.price.price);
  call.reply.header('x-gateway-price-usd', formatDollars(cost));
  const leave = enter(caller, till);
  const bill = new Bill({ call, caller, sale, cost, till, leave });
  try {
    if (caller.pool) bill.permit = await till.permits.admit(caller.pool);
    if (cost > 0n) bill.hold = await till.ledger.hold(caller.key, cost);
    return bill;
  } catch (error) {
    bill.permit?.giveBack();
    bill.close(error);
    throw error;
  }
}

function enter({ key }: Caller, { wallets, keys }: Till): () => void {
  wallets.enter(key.walletId);
  try {
    keys.enter(key.id);
  } catch (error) {
    wallets.leave(key.walletId);
    throw error;
  }
  return () => {
    wallets.leave(key.walletId);
    keys.leave(key.id);
  };
}

interface BillParts {
  call: Call;
  caller: Caller;
  sale: Sale;
  cost: Micros;
  till: Till;
  leave: () => void;
}

const UNKNOWN_TOKENS: TokenCounts = { input: null, output: null, cached: null, reasoning: null };

/** Open until `commit` or `close`; `close` always comes last, whatever happened. */
export class Bill {
  hold: Hold | undefined;
  permit: Permit | undefined;
  routeId: string | null = null;
  readonly #parts: BillParts;
  /** Undefined while no turn was in vain: most requests have nothing to tell. */
  #tried: Tried | undefined;
  /** When the last of these turns ended, in ms of the monotonic clock. */
  #triedAt = 0;
  #tokens = UNKNOWN_TOKENS;
  #losses = 0;
  #firstContentMs: number | null = null;
  /** Content was relayed, and then the request was cut. */
  #brokeOff = false;
  #charged = false;
  #closed = false;

  constructor(parts: BillParts) {
    this.#parts = parts;
  }

  /** Whether the charge is durable. */
  get charged(): boolean {
    return this.#charged;
  }

  /** Notes an upstream's turn that brought no answer. */
  tried(attempt: AttemptRecord): void {
    this.#tried = withAttempt(this.#tried, attempt);
    this.#triedAt = performance.now();
  }

  /** Notes that content was relayed for the first time. */
  firstContent(): void {
    this.#firstContentMs = this.#elapsedMs();
  }

  /** Notes what the answer amounted to. */
  count(tokens: TokenCounts, losses: number): void {
    this.#tokens = tokens;
    this.#losses = losses;
  }

  /** Makes the charge durable. Throws `unavailable` when that fails: then nothing was charged. */
  async commit(outcome: ChargedOutcome): Promise<void> {
    const { hold } = this;
    this.hold = undefined;
    const status = outcome === 'DELIVERED' ? 'SUCCEEDED' : 'CANCELLED';
    const usage = this.#usage({ outcome, status, httpStatus: 200, errorCode: null });
    const { ledger, metrics } = this.#parts.till;
    if (hold) {
      const from = performance.now();
      await hold.commit(usage);
      metrics.committed(performance.now() - from);
    } else ledger.report(usage);
    this.#charged = true;
  }

  /**
   * Charges a stream that the customer cut after content was relayed, by leaving or by disabling the key;
   * every other failure is free, and so is a key or an account that the operator stopped.
   */
  async cut(error: GatewayError, relayed: boolean): Promise<void> {
    if (!relayed || this.#charged) return;
    this.#brokeOff = true;
    if (error.code === 'client_closed') await this.commit('CLIENT_LEFT');
    else if (error.code === 'key_disabled' && error.details.byOwner) await this.commit('KEY_CUT');
  }

  /** Gives price and permit back without a row in the usage log: nothing was asked for. */
  discard(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.leave();
    this.permit?.giveBack();
    this.hold?.release();
    this.hold = undefined;
  }

  /**
   * Gives back what was not charged, reports a request that cost nothing, and makes room for the next one.
   */
  close(failure?: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.leave();
    this.hold?.release();
    this.hold = undefined;
    if (!this.#charged) this.#reportFree(failure);
  }

  #reportFree(failure: unknown): void {
    const error = failure instanceof GatewayError ? failure : undefined;
    const code = error?.code ?? 'internal';
    const { outcome, status } = verdictOf(code, this.#brokeOff);
    this.#parts.till.ledger.report(
      this.#usage({ outcome, status, httpStatus: error?.status ?? 500, errorCode: code }),
    );
  }

  #usage(end: Pick<UsageRecord, 'outcome' | 'status' | 'httpStatus' | 'errorCode'>): UsageRecord {
    const { call, caller, sale, cost } = this.#parts;
    const isCharge = end.errorCode === null;
    return {
      requestId: call.id,
      at: call.at,
      keyId: caller.key.id,
      walletId: caller.key.walletId,
      poolId: caller.pool?.id ?? null,
      group: caller.key.group,
      source: caller.source,
      model: sale.model.name,
      family: sale.family,
      routeId: this.routeId,
      basePrice: sale.price.base,
      ratio: sale.price.ratio,
      cost: isCharge ? String(cost) : '0',
      tokens: this.#tokens,
      ...end,
      streamed: sale.streamed,
      latencyMs: this.#elapsedMs(),
      firstContentMs: this.#firstContentMs,
      ip: caller.address,
      lossesInAnswer: this.#losses,
      tried: this.#tried && this.#allTurns(this.#tried, end),
    };
  }

  /** The turn of the upstream whose answer was to be delivered is the last one. */
  #allTurns(tried: Tried, end: Pick<UsageRecord, 'outcome' | 'errorCode'>): Tried {
    if (this.routeId === null) return tried;
    const outcome = lastOutcome(end.outcome);
    return withAttempt(tried, {
      routeId: this.routeId,
      outcome,
      errorCode: outcome === 'ANSWERED' ? null : end.errorCode,
      httpStatus: null,
      ms: Math.round(performance.now() - this.#triedAt),
    });
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#parts.call.startedAt);
  }
}

function verdictOf(code: string, brokeOff: boolean): { outcome: UsageOutcome; status: UsageStatus } {
  if (code === 'key_disabled' && brokeOff) return { outcome: 'OPERATOR_CUT', status: 'CANCELLED' };
  if (code === 'client_closed' || code === 'key_disabled')
    return { outcome: 'NO_CONTENT', status: 'CANCELLED' };
  if (code === 'rate_limited' || code === 'too_many_concurrent')
    return { outcome: 'THROTTLED', status: 'THROTTLED' };
  const ours = code.startsWith('upstream_') || code === 'internal';
  return { outcome: ours ? 'UPSTREAM_FAILED' : 'REFUSED', status: 'FAILED' };
}
