/** Limits what an address may take without a valid key: connections, and failed authentications. */
import type { Server, Socket } from 'node:net';
import { GatewayError } from '@gateway/shared/failures';
import type { RefusedWork } from '@gateway/shared/refused-work';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import { isListed, networkOf, plainAddress } from './addresses.ts';
import {
  COUNTED_ADDRESSES,
  FAILED_KEYS_PER_MINUTE,
  KNOWN_ADDRESSES,
  KNOWN_ADDRESS_MS,
  KNOWN_RESERVE,
  STRANGERS_MAX,
  STRANGERS_PER_ADDRESS,
} from '../limits.ts';

const MINUTE_MS = 60_000;

interface StrangersOptions {
  /** A monotonic clock in ms. */
  now: () => number;
  trustedProxies: readonly string[];
  /** Workers of a node share its limits. By default the node is one process. */
  worker?: Worker;
}

/** The connections without a valid key by address, and the failed authentications of the last minute. */
export class Strangers {
  readonly #options: StrangersOptions;
  /** The network of each connection that has not sent a valid key. */
  readonly #sockets = new Map<Socket, string>();
  readonly #connections = new Map<string, number>();
  /** The network of each connection whose peer is known. */
  readonly #networks = new WeakMap<Socket, { network: string | undefined }>();
  readonly #failed = new Map<string, number>();
  /** When a valid key last came from a network, the oldest first. */
  readonly #known = new Map<string, number>();
  #windowStart = 0;

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** Counts the connections of this server, and closes those above the limits and those of a penalty. */
  watch(server: Server, penalties: Pick<RefusedWork, 'admits'>): void {
    server.on('connection', (socket: Socket) => {
      const network = this.networkOf(socket);
      if (network === undefined) return;
      if (!penalties.admits(network, this.#isKnown(network))) return void socket.destroy();
      const count = (this.#connections.get(network) ?? 0) + 1;
      const most = this.#part(STRANGERS_MAX) + (this.#isKnown(network) ? this.#part(KNOWN_RESERVE) : 0);
      if (count > this.#part(STRANGERS_PER_ADDRESS) || this.#sockets.size >= most)
        return void socket.destroy();
      this.#connections.set(network, count);
      this.#sockets.set(socket, network);
      // Not `once`, which keeps three more objects for each connection.
      socket.on('close', () => this.#forget(socket));
    });
  }

  /** No longer counts this connection, because it sent a valid key. Its address is known from now on. */
  identified(socket: Socket): void {
    this.#forget(socket);
    const network = this.networkOf(socket);
    if (network === undefined) return;
    this.#known.delete(network);
    this.#known.set(network, this.#options.now());
    if (this.#known.size <= KNOWN_ADDRESSES) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  #part(limit: number): number {
    return partOf(limit, this.#options.worker ?? ONLY_WORKER);
  }

  /** The network of the peer; undefined for a trusted proxy. It is found once for each connection. */
  networkOf(socket: Socket): string | undefined {
    const found = this.#networks.get(socket);
    if (found) return found.network;
    const address = plainAddress(socket.remoteAddress ?? '');
    const network = isListed(address, this.#options.trustedProxies) ? undefined : networkOf(address);
    if (socket.remoteAddress !== undefined) this.#networks.set(socket, { network });
    return network;
  }

  #isKnown(network: string): boolean {
    const since = this.#known.get(network);
    return since !== undefined && this.#options.now() - since < KNOWN_ADDRESS_MS;
  }

  #forget(socket: Socket): void {
    const network = this.#sockets.get(socket);
    if (network === undefined) return;
    this.#sockets.delete(socket);
    const count = (this.#connections.get(network) ?? 0) - 1;
    if (count > 0) this.#connections.set(network, count);
    else this.#connections.delete(network);
  }

  /** Counts a failed authentication. The failure to answer with: the given one, or `rate_limited`. */
  failed(address: string, failure: GatewayError): GatewayError {
    const now = this.#options.now();
    if (now - this.#windowStart >= MINUTE_MS) {
      this.#windowStart = now;
      this.#failed.clear();
    }
    const network = networkOf(address);
    const count = (this.#failed.get(network) ?? 0) + 1;
    if (count === 1) this.#forgetOldest();
    this.#failed.set(network, count);
    if (count <= this.#part(FAILED_KEYS_PER_MINUTE)) return failure;
    return new GatewayError(
      'rate_limited',
      'Too many requests without a valid API key came from this address. Check the key, then wait.',
      { retryAfterMs: this.#windowStart + MINUTE_MS - now },
    );
  }

  #forgetOldest(): void {
    if (this.#failed.size < COUNTED_ADDRESSES) return;
    const [oldest] = this.#failed.keys();
    if (oldest !== undefined) this.#failed.delete(oldest);
  }
}
