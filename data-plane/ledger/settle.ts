/**
 * Reports usage to the control plane: charges in order and at least once, free requests on a best-effort
 * basis.
 */
import { randomUUID } from 'node:crypto';
import { TimestampFormatter } from '@gateway/shared/timestamps';
import { USAGE_BATCH_MAX, usageText } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import type { UsageRecord } from '@gateway/shared/records';
import { ControlError } from '../control/error.ts';
import type { ChargeRecord, SettledLease } from './journal-state.ts';
import type { Journal } from './journal.ts';
import { chargeOfLine } from './lines.ts';
import { chargesIn, lastSeqOf, pageOf } from './pages.ts';
import type { Page } from './pages.ts';
import { ReportPace } from './report-pace.ts';

const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 1_000;
/** Maximum number of queued free records; beyond it the oldest are dropped and counted. */
const FREE_MAX = 10_000;
/** Error codes of a report that the control plane cannot read. A repetition has the same result. */
const UNREADABLE: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'INVALID']);
/** Maximum number of quarantined charges. More of them mean that the control plane is at fault. */
const QUARANTINE_MAX = 100;
/** Interval at which quarantined charges are sent again, in ms: an updated control plane may read them. */
const QUARANTINE_RETRY_MS = 5 * 60_000;

interface SettlerOptions {
  journal: Pick<Journal, 'unsettled' | 'settle' | 'state'>;
  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer>;
  /** Called after a settlement is durable in the journal. */
  onSettled(leases: readonly SettledLease[]): void;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  /** For tests. */
  quarantineRetryMs?: number;
}

interface Batch {
  report: UsageReport;
  pages: readonly Page[];
  free: readonly UsageRecord[];
  /** Number of records in the report. */
  count: number;
}

