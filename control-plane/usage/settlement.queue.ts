/**
 * Settles waiting reports of several nodes together. A report that arrives while few settlements run is
 * settled at once; the reports that arrive meanwhile share the next transaction.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
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

/** A report with the way to answer it. */
interface Waiting {
  report: Report;
  answer: PromiseWithResolvers<ReportAnswer>;
  /** Whether the report has a transaction of its own, because one with others failed. */
  alone: boolean;
}

/** The waiting reports of a control plane. */
export class SettlementQueue {
  readonly #em: () => EntityManager;
  #waiting: Waiting[] = [];
  #running = 0;
  /**
   * Nodes whose report is being settled. Their further reports wait: a node repeats a report that waits for a
   * lock, and its repetitions must not take the transactions of other nodes.
   */
  readonly #nodes = new Set<string>();

  constructor(em: () => EntityManager) {
    this.#em = em;
  }

  /** Settles a report as `settle` does. A report that fails does not affect the others of its group. */
  async settle(report: Report): Promise<ReportAnswer> {
    checkSize(report);
    const answer = Promise.withResolvers<ReportAnswer>();
    this.#waiting.push({ report, answer, alone: false });
    this.#start();
    return answer.promise;
  }

  /** Uses the free transactions. Each takes its first group at once. */
  #start(): void {
    for (let free = GROUPS_AT_ONCE - this.#running; free > 0; free -= 1) void this.#run();
  }

  /** Settles groups until every waiting report is one of a node whose report is being settled. */
  async #run(): Promise<void> {
    this.#running += 1;
    for (let group = this.#take(); group.length > 0; group = this.#take()) {
      await this.#settleGroup(group);
      for (const { report } of group) this.#nodes.delete(report.node.id);
      // The reports of a failed group wait again, each alone, and the first of them may wait for a lock.
      this.#start();
    }
    this.#running -= 1;
  }

  #take(): Waiting[] {
    const { group, others } = nextGroup(this.#waiting, this.#nodes);
    this.#waiting = others;
    for (const { report } of group) this.#nodes.add(report.node.id);
    return group;
  }

  async #settleGroup(group: readonly Waiting[]): Promise<void> {
    const [only] = group;
    if (group.length === 1 && only) return this.#settleAlone(only);
    try {
      const reports = group.map(({ report }) => report);
      const answers = await settleTogether(this.#em(), reports);
      for (const [at, answer] of answers.entries()) group[at]?.answer.resolve(answer);
    } catch {
      failedGroups.inc();
      // One of the reports is at fault or waits for a lock, or the database fails: each gets its own answer.
      this.#waiting.unshift(...group.map((waiting) => ({ ...waiting, alone: true })));
    }
  }

  async #settleAlone({ report, answer }: Waiting): Promise<void> {
    try {
      answer.resolve(await settle(this.#em(), report));
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
