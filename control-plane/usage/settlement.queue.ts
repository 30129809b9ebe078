/**
 * Settles waiting reports of several nodes together. A report that arrives while no settlement runs is
 * settled at once; the reports that arrive meanwhile share the next transactions.
 */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requestError } from '../graphql/errors.ts';
import { failedGroups } from '../process/metrics.ts';
import type { Report } from './admission.service.ts';
import { settleTogether } from './settlement.group.ts';
import type { ReportAnswer } from './settlement.rules.ts';
import { checkSize, settle } from './settlement.service.ts';

/** Transactions of settlement at the same time. */
export const GROUPS_AT_ONCE = 3;
/** Records in one transaction. Others wait for its locks. */
export const GROUP_RECORDS_MAX = 1000;
/** Reports in one transaction. */
export const GROUP_REPORTS_MAX = 16;
/**
 * Waiting records that are settled beside a running settlement. Fewer wait until it ends: the cost of a
 * transaction is shared by its records.
 */
const GROUP_RECORDS_ENOUGH = 800;
/**
 * Maximum pause between two reports of such a group, in ms. The nodes of a settlement that has just ended
 * report again within some ms of each other: a report that misses their group waits for the next group.
 */
export const NEXT_REPORT_MS = 15;
/**
 * Maximum wait for further reports, in ms: a settlement that waits for a lock must not delay the others. A
 * settlement that has run for longer is no reason to wait.
 */
export const GATHER_MS = 500;
/**
 * Waiting reports of one node id. Each worker of a node has an id of its own and one report under way, which
 * it repeats if it gets no answer in time. The limit bounds the memory that a faulty node takes.
 */
export const NODE_REPORTS_MAX = 64;
/** When a node may repeat a report that is refused because of its other ones, in ms. */
const NODE_RETRY_MS = 1000;

/** A report with the way to answer it. */
interface Waiting {
  report: Report;
  answer: PromiseWithResolvers<ReportAnswer>;
  /** Whether the report has a transaction of its own, because one with others failed. */
  alone: boolean;
  /** When it arrived, in ms of the monotonic clock. */
  since: number;
}

