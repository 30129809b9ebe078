/**
 * A small control plane's money in memory, for tests: wallets, leases, settlements, and what must always
 * hold. It follows the rules of the real one to the letter, but keeps plain data only.
 */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { NodeLeaseAnswer, NodeLeaseCloseInput, NodeLeaseRequestInput } from '@gateway/shared/node-api';
import type { NodeUsageRecordInput, NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import { recordsIn } from './records.ts';
import { ControlError } from '../../control-error.ts';
import type { Control } from '../../control.ts';

export interface BankLease {
  walletId: string;
  journalId: string;
  amount: Micros;
  count: number;
  sum: Micros;
  open: boolean;
}

export interface BankOptions {
  /** How long each answer takes, in ms. */
  latencyMs?: number;
  deadlineMs?: number;
  onRecall?(leaseId: string): void;
}

/** Throws whatever `away` holds, as a control plane that is not there. */
export class Bank implements Pick<Control, 'requestLease' | 'closeLease' | 'reportUsage'> {
  readonly balances = new Map<string, Micros>();
  readonly leases = new Map<string, BankLease>();
  readonly charges = new Map<string, { leaseId: string; cost: Micros; seq: string }>();
  readonly free: string[] = [];
  readonly #answers = new Map<string, string>();
  readonly #options: BankOptions;
  away = false;
  /** Request ids in whose presence a report is not understood, as a bad input of the API. */
  readonly unreadable = new Set<string>();
  requests = 0;
  reports = 0;
  onRecall: (leaseId: string) => void;

  constructor(balances: Record<string, Micros>, options: BankOptions = {}) {
    for (const [wallet, balance] of Object.entries(balances)) this.balances.set(wallet, balance);
    this.#options = options;
    this.onRecall = options.onRecall ?? (() => undefined);
  }

  async requestLease(input: NodeLeaseRequestInput): Promise<NodeLeaseAnswer> {
    await this.#travel();
    this.requests += 1;
    const question = `${input.journalId} ${input.requestNo}`;
    const known = this.#answers.get(question);
    if (known) return this.#granted(known);
    const need = parseDollars(input.need) ?? 0n;
    const want = parseDollars(input.want) ?? 0n;
    const balance = this.balances.get(input.walletId) ?? 0n;
    if (balance < need) return this.#refused(input.walletId);
    const waiting = parseDollars(input.waiting) ?? 0n;
    const part = balance < need * 50n ? need : balance / 10n;
    const most = [want, balance, part > waiting ? part : waiting].reduce((one, other) =>
      one < other ? one : other,
    );
    const amount = most - (most % need);
    const leaseId = `lease_${this.leases.size + 1}`;
    this.balances.set(input.walletId, balance - amount);
    const { walletId, journalId } = input;
    this.leases.set(leaseId, { walletId, journalId, amount, count: 0, sum: 0n, open: true });
    this.#answers.set(question, leaseId);
    return this.#granted(leaseId);
  }

  async closeLease(input: NodeLeaseCloseInput): ReturnType<Control['closeLease']> {
    await this.#travel();
    const lease = this.leases.get(input.leaseId);
    if (lease?.journalId !== input.journalId)
      return { ok: false, userErrors: [{ code: 'NOT_FOUND', message: 'no such lease' }] };
    if (lease.open && (lease.count !== input.count || lease.sum !== parseDollars(input.sum)))
      return { ok: false, userErrors: [{ code: 'CONFLICT', message: 'not settled yet' }] };
    if (lease.open)
      this.balances.set(lease.walletId, (this.balances.get(lease.walletId) ?? 0n) + lease.amount - lease.sum);
    lease.open = false;
    return { ok: true, userErrors: [] };
  }

  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer> {
    return this.takeUsage(recordsIn(report));
  }

  /** The same with the records as the API has them. */
  async takeUsage(records: readonly NodeUsageRecordInput[]): Promise<NodeUsageReportAnswer> {
    await this.#travel();
    this.reports += 1;
    if (records.some(({ requestId }) => this.unreadable.has(requestId)))
      throw new ControlError('nodeUsageReport got no answer: bad input', 'BAD_USER_INPUT', undefined);
    let duplicates = 0;
    for (const { requestId, leaseId, seq, cost } of records) {
      if (leaseId === undefined || seq === undefined) {
        this.free.push(requestId);
      } else if (this.charges.has(requestId)) {
        duplicates += 1;
      } else {
        const lease = this.leases.get(leaseId);
        if (!lease?.open) throw new Error(`a charge came for ${leaseId}, which is not open`);
        lease.count += 1;
        lease.sum += parseDollars(cost) ?? 0n;
        this.charges.set(requestId, { leaseId, cost: parseDollars(cost) ?? 0n, seq });
        if (lease.sum > lease.amount) throw new Error(`${leaseId} is overspent`);
      }
    }
    return { accepted: records.length - duplicates, duplicates, rejected: [], userErrors: [] };
  }

  /** Everything a wallet ever had is in its balance, in its open leases, or spent. */
  total(walletId: string): Micros {
    let sum = this.balances.get(walletId) ?? 0n;
    for (const lease of this.leases.values()) {
      if (lease.walletId === walletId) sum += lease.open ? lease.amount : lease.sum;
    }
    return sum;
  }

  get openLeases(): number {
    return [...this.leases.values()].filter((lease) => lease.open).length;
  }

  #granted(leaseId: string): NodeLeaseAnswer {
    const granted = formatDollars(this.leases.get(leaseId)?.amount ?? 0n);
    const deadlineMs = this.#options.deadlineMs ?? 86_400_000;
    return { leaseId, granted, cash: granted, gift: '0.00', deadlineMs, userErrors: [] };
  }

  #refused(walletId: string): NodeLeaseAnswer {
    const open = [...this.leases].filter(([, lease]) => lease.walletId === walletId && lease.open);
    for (const [id] of open) this.onRecall(id);
    const code = open.length > 0 ? 'CONFLICT' : 'INSUFFICIENT_BALANCE';
    return {
      leaseId: null,
      granted: '0.00',
      cash: '0.00',
      gift: '0.00',
      deadlineMs: 0,
      userErrors: [{ code, message: code }],
    };
  }

  async #travel(): Promise<void> {
    if (this.#options.latencyMs !== undefined) {
      await new Promise((resolve) => {
        setTimeout(resolve, this.#options.latencyMs);
      });
    }
    if (this.away) throw new Error('the control plane is away');
  }
}
