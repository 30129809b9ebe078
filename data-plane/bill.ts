/** The money and the usage row of one request: its price is held, then charged exactly once or released. */
import { relayedOutcome, withAttempt } from '@gateway/shared/attempts';
import { GatewayError } from '@gateway/shared/failures';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type {
  AttemptRecord,
  TokenCounts,
  AttemptList,
  UsageOutcome,
  UsageRecord,
  UsageStatus,
} from '@gateway/shared/records';
import type { Sale } from './admission/admit.ts';
import type { Caller } from './admission/authenticate.ts';
import type { RepeatedRefusals } from './admission/repeated-refusals.ts';
import type { Slot } from './admission/slot.ts';
import type { Call } from './call/call.ts';
import type { Permit, Permits } from './permits/permits.ts';
import { withWalletPage } from './ledger/holds.ts';
import type { Hold, Ledger } from './ledger/ledger.ts';
import type { Metrics } from './metrics.ts';
import type { RequestTrace } from './tracing/request-trace.ts';
import type { AttemptTrace, Candidate } from './upstreams/attempt.ts';

/** Outcomes that cost the price. */
export type ChargedOutcome = 'DELIVERED' | 'CLIENT_LEFT' | 'KEY_CUT';

/** Limits of a request, and the receivers of its result. */
interface BillLimits {
  ledger: Ledger;
  permits: Permits;
  metrics: Metrics;
  refusals: RepeatedRefusals;
}

/**
 * Takes a permit of the pool, and holds the price. Throws `rate_limited`, `insufficient_funds` and other
 * refusals of the ledger, or `unavailable`. A refusal costs nothing and is reported for the usage log. The
 * bill leaves the slot when it closes.
 */
export async function openBill(
  call: Call,
  caller: Caller,
  { sale, slot, limits }: { sale: Sale; slot: Slot; limits: BillLimits },
): Promise<Bill> {
  const cost: Micros = isFree(call, caller) ? 0n : BigInt(sale.price.price);
  call.reply.header('x-gateway-price-usd', formatDollars(cost));
  const bill = new Bill({ call, caller, sale, slot, cost, limits });
  try {
    if (caller.pool) bill.permit = await limits.permits.admit(caller.pool);
    if (cost > 0n) bill.hold = await limits.ledger.hold(caller.key, cost);
    return bill;
  } catch (error) {
    bill.permit?.giveBack();
    bill.close(error);
    throw withWalletPage(error, call.config.settings.consoleUrl);
  }
}

/** Whether the request is free: the period of a pool pays, or the operator does for reading chats. */
function isFree({ config }: Call, { pool, source }: Caller): boolean {
  return source === 'PERSONAL_INTELLIGENCE' || (pool !== undefined && config.settings.poolRequestsFree);
}

interface BillParts {
  call: Call;
  caller: Caller;
  sale: Sale;
  slot: Slot;
  cost: Micros;
  limits: BillLimits;
}

const UNKNOWN_TOKENS: TokenCounts = { input: null, output: null, cached: null, reasoning: null };
/** Largest token count that a usage report can carry. */
const TOKENS_MAX = 2 ** 31 - 1;

/** The bill of one request. The caller must call `close` last, after success and after failure. */
export class Bill {
  hold: Hold | undefined;
  permit: Permit | undefined;
  routeId: string | null = null;
  /** The trace of the request; undefined for most requests. */
  trace: RequestTrace | undefined;
  readonly #parts: BillParts;
  /** Failed and skipped attempts; undefined for most requests, which have none. */
  #tried: AttemptList | undefined;
  /** When the attempt after these began, in ms of the monotonic clock. */
  #attemptedAt = 0;
  #tokens = UNKNOWN_TOKENS;
  #losses = 0;
  #firstContentMs: number | null = null;
  /** Whether the request was cut after content was relayed. */
  #brokeOff = false;
  /** The record of the durable charge, and how long the end of the answer waited for it, in ms. */
  #charge: { usage: UsageRecord; waitedMs: number | undefined } | undefined;
  #closed = false;

  constructor(parts: BillParts) {
    this.#parts = parts;
  }

  /** Whether the charge is durable. */
  get charged(): boolean {
    return this.#charge !== undefined;
  }

  /** Notes a failed or skipped attempt. Another attempt begins now, or began at `nextStartedAt`. */
  attempted(attempt: AttemptRecord, nextStartedAt = performance.now()): void {
    this.#tried = withAttempt(this.#tried, attempt);
    this.#attemptedAt = nextStartedAt;
  }

  /** Begins the trace of an attempt. */
  traced(candidate: Candidate): AttemptTrace | undefined {
    return this.trace?.attempt(candidate);
  }

  /** Notes that the first content was relayed. */
  firstContent(): void {
    this.#firstContentMs = this.#elapsedMs();
  }