/** The waiting reports of a control plane. */
export class SettlementQueue {
  readonly #em: () => EntityManager;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  /**
   * The transactions that are free, each by a name that chooses the account of its revenue: two that run at
   * the same time do not wait for each other's account.
   */
  readonly #free: string[];
  /**
   * Nodes whose report is being settled. Their further reports wait: a node repeats a report that waits for a
   * lock, and its repetitions must not take the transactions of other nodes.
   */
  readonly #nodes = new Set<string>();
  /** When each running transaction started, in ms of the monotonic clock. */
  readonly #started = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(em: () => EntityManager, now = () => performance.now()) {
    this.#em = em;
    this.#now = now;
    const instance = randomUUID();
    this.#free = Array.from({ length: GROUPS_AT_ONCE }, (_, at) => `${instance}:${at}`);
  }

  /**
   * Settles a report as `settle` does. A report that fails does not affect the others of its group. Throws
   * RATE_LIMITED if too many reports of its node wait: the node sends the report again later.
   */
  async settle(report: Report): Promise<ReportAnswer> {
    checkSize(report);
    this.#checkNumber(report.node.id);
    const answer = Promise.withResolvers<ReportAnswer>();
    this.#waiting.push({ report, answer, alone: false, since: this.#now() });
    this.#start();
    return answer.promise;
  }

  #checkNumber(nodeId: string): void {
    const waiting = this.#waiting.filter(({ report }) => report.node.id === nodeId).length;
    if (waiting < NODE_REPORTS_MAX) return;
    const message = `${NODE_REPORTS_MAX} reports of this node wait. Repeat this one later.`;
    throw requestError('RATE_LIMITED', message, { retryAfterMs: NODE_RETRY_MS });
  }

  /** Starts settlements. Called when a report arrives, when it has waited, and after each settlement. */
  #start(): void {
    clearTimeout(this.#timer);
    while (this.#free.length > 0) {
      const next = nextGroup(this.#waiting, this.#nodes);
      if (next.group.length === 0) return;
      const pause = this.#pause(next);
      if (pause > 0) {
        this.#timer = setTimeout(() => this.#start(), pause);
        return;
      }
      this.#waiting = next.others;
      void this.#run(next.group, this.#free.pop() ?? '');
    }
  }

  /** Time that the next group waits for further reports, in ms. */
  #pause({ group, others }: NextGroup<Waiting>): number {
    if (this.#started.size === 0 || group[0]?.alone) return 0;
    const records = group.reduce((sum, { report }) => sum + report.records.length, 0);
    const nodes = new Set([...this.#nodes, ...group.map(({ report }) => report.node.id)]);
    const isFull = records >= GROUP_RECORDS_MAX || group.length >= GROUP_REPORTS_MAX;
    if (isFull || others.some(({ report }) => !nodes.has(report.node.id))) return 0;
    const arrivals = group.map(({ since }) => since);
    const until = Math.min(...arrivals, Math.max(...this.#started.values())) + GATHER_MS;
    const soon = records < GROUP_RECORDS_ENOUGH ? Infinity : Math.max(...arrivals) + NEXT_REPORT_MS;
    return Math.max(0, Math.ceil(Math.min(until, soon) - this.#now()));
  }

  /** Settles a group in the transaction, and then starts what waited for it. */
  async #run(group: readonly Waiting[], transaction: string): Promise<void> {
    this.#started.set(transaction, this.#now());
    for (const { report } of group) this.#nodes.add(report.node.id);
    await this.#settleGroup(group, transaction);
    for (const { report } of group) this.#nodes.delete(report.node.id);
    this.#started.delete(transaction);
    this.#free.push(transaction);
    this.#start();
  }

  async #settleGroup(group: readonly Waiting[], transaction: string): Promise<void> {
    const [only] = group;
    if (group.length === 1 && only) return this.#settleAlone(only, transaction);
    try {
      const reports = group.map(({ report }) => report);
      const answers = await settleTogether(this.#em(), reports, transaction);
      for (const [at, answer] of answers.entries()) group[at]?.answer.resolve(answer);
    } catch {
      failedGroups.inc();
      // One of the reports is at fault or waits for a lock, or the database fails: each gets its own answer.
      this.#waiting.unshift(...group.map((waiting) => ({ ...waiting, alone: true })));
    }
  }

  async #settleAlone({ report, answer }: Waiting, transaction: string): Promise<void> {
    try {
      answer.resolve(await settle(this.#em(), report, transaction));
    } catch (error) {
      answer.reject(error);
    }
  }
}

/** The reports of the next transaction, and the remaining ones in their order. */
interface NextGroup<Item> {
  group: Item[];
  others: Item[];
}

/**
 * The first waiting reports, each of another node and without a request of another one, as `settleTogether`
 * demands; the other reports keep their order. Reports of `busy` nodes wait.
 */
export function nextGroup<Item extends { report: Report; alone: boolean }>(
  waiting: readonly Item[],
  busy: ReadonlySet<string> = new Set(),
): NextGroup<Item> {
  const group: Item[] = [];
  const others: Item[] = [];
  const nodes = new Set(busy);
  const requests = new Set<string>();
  let records = 0;
  const joins = ({ report, alone }: Item): boolean =>
    !alone &&
    group[0]?.alone === false &&
    group.length < GROUP_REPORTS_MAX &&
    records + report.records.length <= GROUP_RECORDS_MAX &&
    !report.records.some(({ requestId }) => requests.has(requestId));
  for (const item of waiting) {
    const { node, records: added } = item.report;
    if (!nodes.has(node.id) && (group.length === 0 || joins(item))) {
      group.push(item);
      records += added.length;
      for (const { requestId } of added) requests.add(requestId);
    } else {
      others.push(item);
    }
    // A later report of the node does not overtake an earlier one.
    nodes.add(node.id);
  }
  return { group, others };
}