/**
 * Sends one batch after another. A batch without an answer is sent again unchanged. A batch that the control
 * plane cannot read is halved until the unreadable record is alone. If that record is a charge, it is
 * quarantined in the journal, and its lease stays open with the price in it. If it is free, it is dropped.
 * Both are logged.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #free: UsageRecord[] = [];
  #dropped = 0;
  /** The batch that was sent and not answered. */
  #batch: Batch | undefined;
  /** Maximum number of records in the next batch. */
  #size = USAGE_BATCH_MAX;
  /** The charges up to this number are reported without a pause, because a lease waits to be closed. */
  #hurriedSeq = 0;
  /** In ms of the monotonic clock. */
  #nextQuarantineRetryAt = 0;
  #nodeId: string | undefined;
  readonly #pace = new ReportPace({ count: () => this.#waiting, full: () => this.#size });
  #attempts = 0;
  #running: Promise<void> | undefined;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Number of free records that were dropped. */
  get dropped(): number {
    return this.#dropped;
  }
  /** Number of free records that are not reported, including those under way. */
  get waitingFree(): number {
    return this.#free.length + (this.#batch?.free.length ?? 0);
  }
  /** Number of records for the next report. Read only while no report is under way. */
  get #waiting(): number {
    const { nextSeq, settledSeq } = this.#options.journal.state;
    return nextSeq - 1 - settledSeq + this.#free.length;
  }

  /** Starts to report as this node, or changes the node id. */
  start(nodeId: string): void {
    this.#nodeId = nodeId;
    this.#running ??= this.#run();
  }

  /** Queues the record of a free request. Drops the oldest records when too many are queued. */
  addFree(usage: UsageRecord): void {
    this.#free.push(usage);
    this.#pace.recorded();
    if (this.#free.length <= FREE_MAX) return;
    this.#free.splice(0, USAGE_BATCH_MAX);
    this.#dropped += USAGE_BATCH_MAX;
  }

  /** Called when a charge is durable. */
  recorded(): void {
    this.#pace.recorded();
  }

  /** Reports all charges so far without gathering first, because a lease waits to be closed. */
  reportNow(): void {
    this.#hurriedSeq = this.#options.journal.state.nextSeq - 1;
    this.#pace.hurry();
  }

  /** Stops after the report under way. */
  async stop(): Promise<void> {
    this.#pace.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#pace.isStopped) {
      this.#pace.taking();
      try {
        const hasMore = await this.#reportOnce();
        this.#attempts = 0;
        await this.#retryQuarantined();
        if (!hasMore) await this.#pace.gather(this.#idleMs());
      } catch (error) {
        this.#attempts += 1;
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#attempts === 1)
          this.#options.log.warn({ reason }, 'usage could not be reported; it is kept and sent again');
        await this.#pace.pause(
          Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(this.#attempts, 10)),
        );
      }
    }
  }

  /** Time in ms until quarantined charges are sent again; undefined if there are none. */
  #idleMs(): number | undefined {
    if (this.#options.journal.state.quarantined.size === 0) return undefined;
    return Math.max(0, this.#nextQuarantineRetryAt - performance.now());
  }

  /** Sends one batch. Returns whether the next one may be sent at once. */
  async #reportOnce(): Promise<boolean> {
    const expected = this.#waiting;
    this.#batch ??= await this.#nextBatch();
    // Without this error, and the pause after it, the loop would not let anything else run.
    if (!this.#batch && expected > 0) throw new Error('the journal did not return its unsettled charges');
    if (!this.#batch) return false;
    const { report, pages } = this.#batch;
    this.#pace.sent();
    const answer = await this.#send(report);
    if (answer instanceof ControlError) {
      await this.#isolate(this.#batch, answer);
      this.#batch = undefined;
      return true;
    }
    const last = pages.at(-1);
    if (last) {
      const leases = this.#settledLeases(pages, answer.rejected);
      await this.#options.journal.settle({ seq: lastSeqOf(last), leases });
      this.#options.onSettled(leases);
    }
    this.#batch = undefined;
    this.#size = Math.min(USAGE_BATCH_MAX, this.#size * 2);
    return this.#waiting >= this.#size || this.#options.journal.state.settledSeq < this.#hurriedSeq;
  }

  /** The answer, or the error if the control plane can never read the report. Throws without an answer. */
  async #send(report: UsageReport): Promise<NodeUsageReportAnswer | ControlError> {
    try {
      const answer = await this.#options.reportUsage(report);
      if (answer.rejected.length > 0)
        this.#options.log.error(
          { requestIds: answer.rejected },
          'the control plane rejected charges permanently; compare them with its ledger',
        );
      return answer;
    } catch (error) {
      if (error instanceof ControlError && error.code !== undefined && UNREADABLE.has(error.code))
        return error;
      throw error;
    }
  }

  /** Halves the batch size, or quarantines the only record. Throws if the quarantine is full. */
  async #isolate({ count, pages, free }: Batch, refusal: ControlError): Promise<void> {
    const { journal, log } = this.#options;
    if (count > 1) {
      this.#free.unshift(...free);
      this.#size = Math.floor(count / 2);
      return;
    }
    const [charge] = pages.flatMap((page) => chargesIn(page, journal.state.journalId));
    const fields = { requestId: charge?.requestId ?? free[0]?.requestId, reason: refusal.message };
    if (!charge) {
      this.#dropped += 1;
      return log.error(
        fields,
        'the control plane cannot read the usage record of a free request; it is dropped',
      );
    }
    if (journal.state.quarantined.size >= QUARANTINE_MAX) throw refusal;
    const { seq, leaseId } = charge;
    log.error(
      { ...fields, seq, leaseId },
      'a charge is quarantined and its lease stays open, because the control plane cannot read it: update it',
    );
    await journal.settle({ seq, leases: [], parked: [[seq, charge.text]] });
  }

  /** Sends quarantined charges again from time to time, one per report. Throws if one gets no answer. */
  async #retryQuarantined(): Promise<void> {
    const { journal, onSettled, quarantineRetryMs = QUARANTINE_RETRY_MS } = this.#options;
    if (performance.now() < this.#nextQuarantineRetryAt) return;
    this.#nextQuarantineRetryAt = performance.now() + quarantineRetryMs;
    for (const line of [...journal.state.quarantined.values()]) {
      const charge = chargeOfLine(line, journal.state.journalId);
      const pages = [pageOf([charge])];
      const answer = await this.#send(this.#reportOf(pages, []));
      if (answer instanceof ControlError) continue;
      const leases = this.#settledLeases(pages, answer.rejected);
      await journal.settle({ seq: journal.state.settledSeq, leases, unparked: [charge.seq] });
      onSettled(leases);
    }
  }

  /** The next batch: charges first, then free records up to the limit. Undefined if nothing waits. */
  async #nextBatch(): Promise<Batch | undefined> {
    const pages = await this.#options.journal.unsettled(this.#size);
    const charges = pages.reduce((sum, page) => sum + page.count, 0);
    const free = this.#free.splice(0, this.#size - charges);
    const count = charges + free.length;
    return count === 0 ? undefined : { report: this.#reportOf(pages, free), pages, free, count };
  }

  #reportOf(pages: readonly Page[], free: readonly UsageRecord[]): UsageReport {
    const times = new TimestampFormatter();
    const pieces = pages.map(({ text }) => text);
    for (const usage of free) pieces.push(usageText(usage, undefined, times));
    return { nodeId: this.#nodeId ?? '', batchId: randomUUID(), pieces };
  }

  /** The settled and rejected charges of a report, per lease. */
  #settledLeases(pages: readonly Page[], rejected: readonly string[]): SettledLease[] {
    const leases = new Map<string, { count: number; rejected: number; rejectedSum: bigint }>();
    for (const { leaseId, count } of pages.flatMap(({ runs }) => runs)) {
      const lease = leases.get(leaseId) ?? { count: 0, rejected: 0, rejectedSum: 0n };
      leases.set(leaseId, lease);
      lease.count += count;
    }
    for (const { leaseId, cost } of this.#chargesOfRequests(rejected, pages)) {
      const lease = leases.get(leaseId);
      if (!lease) continue;
      lease.rejected += 1;
      lease.rejectedSum += cost;
    }
    return [...leases].map(([leaseId, lease]) => ({
      ...lease,
      leaseId,
      rejectedSum: String(lease.rejectedSum),
    }));
  }

  /** The charges on these pages that belong to the given requests. */
  #chargesOfRequests(requestIds: readonly string[], pages: readonly Page[]): ChargeRecord[] {
    if (requestIds.length === 0) return [];
    const names = new Set(requestIds);
    const { journalId } = this.#options.journal.state;
    const charges = pages.flatMap((page) => chargesIn(page, journalId));
    return charges.filter(({ requestId }) => names.has(requestId));
  }
}
