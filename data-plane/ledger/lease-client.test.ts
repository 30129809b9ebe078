/** The lease client: its limits, and which messages it sends first. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { emptyJournalState } from './journal-state.ts';
import type { LedgerEvent } from './events.ts';
import { LeaseClient } from './lease-client.ts';
import type { LeaseRequestContext } from './lease-requests.ts';
import { budgetFor, initialLedgerState } from './state.ts';
import type { WalletBudget } from './state.ts';

/** Maximum number of close messages and of resent requests under way. */
const CONCURRENCY = { closes: 32, resends: 8 };
const NO_LEASE = { leaseId: null, granted: '0.00', cash: '0.00', gift: '0.00', deadlineMs: 0 };

/** A lease client over a control plane that answers when `answer` is called. */
class ClientUnderTest {
  readonly sent: string[] = [];
  readonly events: LedgerEvent[] = [];
  readonly #state = initialLedgerState(emptyJournalState('journal_1'));
  readonly #answers: (() => void)[] = [];
  readonly client: LeaseClient;

  constructor() {
    const context: LeaseRequestContext = {
      journalId: 'journal_1',
      nodeId: 'node_1',
      log: { warn: () => undefined },
      control: {
        closeLease: async ({ leaseId }) => {
          await this.#receive(leaseId);
          return { ok: true, userErrors: [] };
        },
        requestLease: async ({ walletId }) => {
          await this.#receive(walletId);
          return { ...NO_LEASE, userErrors: [{ code: 'CONFLICT', message: 'later' }] };
        },
      },
    };
    this.client = new LeaseClient({
      context: () => context,
      write: async () => undefined,
      budgetOf: (leaseId) => (leaseId === 'unknown' ? undefined : this.budget(leaseId)),
      dispatch: (event) => void this.events.push(event),
    });
  }

  /** The budget of a wallet. Here a wallet and its lease have the same name. */
  budget(name: string): WalletBudget {
    return budgetFor(this.#state, { walletId: name, keyId: null });
  }

  close(...leaseIds: string[]): void {
    for (const leaseId of leaseIds) this.client.close({ type: 'CLOSE', leaseId, count: 0, sum: 0n });
  }

  resend(...names: string[]): void {
    const amounts = { want: 1n, need: 1n, waiting: 1n };
    const sent = { sentAt: { mono: 0, wall: 0 }, attempts: 1, resendAt: null, fromEarlierProcess: false };
    for (const [no, name] of names.entries()) {
      const budget = this.budget(name);
      const request = { no, budgetId: budget.id, ...amounts, ...sent };
      this.client.request({ type: 'REQUEST', request, budget, isNew: false });
    }
  }

  /** Answers the oldest message that is under way. */
  async answer(): Promise<void> {
    this.#answers.shift()?.();
    await nextTurn();
  }

  #receive(name: string): Promise<void> {
    this.sent.push(name);
    return new Promise((resolve) => void this.#answers.push(resolve));
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `wallet_${at}`);

describe('the lease client', () => {
  it('first closes leases of wallets for which a client waits', async () => {
    const setup = new ClientUnderTest();
    setup.close(...names(CONCURRENCY.closes), 'unknown', 'rich', 'poor');
    expect(setup.sent).toEqual(names(CONCURRENCY.closes));
    setup.budget('poor').waiters.push({ id: 1, price: 1n });
    await setup.answer();
    expect(setup.events).toEqual([{ type: 'CLOSED', leaseId: 'wallet_0' }]);
    await setup.answer();
    expect(setup.sent.slice(CONCURRENCY.closes)).toEqual(['poor', 'unknown']);
  });

  it('resends requests in slots of their own, so that close messages do not delay them', async () => {
    const setup = new ClientUnderTest();
    setup.close(...names(CONCURRENCY.closes + 1));
    setup.resend(...names(CONCURRENCY.resends + 1));
    expect(setup.sent).toEqual([...names(CONCURRENCY.closes), ...names(CONCURRENCY.resends)]);
  });

  it('discards queued messages when it is stopped', async () => {
    for (const action of ['close', 'resend'] as const) {
      const setup = new ClientUnderTest();
      const first = names(action === 'close' ? CONCURRENCY.closes : CONCURRENCY.resends);
      setup[action](...first, 'late');
      setup.client.stop();
      for (const _ of first) await setup.answer();
      expect([setup.sent, setup.events.length]).toEqual([first, first.length]);
    }
  });
});