  /** Notes the token counts and the number of losses of the answer. */
  count(tokens: TokenCounts, losses: number): void {
    this.#tokens = countable(tokens);
    this.#losses = losses;
  }

  /** Makes the charge durable. Throws `unavailable` when that fails: then nothing was charged. */
  async commit(outcome: ChargedOutcome): Promise<void> {
    const { hold } = this;
    this.hold = undefined;
    const status = outcome === 'DELIVERED' ? 'SUCCEEDED' : 'CANCELLED';
    const usage = this.#usage({ outcome, status, httpStatus: 200, errorCode: null });
    let waitedMs: number | undefined;
    if (hold) {
      const from = performance.now();
      await hold.commit(usage);
      waitedMs = performance.now() - from;
    } else this.#parts.limits.ledger.report(usage);
    this.#charge = { usage, waitedMs };
  }

  /**
   * Charges an answer that the customer cut after content was relayed, by leaving or by disabling the key.
   * Every other failure is free, also if the operator stopped the key or its account.
   */
  async cut(error: GatewayError, relayed: boolean): Promise<void> {
    if (!relayed || this.charged) return;
    this.#brokeOff = true;
    if (error.code === 'client_closed') await this.commit('CLIENT_LEFT');
    else if (error.code === 'key_disabled' && error.details.byOwner) await this.commit('KEY_CUT');
  }

  /** Releases price and permit without a row in the usage log, because there was no request. */
  discard(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.slot.leave();
    this.permit?.giveBack();
    this.hold?.release();
    this.hold = undefined;
  }

  /**
   * Ends the request: releases a price that was not charged, and reports a request that cost nothing. Counts
   * a charge, which an HTTP answer need not wait for. A realtime session relays the end of a response after
   * this call.
   */
  close(failure?: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.slot.leave();
    this.hold?.release();
    this.hold = undefined;
    if (this.#charge) this.#count(this.#charge);
    else this.#reportFree(failure);
  }

  #count({ usage, waitedMs }: { usage: UsageRecord; waitedMs: number | undefined }): void {
    const { metrics } = this.#parts.limits;
    if (waitedMs !== undefined) metrics.committed(waitedMs);
    metrics.models.add(usage);
    this.trace?.end(usage);
  }

  #reportFree(failure: unknown): void {
    const error = failure instanceof GatewayError ? failure : undefined;
    const code = error?.code ?? 'internal';
    const { outcome, status } = freeOutcomeOf(code, this.#brokeOff);
    const { metrics, refusals } = this.#parts.limits;
    const usage = this.#usage({ outcome, status, httpStatus: error?.status ?? 500, errorCode: code });
    metrics.models.add(usage);
    this.trace?.end(usage);
    refusals.report(usage);
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
      tried: this.#tried && this.#withLastAttempt(this.#tried, end),
    };
  }

  /** The attempts, with the one whose answer was delivered or would have been delivered. */
  #withLastAttempt(tried: AttemptList, end: Pick<UsageRecord, 'outcome' | 'errorCode'>): AttemptList {
    if (this.routeId === null) return tried;
    const outcome = relayedOutcome(end.outcome);
    return withAttempt(tried, {
      routeId: this.routeId,
      outcome,
      errorCode: outcome === 'ANSWERED' ? null : end.errorCode,
      httpStatus: null,
      ms: Math.round(performance.now() - this.#attemptedAt),
    });
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#parts.call.startedAt);
  }
}

/** Outcome and status of a request that cost nothing. */
function freeOutcomeOf(code: string, brokeOff: boolean): { outcome: UsageOutcome; status: UsageStatus } {
  if (code === 'key_disabled' && brokeOff) return { outcome: 'OPERATOR_CUT', status: 'CANCELLED' };
  if (code === 'client_closed' || code === 'key_disabled')
    return { outcome: 'NO_CONTENT', status: 'CANCELLED' };
  if (code === 'rate_limited' || code === 'too_many_concurrent')
    return { outcome: 'THROTTLED', status: 'THROTTLED' };
  const isOurs = code.startsWith('upstream_') || code === 'internal';
  return { outcome: isOurs ? 'UPSTREAM_FAILED' : 'REFUSED', status: 'FAILED' };
}

/** The counts that a usage report can carry: an upstream may send fractions, negative or enormous numbers. */
function countable(tokens: TokenCounts): TokenCounts {
  const { input, output, cached, reasoning } = tokens;
  return {
    input: countOf(input),
    output: countOf(output),
    cached: countOf(cached),
    reasoning: countOf(reasoning),
  };
}

function countOf(value: number | null): number | null {
  const count = value ?? Number.NaN;
  return Number.isInteger(count) && count >= 0 && count <= TOKENS_MAX ? count : null;
}
