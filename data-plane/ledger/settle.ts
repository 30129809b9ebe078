/**
 * Tells the control plane what was charged, in order and at least once, and what cost nothing, as well as it
 * goes.
 */
import { randomUUID } from 'node:crypto';
import { USAGE_BATCH_MAX, placedText, usageText } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import type { UsageRecord } from '@gateway/shared/records';
import type { ChargeRecord, SettledLease } from './book.ts';
import type { Journal } from './journal.ts';

/** Records gather for so long before they are sent, in ms, unless they fill a report or a lease waits. */
const GATHER_MS = 200;
const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 1_000;
/** Free records that wait at most; the oldest are dropped and counted. */
const FREE_MAX = 10_000;

export interface SettlerOptions {
  journal: Pick<Journal, 'unsettled' | 'settle' | 'book'>;
  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer>;
  /** Called when charges are settled, and durably so. */
  onSettled(leases: readonly SettledLease[]): void;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

interface Batch {
  report: UsageReport;
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
  /** Free records that the control plane does not have yet, those being reported included. */
  get waitingFree(): number {
    const { report, charges } = this.#batch ?? { report: { records: [] }, charges: [] };
    return this.#free.length + report.records.length - charges.length;
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
        const sent = await this.#reportOnce();
        this.#attempts = 0;
        // A full report says that there is more.
        if (sent < USAGE_BATCH_MAX && !this.#hurry) await this.#pause(GATHER_MS);
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

  /** Sends one batch; returns how many records it had. */
  async #reportOnce(): Promise<number> {
    this.#batch ??= await this.#nextBatch();
    if (!this.#batch) return 0;
    const { report, charges } = this.#batch;
    const answer = await this.#options.reportUsage(report);
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
    return report.records.length;
  }

  /** Charges first; what cost nothing fills the report up. */
  async #nextBatch(): Promise<Batch | undefined> {
    const { journal } = this.#options;
    const { journalId } = journal.book;
    const charges = await journal.unsettled(USAGE_BATCH_MAX);
    const free = this.#free.splice(0, USAGE_BATCH_MAX - charges.length);
    if (charges.length + free.length === 0) return undefined;
    const batchId = randomUUID();
    const records = [
      ...charges.map(({ usage, seq, leaseId }) => placedText(usage, { journalId, seq, leaseId })),
      ...free.map(usageText),
    ];
    return { report: { nodeId: this.#nodeId ?? '', batchId, records }, charges };
  }
}

/** What a report of these charges settled, lease by lease. */
function settledLeases(charges: readonly ChargeRecord[], rejected: ReadonlySet<string>): SettledLease[] {
  const leases = new Map<string, { count: number; rejected: number; rejectedSum: bigint }>();
  for (const { leaseId, requestId, cost } of charges) {
    const lease = leases.get(leaseId) ?? { count: 0, rejected: 0, rejectedSum: 0n };
    leases.set(leaseId, lease);
    lease.count += 1;
    if (!rejected.has(requestId)) continue;
    lease.rejected += 1;
    lease.rejectedSum += cost;
  }
  return [...leases].map(([leaseId, lease]) => ({
    ...lease,
    leaseId,
    rejectedSum: String(lease.rejectedSum),
  }));
}
