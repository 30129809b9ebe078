/**
 * An in-memory double of the control plane's ledger for tests: wallets, leases and settlements by the rules
 * of the real control plane. Throws if a charge would break one of them.
 */
import type { NodeLeaseAnswer, NodeLeaseCloseInput, NodeLeaseRequestInput } from '@gateway/shared/lease-api';
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { NodeUsageRecordInput, NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import { recordsIn } from './records.ts';
import { ControlError } from '../../data-plane/control/error.ts';
import type { Control } from '../../data-plane/control/client.ts';

interface DoubleLease {
  walletId: string;
  journalId: string;
  amount: Micros;
  count: number;
  sum: Micros;
  open: boolean;
}

interface ControlDoubleOptions {
  /** Delay of each answer, in ms. */
  latencyMs?: number;
  deadlineMs?: number;
  onRecall?(leaseId: string): void;
}

/** Rejects every call while `away` is true. */
export class ControlDouble implements Pick<Control, 'requestLease' | 'closeLease' | 'reportUsage'> {
  readonly balances = new Map<string, Micros>();
  readonly leases = new Map<string, DoubleLease>();
  readonly charges = new Map<string, { leaseId: string; cost: Micros; seq: string }>();
  readonly free: string[] = [];
  readonly #answers = new Map<string, string>();
  readonly #options: ControlDoubleOptions;
  away = false;
  /** Request ids that make a report fail with BAD_USER_INPUT. */
  readonly unreadable = new Set<string>();
  requests = 0;
  reports = 0;
  onRecall: (leaseId: string) => void;

  constructor(balances: Record<string, Micros>, options: ControlDoubleOptions = {}) {
    for (const [wallet, balance] of Object.entries(balances)) this.balances.set(wallet, balance);
    this.#options = options;
    this.onRecall = options.onRecall ?? (() => undefined);
  }

  async requestLease(input: NodeLeaseRequestInput): Promise<NodeLeaseAnswer> {
    await this.#respond();
    this.requests += 1;
    const requestKey = `${input.journalId} ${input.requestNo}`;
    const known = this.#answers.get(requestKey);
    if (known) return this.#granted(known);
    const need = parseDollars(input.need) ?? 0n;
    const want = parseDollars(input.want) ?? 0n;
    const balance = this.balances.get(input.walletId) ?? 0n;
    if (balance < need) return this.#refused(input.walletId);
    const waiting = parseDollars(input.waiting) ?? 0n;
    const share = balance < need * 50n ? need : balance / 10n;
    const most = [want, balance, share > waiting ? share : waiting].reduce((one, other) =>
      one < other ? one : other,
    );
    const amount = most - (most % need);
    const leaseId = `lease_${this.leases.size + 1}`;
    this.balances.set(input.walletId, balance - amount);
    const { walletId, journalId } = input;
    this.leases.set(leaseId, { walletId, journalId, amount, count: 0, sum: 0n, open: true });
    this.#answers.set(requestKey, leaseId);
    return this.#granted(leaseId);
  }

  async closeLease(input: NodeLeaseCloseInput): ReturnType<Control['closeLease']> {
    await this.#respond();
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

  /** Settles usage records in the form of the API. */
  async takeUsage(records: readonly NodeUsageRecordInput[]): Promise<NodeUsageReportAnswer> {
    await this.#respond();
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
        if (!lease?.open) throw new Error(`got a charge for ${leaseId}, which is not open`);
        lease.count += 1;
        lease.sum += parseDollars(cost) ?? 0n;
        this.charges.set(requestId, { leaseId, cost: parseDollars(cost) ?? 0n, seq });
        if (lease.sum > lease.amount) throw new Error(`${leaseId} is overspent`);
      }
    }
    return { accepted: records.length - duplicates, duplicates, rejected: [], userErrors: [] };
  }

  /** Balance, open leases and spending of a wallet together: always the amount that it started with. */
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

  async #respond(): Promise<void> {
    if (this.#options.latencyMs !== undefined) {
      await new Promise((resolve) => {
        setTimeout(resolve, this.#options.latencyMs);
      });
    }
    if (this.away) throw new Error('the control plane is away');
  }
}
