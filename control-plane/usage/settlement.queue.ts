/**
 * Settles waiting reports of several nodes together. A report that arrives while few settlements run is
 * settled at once; the reports that arrive meanwhile share the next transaction.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Report } from './admission.service.ts';
import { settleTogether } from './settlement.group.ts';
import type { ReportAnswer } from './settlement.rules.ts';
import { checkSize, settle } from './settlement.service.ts';

/** Transactions of settlement at the same time. */
export const GROUPS_AT_ONCE = 3;
/** Records in one transaction, unless a single report has more. Others wait for its locks. */
export const GROUP_RECORDS_MAX = 1000;
/** Reports in one transaction. */
export const GROUP_REPORTS_MAX = 16;

/** A report with the way to answer it. */
interface Waiting {
  report: Report;
  answer: PromiseWithResolvers<ReportAnswer>;
}

/** The waiting reports of a control plane. */
export class SettlementQueue {
  readonly #em: () => EntityManager;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(em: () => EntityManager) {
    this.#em = em;
  }

  /** Settles a report as `settle` does. A report that fails does not affect the others of its group. */
  async settle(report: Report): Promise<ReportAnswer> {
    checkSize(report);
    const answer = Promise.withResolvers<ReportAnswer>();
    this.#waiting.push({ report, answer });
    if (this.#running < GROUPS_AT_ONCE) void this.#run();
    return answer.promise;
  }

  /** Settles groups until no report waits. */
  async #run(): Promise<void> {
    this.#running += 1;
    while (this.#waiting.length > 0) {
      const { group, others } = nextGroup(this.#waiting);
      this.#waiting = others;
      await this.#settleGroup(group);
    }
    this.#running -= 1;
  }

  async #settleGroup(group: readonly Waiting[]): Promise<void> {
    if (group.length > 1) {
      try {
        const answers = await settleTogether(
          this.#em(),
          group.map(({ report }) => report),
        );
        for (const [at, answer] of answers.entries()) group[at]?.answer.resolve(answer);
        return;
      } catch {
        // One of the reports is at fault, or the database: each report gets its own answer.
      }
    }
    for (const waiting of group) await this.#settleAlone(waiting);
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
 * demands; the other reports keep their order.
 */
export function nextGroup<Item extends { report: Report }>(
  waiting: readonly Item[],
): { group: Item[]; others: Item[] } {
  const group: Item[] = [];
  const others: Item[] = [];
  const nodes = new Set<string>();
  const requests = new Set<string>();
  let records = 0;
  for (const item of waiting) {
    const { node, records: added } = item.report;
    const fits =
      group.length < GROUP_REPORTS_MAX && records + added.length <= GROUP_RECORDS_MAX && !nodes.has(node.id);
    if (group.length > 0 && (!fits || added.some(({ requestId }) => requests.has(requestId)))) {
      others.push(item);
    } else {
      group.push(item);
      records += added.length;
      for (const { requestId } of added) requests.add(requestId);
    }
    // A later report of the node does not overtake an earlier one.
    nodes.add(node.id);
  }
  return { group, others };
}
