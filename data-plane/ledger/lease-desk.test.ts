/** What a node says of its leases: a few at a time, first what a client waits for, and nothing at its end. */
import { setImmediate as soon } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { emptyBook } from './book.ts';
import type { LedgerEvent } from './events.ts';
import { LeaseDesk } from './lease-desk.ts';
import type { LeaseCaller } from './lease-calls.ts';
import { beginWith, purseFor } from './state.ts';
import type { Purse } from './state.ts';

/** Leases that are given back at once, and questions that are asked again. */
const AT_ONCE = { closed: 32, asked: 8 };
const NO_LEASE = { leaseId: null, granted: '0.00', cash: '0.00', gift: '0.00', deadlineMs: 0 };

/** A desk over a control plane that answers when it is told to. */
class Office {
  readonly said: string[] = [];
  readonly told: LedgerEvent[] = [];
  readonly #state = beginWith(emptyBook('journal_1'));
  readonly #answers: (() => void)[] = [];
  readonly desk: LeaseDesk;

  constructor() {
    const caller: LeaseCaller = {
      journalId: 'journal_1',
      nodeId: 'node_1',
      log: { warn: () => undefined },
      control: {
        closeLease: async ({ leaseId }) => {
          await this.#sayAndWait(leaseId);
          return { ok: true, userErrors: [] };
        },
        requestLease: async ({ walletId }) => {
          await this.#sayAndWait(walletId);
          return { ...NO_LEASE, userErrors: [{ code: 'CONFLICT', message: 'later' }] };
        },
      },
    };
    this.desk = new LeaseDesk({
      caller: () => caller,
      write: async () => undefined,
      purseOf: (leaseId) => (leaseId === 'nobody’s' ? undefined : this.purse(leaseId)),
      tell: (event) => void this.told.push(event),
    });
  }

  /** Of the wallet, or of the wallet that has the lease: here they have one name. */
  purse(name: string): Purse {
    return purseFor(this.#state, { walletId: name, keyId: null });
  }

  close(...leaseIds: string[]): void {
    for (const leaseId of leaseIds) this.desk.close({ type: 'CLOSE', leaseId, count: 0, sum: 0n });
  }

  askAgain(...names: string[]): void {
    const amounts = { want: 1n, need: 1n, waiting: 1n };
    for (const [no, name] of names.entries()) {
      const purse = this.purse(name);
      const sent = { sentAt: { mono: 0, wall: 0 }, attempts: 1, resendAt: null, former: false };
      const request = { no, purseId: purse.id, ...amounts, ...sent };
      this.desk.request({ type: 'REQUEST', request, purse, fresh: false });
    }
  }

  /** Answers what has waited longest for an answer. */
  async answer(): Promise<void> {
    this.#answers.shift()?.();
    await soon();
  }

  #sayAndWait(name: string): Promise<void> {
    this.said.push(name);
    return new Promise((resolve) => void this.#answers.push(resolve));
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `wallet_${at}`);

test('a lease is given back before others where somebody waits for its money', async () => {
  const office = new Office();
  office.close(...names(AT_ONCE.closed), 'nobody’s', 'rich', 'poor');
  expect(office.said).toEqual(names(AT_ONCE.closed));
  office.purse('poor').waiters.push({ id: 1, price: 1n });
  await office.answer();
  expect(office.told).toEqual([{ type: 'CLOSED', leaseId: 'wallet_0' }]);
  await office.answer();
  expect(office.said.slice(AT_ONCE.closed)).toEqual(['poor', 'nobody’s']);
});

test('what is asked again has a place of its own: leases that are given back do not hold it up', async () => {
  const office = new Office();
  office.close(...names(AT_ONCE.closed + 1));
  office.askAgain(...names(AT_ONCE.asked + 1));
  expect(office.said).toEqual([...names(AT_ONCE.closed), ...names(AT_ONCE.asked)]);
});

test('a desk that is stopped says nothing more of what waited for its turn', async () => {
  for (const work of ['close', 'askAgain'] as const) {
    const office = new Office();
    const atOnce = names(work === 'close' ? AT_ONCE.closed : AT_ONCE.asked);
    office[work](...atOnce, 'late');
    office.desk.stop();
    for (const _ of atOnce) await office.answer();
    expect([office.said, office.told.length]).toEqual([atOnce, atOnce.length]);
  }
});
