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
/** Maximum wait for further reports, in ms: a settlement that waits for a lock must not delay the others. */
const GATHER_MS = 500;
/**
 * Waiting reports of one node. A node has one report under way for each worker, and repeats a report that
 * gets no answer in time. The limit bounds the memory that a faulty node takes.
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
  /** When it arrived, on the clock of `performance.now()`. */
  since: number;
}

/** The waiting reports of a control plane. */
export class SettlementQueue {
  readonly #em: () => EntityManager;
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
  #timer: NodeJS.Timeout | undefined;

  constructor(em: () => EntityManager) {
    this.#em = em;
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
    this.#waiting.push({ report, answer, alone: false, since: performance.now() });
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
    for (let pause = this.#pause(); pause !== undefined; pause = this.#pause()) {
      if (pause > 0) {
        this.#timer = setTimeout(() => this.#start(), pause);
        return;
      }
      void this.#run(this.#take(), this.#free.pop() ?? '');
    }
  }

  /** Time until the next settlement may start, in ms; undefined if another one has to end before. */
  #pause(): number | undefined {
    const ready = this.#waiting.filter(({ report }) => !this.#nodes.has(report.node.id));
    if (ready.length === 0 || this.#free.length === 0) return undefined;
    const records = ready.reduce((sum, { report }) => sum + report.records.length, 0);
    const isAlone = this.#free.length === GROUPS_AT_ONCE;
    if (isAlone || records >= GROUP_RECORDS_ENOUGH || ready.some(({ alone }) => alone)) return 0;
    const first = Math.min(...ready.map(({ since }) => since));
    return Math.max(0, Math.ceil(first + GATHER_MS - performance.now()));
  }

  #take(): Waiting[] {
    const { group, others } = nextGroup(this.#waiting, this.#nodes);
    this.#waiting = others;
    for (const { report } of group) this.#nodes.add(report.node.id);
    return group;
  }

  /** Settles a group in the transaction, and then starts what waited for it. */
  async #run(group: readonly Waiting[], transaction: string): Promise<void> {
    await this.#settleGroup(group, transaction);
    for (const { report } of group) this.#nodes.delete(report.node.id);
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

/**
 * The first waiting reports, each of another node and without a request of another one, as `settleTogether`
 * demands; the other reports keep their order. Reports of `busy` nodes wait.
 */
export function nextGroup<Item extends { report: Report; alone: boolean }>(
  waiting: readonly Item[],
  busy: ReadonlySet<string> = new Set(),
): { group: Item[]; others: Item[] } {
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
