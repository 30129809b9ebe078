/**
 * Tells the control plane what was charged, in order and at least once, and what cost nothing, as well as it
 * goes.
 */
import { randomUUID } from 'node:crypto';
import { TimeTexts } from '@gateway/shared/time-texts';
import { USAGE_BATCH_MAX, usageText } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import type { UsageRecord } from '@gateway/shared/records';
import { ControlError } from '../control-error.ts';
import type { ChargeRecord, SettledLease } from './book.ts';
import type { Journal } from './journal.ts';
import { chargeOfLine } from './lines.ts';
import { chargesIn, lastSeqOf, pageOf } from './pages.ts';
import type { Page } from './pages.ts';

/** Records gather for so long before they are sent, in ms, unless they fill a report or a lease waits. */
const GATHER_MS = 200;
const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 1_000;
/** Free records that wait at most; the oldest are dropped and counted. */
const FREE_MAX = 10_000;
/** What the control plane says of a report that it will never understand, however often it is sent. */
const UNREADABLE: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'INVALID']);
/** A control plane that cannot read more charges than this has another fault than a bad record. */
const PARKED_MAX = 100;
/** A newer control plane may read what was parked; so often it is tried, in ms, and at each start. */
const PARKED_AGAIN_MS = 5 * 60_000;

export interface SettlerOptions {
  journal: Pick<Journal, 'unsettled' | 'settle' | 'book'>;
  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer>;
  /** Called when charges are settled, and durably so. */
  onSettled(leases: readonly SettledLease[]): void;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  parkedAgainMs?: number;
}

interface Batch {
  report: UsageReport;
  pages: readonly Page[];
  free: readonly UsageRecord[];
  /** How many records it has. */
  count: number;
}

/**
 * Reports one batch after another; what is not acknowledged is sent again just as it was. A batch that the
 * control plane cannot read is halved until the record is alone that it stumbles over: a charge is parked in
 * the journal, and its lease stays open with its price in it; a free record is dropped. Both are told.
 */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #free: UsageRecord[] = [];
  #dropped = 0;
  /** What was sent and not answered: it is sent again just as it was. */
  #batch: Batch | undefined;
  /** The most records that the next batch may have. */
  #size = USAGE_BATCH_MAX;
  /** When to try what is parked, in ms of the monotonic clock. */
  #parkedAt = 0;
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
    return this.#free.length + (this.#batch?.free.length ?? 0);
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
        const isMore = await this.#reportOnce();
        this.#attempts = 0;
        await this.#tryParked();
        if (!isMore && !this.#hurry) await this.#pause(GATHER_MS);
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

  /** Waits, unless it was stopped meanwhile; `hurry` and `stop` end it. */
  #pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Sends one batch; says whether there is more to send at once. */
  async #reportOnce(): Promise<boolean> {
    this.#batch ??= await this.#nextBatch();
    if (!this.#batch) return false;
    const { report, pages, count } = this.#batch;
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
    // A full report says that there is more.
    const isFull = count >= this.#size;
    this.#size = Math.min(USAGE_BATCH_MAX, this.#size * 2);
    return isFull;
  }

  /** The answer, or why the control plane will never read this report. Throws when there was no answer. */
  async #send(report: UsageReport): Promise<NodeUsageReportAnswer | ControlError> {
    try {
      const answer = await this.#options.reportUsage(report);
      if (answer.rejected.length > 0)
        this.#options.log.error(
          { requestIds: answer.rejected },
          'the control plane rejected charges for good',
        );
      return answer;
    } catch (error) {
      if (error instanceof ControlError && error.code !== undefined && UNREADABLE.has(error.code))
        return error;
      throw error;
    }
  }

  /** Makes the next batch smaller, or puts the one record aside. Throws when too many are already. */
  async #isolate({ count, pages, free }: Batch, refusal: ControlError): Promise<void> {
    const { journal, log } = this.#options;
    if (count > 1) {
      this.#free.unshift(...free);
      this.#size = Math.floor(count / 2);
      return;
    }
    const [charge] = pages.flatMap((page) => chargesIn(page, journal.book.journalId));
    const fields = { requestId: charge?.requestId ?? free[0]?.requestId, reason: refusal.message };
    if (!charge) {
      this.#dropped += 1;
      return log.error(fields, 'the control plane cannot read a record of a free request; it is dropped');
    }
    if (journal.book.parked.size >= PARKED_MAX) throw refusal;
    const { seq, leaseId } = charge;
    log.error(
      { ...fields, seq, leaseId },
      'the control plane cannot read a charge; it is parked, and its lease stays open until it can',
    );
    await journal.settle({ seq, leases: [], parked: [[seq, charge.text]] });
  }

  /** Reports what is parked, one by one, from time to time. One without a verdict holds up no other. */
  async #tryParked(): Promise<void> {
    const { journal, onSettled, parkedAgainMs = PARKED_AGAIN_MS } = this.#options;
    if (performance.now() < this.#parkedAt) return;
    this.#parkedAt = performance.now() + parkedAgainMs;
    for (const line of [...journal.book.parked.values()]) {
      const charge = chargeOfLine(line, journal.book.journalId);
      const pages = [pageOf([charge])];
      const answer = await this.#send(this.#reportOf(pages, []));
      if (answer instanceof ControlError) continue;
      const leases = this.#settledLeases(pages, answer.rejected);
      await journal.settle({ seq: journal.book.settledSeq, leases, unparked: [charge.seq] });
      onSettled(leases);
    }
  }

  /** Charges first; what cost nothing fills the report up. */
  async #nextBatch(): Promise<Batch | undefined> {
    const pages = await this.#options.journal.unsettled(this.#size);
    const charges = pages.reduce((sum, page) => sum + page.count, 0);
    const free = this.#free.splice(0, this.#size - charges);
    const count = charges + free.length;
    return count === 0 ? undefined : { report: this.#reportOf(pages, free), pages, free, count };
  }

  #reportOf(pages: readonly Page[], free: readonly UsageRecord[]): UsageReport {
    const times = new TimeTexts();
    const pieces = pages.map(({ text }) => text);
    for (const usage of free) pieces.push(usageText(usage, undefined, times));
    return { nodeId: this.#nodeId ?? '', batchId: randomUUID(), pieces };
  }

  /** What a report of these charges settled, lease by lease. */
  #settledLeases(pages: readonly Page[], rejected: readonly string[]): SettledLease[] {
    const leases = new Map<string, { count: number; rejected: number; rejectedSum: bigint }>();
    for (const { leaseId, count } of pages.flatMap(({ runs }) => runs)) {
      const lease = leases.get(leaseId) ?? { count: 0, rejected: 0, rejectedSum: 0n };
      leases.set(leaseId, lease);
      lease.count += count;
    }
    for (const { leaseId, cost } of this.#named(rejected, pages)) {
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

  /** The charges of these requests. */
  #named(requestIds: readonly string[], pages: readonly Page[]): ChargeRecord[] {
    if (requestIds.length === 0) return [];
    const names = new Set(requestIds);
    const { journalId } = this.#options.journal.book;
    const charges = pages.flatMap((page) => chargesIn(page, journalId));
    return charges.filter(({ requestId }) => names.has(requestId));
  }
}
