/**
 * Tells the control plane what was charged, in order and at least once, and what cost nothing, as well as it
 * goes.
 */
import { randomUUID } from 'node:crypto';
import { USAGE_BATCH_MAX, usageInput } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, NodeUsageReportInput } from '@gateway/shared/usage-report';
import type { UsageRecord } from '@gateway/shared/records';
import type { ChargeRecord, SettledLease } from './book.ts';
import type { Journal } from './journal.ts';

/** Records gather for so long before they are sent, in ms. */
const GATHER_MS = 200;
const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 1_000;
/** Free records that wait at most; the oldest are dropped and counted. */
const FREE_MAX = 10_000;

export interface SettlerOptions {
  journal: Pick<Journal, 'unsettled' | 'settle' | 'book'>;
  reportUsage(input: NodeUsageReportInput): Promise<NodeUsageReportAnswer>;
  /** Called when charges are settled, and durably so. */
  onSettled(leases: readonly SettledLease[]): void;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

interface Batch {
  input: NodeUsageReportInput;
  charges: readonly ChargeRecord[];
}

/** Reports one batch after another; what is not acknowledged is sent again just as it was. */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #free: UsageRecord[] = [];
  #dropped = 0;
  /** What was sent and not answered: it is sent again just as it was. */
  #batch: Batch | undefined;
  #nodeId: string | undefined;
  #wake: (() => void) | undefined;
  #hurry = false;
  #attempts = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Free records that were dropped because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }
  get waitingFree(): number {
    return this.#free.length;
  }

  /** Begins to report as this node. */
  start(nodeId: string): void {
    this.#nodeId = nodeId;
    this.#running ??= this.#run();
  }

  /** Adds a record that cost nothing. Never waits; drops the oldest when too many do. */
  addFree(usage: UsageRecord): void {
    this.#free.push(usage);
    if (this.#free.length <= FREE_MAX) return;
    this.#free.splice(0, USAGE_BATCH_MAX);
    this.#dropped += USAGE_BATCH_MAX;
  }

  /** Reports at once instead of gathering: a lease waits to be closed. */
  hurry(): void {
    this.#hurry = true;
    this.#wake?.();
  }

  /** Ends after the report under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#hurry = false;
      try {
        while (!this.#stopped && (await this.#reportOnce())) this.#attempts = 0;
        this.#attempts = 0;
        if (!this.#hurry) await this.#pause(GATHER_MS);
      } catch (error) {
        this.#attempts += 1;
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#attempts === 1)
          this.#options.log.warn({ reason }, 'usage could not be reported; it is kept and sent again');
        await this.#pause(
          Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(this.#attempts, 10)),
        );
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Sends one batch; false when there was nothing to send. */
  async #reportOnce(): Promise<boolean> {
    this.#batch ??= await this.#nextBatch();
    if (!this.#batch) return false;
    const { input, charges } = this.#batch;
    const answer = await this.#options.reportUsage(input);
    if (answer.rejected.length > 0) {
      this.#options.log.error({ requestIds: answer.rejected }, 'the control plane rejected charges for good');
    }
    const last = charges.at(-1);
    if (last) {
      const leases = settledLeases(charges, new Set(answer.rejected));
      await this.#options.journal.settle(last.seq, leases);
      this.#options.onSettled(leases);
    }
    this.#batch = undefined;
    return true;
  }

  async #nextBatch(): Promise<Batch | undefined> {
    const nodeId = this.#nodeId ?? '';
    const { journal } = this.#options;
    const charges = await journal.unsettled(USAGE_BATCH_MAX);
    const [first] = charges;
    if (first) {
      const { journalId } = journal.book;
      const records = charges.map(({ usage, seq, leaseId }) =>
        usageInput(usage, { journalId, seq, leaseId }),
      );
      return { input: { nodeId, batchId: `${journalId}:${first.seq}:${charges.length}`, records }, charges };
    }
    const free = this.#free.splice(0, USAGE_BATCH_MAX);
    if (free.length === 0) return undefined;
    return {
      input: { nodeId, batchId: randomUUID(), records: free.map((usage) => usageInput(usage, null)) },
      charges: [],
    };
  }
}

/** What a report of these charges settled, lease by lease. */
function settledLeases(charges: readonly ChargeRecord[], rejected: ReadonlySet<string>): SettledLease[] {
  const leases = new Map<string, { count: number; rejected: number; rejectedSum: bigint }>();
  for (const { leaseId, usage } of charges) {
    const lease = leases.get(leaseId) ?? { count: 0, rejected: 0, rejectedSum: 0n };
    leases.set(leaseId, lease);
    lease.count += 1;
    if (!rejected.has(usage.requestId)) continue;
    lease.rejected += 1;
    lease.rejectedSum += BigInt(usage.cost);
  }
  return [...leases].map(([leaseId, lease]) => ({
    ...lease,
    leaseId,
    rejectedSum: String(lease.rejectedSum),
  }));
}
