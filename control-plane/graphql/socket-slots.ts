/** The WebSockets of a listener, counted for the callers that hold them. */
import { SOCKETS } from '../limits.ts';
import { Shares } from '../request/shares.ts';
import type { Claimant } from '../request/shares.ts';

/** The place of one socket. */
export interface SocketSlot {
  /** The caller for whom the socket is counted. */
  readonly claimant: Claimant;
  /** Counts the socket for another caller, e.g. after connection_init. False if that caller has too many. */
  moveTo(claimant: Claimant): boolean;
  release(): void;
}

/** Hands out slots. */
export class SocketSlots {
  readonly #shares = new Shares(SOCKETS);

  /** A slot for a new socket; null if the caller has as many as it may open. */
  take(first: Claimant): SocketSlot | null {
    let claimant = first;
    let giveBack = this.#shares.take(first);
    if (!giveBack) return null;
    let isReleased = false;
    return {
      get claimant() {
        return claimant;
      },
      moveTo: (next) => {
        if (next.rank === claimant.rank && next.name === claimant.name) return true;
        const taken = isReleased ? null : this.#shares.take(next);
        if (!taken) return false;
        giveBack?.();
        giveBack = taken;
        claimant = next;
        return true;
      },
      release: () => {
        isReleased = true;
        giveBack?.();
        giveBack = null;
      },
    };
  }
}
