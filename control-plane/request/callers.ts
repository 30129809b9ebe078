/** Finds out who the sender of a request is, as limits see it, and remembers where verified callers are. */
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import { KNOWN_NETWORK_MS, KNOWN_NETWORKS } from '../limits.ts';
import type { Rank } from '../limits.ts';
import { networkOf } from '../process/network.ts';
import type { Identity } from './identify.ts';
import type { Claimant } from './shares.ts';

/** Parts of the application that identify callers. */
interface CallerParts {
  /** The sender of a request. Rejects with UNAUTHENTICATED for an unknown bearer token. */
  callerOf(request: IncomingMessage): Promise<Identity>;
  /** The client's address behind trusted proxies. */
  addressOf(request: IncomingMessage): string | null;
}

/** Identifies callers by the headers of their requests. */
export class Callers {
  readonly #parts: CallerParts;
  readonly #known = new Map<string, { rank: Rank; at: number }>();

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  /** The sender of the request. Senders with an invalid credential are anonymous. */
  async of(request: IncomingMessage): Promise<Claimant> {
    try {
      return this.verified(await this.#parts.callerOf(request), this.#parts.addressOf(request));
    } catch (error) {
      // The operation itself answers UNAUTHENTICATED.
      if (error instanceof GraphQLError) return anonymousAt(this.#parts.addressOf(request));
      throw error;
    }
  }

  /** The caller of this identity. A verified one raises the rank of its network. */
  verified(identity: Identity, ip: string | null): Claimant {
    const claimant = claimantOf(identity, ip);
    if (claimant.rank === 'anonymous') return claimant;
    const network = networkOf(ip);
    const rank = highest(claimant.rank, this.rankOf(network));
    this.#known.delete(network);
    this.#known.set(network, { rank, at: performance.now() });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_NETWORKS && oldest !== undefined) this.#known.delete(oldest);
    return claimant;
  }

  /** The highest rank that was verified in the network lately. */
  rankOf(network: string): Rank {
    const known = this.#known.get(network);
    return known && performance.now() - known.at < KNOWN_NETWORK_MS ? known.rank : 'anonymous';
  }
}

/** A caller without a verified credential, counted by its network. */
export function anonymousAt(ip: string | null): Claimant {
  return { rank: 'anonymous', name: networkOf(ip) };
}

/** The caller of this identity at this address. */
export function claimantOf({ node, viewer }: Identity, ip: string | null): Claimant {
  if (node) return { rank: 'node', name: node.id };
  if (!viewer) return anonymousAt(ip);
  return { rank: viewer.role === 'ADMIN' ? 'admin' : 'user', name: viewer.id };
}

const RANKS: readonly Rank[] = ['anonymous', 'user', 'admin', 'node'];

function highest(one: Rank, other: Rank): Rank {
  return RANKS.indexOf(one) > RANKS.indexOf(other) ? one : other;
}
