/** Limits the idle connections of one wallet. */
import type { Socket } from 'node:net';
import { CONNECTIONS_PER_WALLET } from '../limits.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import { isListed, plainAddress } from './addresses.ts';

/** Counts connections by the wallet whose key they sent last. */
export class WalletConnections {
  readonly #trustedProxies: readonly string[];
  readonly #limit: number;
  readonly #wallets = new WeakMap<Socket, string>();
  readonly #counts = new Map<string, number>();

  /** Workers of a node share its limit. */
  constructor(trustedProxies: readonly string[], worker: Worker = ONLY_WORKER) {
    this.#trustedProxies = trustedProxies;
    this.#limit = partOf(CONNECTIONS_PER_WALLET, worker);
  }

  /**
   * Counts the connection for the wallet until it closes. False if the wallet has too many: then the
   * connection must be closed after the answer. Proxies share connections, so theirs do not count.
   */
  belongs(socket: Socket, walletId: string): boolean {
    const known = this.#wallets.get(socket);
    if (known !== walletId) {
      if (isListed(plainAddress(socket.remoteAddress ?? ''), this.#trustedProxies)) return true;
      // Not `once`, which keeps three more objects for each connection.
      if (known === undefined) socket.on('close', () => this.#remove(this.#wallets.get(socket)));
      else this.#remove(known);
      this.#wallets.set(socket, walletId);
      this.#counts.set(walletId, (this.#counts.get(walletId) ?? 0) + 1);
    }
    return (this.#counts.get(walletId) ?? 0) <= this.#limit;
  }

  /** The wallet whose key the connection sent last; undefined without one, and for proxies. */
  walletOf(socket: Socket): string | undefined {
    return this.#wallets.get(socket);
  }

  #remove(walletId = ''): void {
    const count = (this.#counts.get(walletId) ?? 0) - 1;
    if (count > 0) this.#counts.set(walletId, count);
    else this.#counts.delete(walletId);
  }
}
