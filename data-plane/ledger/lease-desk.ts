/** Where the money rules have leases asked for and given back: in their turn, and what comes of it told. */
import type { NoteRecord } from './book.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';
import { askForLease, closeLease } from './lease-calls.ts';
import type { LeaseCaller } from './lease-calls.ts';
import type { Purse } from './state.ts';
import { Turns } from './turns.ts';

/** Questions that are asked again, and leases that are given back, at once. */
const AT_ONCE = { asked: 8, closed: 32 };
/** What comes of saying something in vain. */
const IN_VAIN: ReadonlySet<LedgerEvent['type']> = new Set(['UNANSWERED', 'NOT_CLOSED']);

/** What the desk works with. */
export interface DeskParts {
  caller(): LeaseCaller;
  /** Writes durably that a question is going to be asked. Rejects when the journal does not take it. */
  write(record: NoteRecord): Promise<void>;
  /** Whose lease it is; undefined where it is nobody's. */
  purseOf(leaseId: string): Purse | undefined;
  /** Told what came of it. */
  tell(event: LedgerEvent): void;
}

/** A client's question is asked at once; what was asked in vain, and what is given back, waits its turn. */
export class LeaseDesk {
  readonly #parts: DeskParts;
  readonly #asking = new Turns(AT_ONCE.asked);
  readonly #closing = new Turns(AT_ONCE.closed);

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Asks for a lease. */
  request(effect: Extract<LedgerEffect, { type: 'REQUEST' }>): void {
    if (effect.fresh) void this.#requestFirst(effect);
    else this.#inTurn(this.#asking, effect.purse, () => askForLease(this.#parts.caller(), effect));
  }

  /** Gives a lease back. */
  close(effect: Extract<LedgerEffect, { type: 'CLOSE' }>): void {
    const purse = this.#parts.purseOf(effect.leaseId);
    this.#inTurn(this.#closing, purse, () => closeLease(this.#parts.caller(), effect));
  }

  /** Says nothing more that waits for its turn. */
  stop(): void {
    this.#asking.stop();
    this.#closing.stop();
  }

  async #requestFirst(effect: Extract<LedgerEffect, { type: 'REQUEST' }>): Promise<void> {
    const { caller, write, tell } = this.#parts;
    const { no, want, need } = effect.request;
    const { walletId, keyId } = effect.purse;
    const asked = { no, walletId, keyId, want: String(want), need: String(need) };
    try {
      await write({ type: 'requested', ...asked });
    } catch {
      return tell({ type: 'UNSENT', no });
    }
    tell(await askForLease(caller(), effect));
  }

  #inTurn(turns: Turns, purse: Purse | undefined, send: () => Promise<LedgerEvent>): void {
    turns.add({
      isWaitedFor: () => purse !== undefined && purse.waiters.length > 0,
      say: async () => {
        const event = await send();
        this.#parts.tell(event);
        return !IN_VAIN.has(event.type);
      },
    });
  }
}
