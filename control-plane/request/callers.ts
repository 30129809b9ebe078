/** Finds out who the sender of a request is, as limits see it, and remembers where verified callers are. */
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import { digestOf } from '@gateway/shared/secrets';
import { KNOWN_CREDENTIAL_MS, KNOWN_CREDENTIALS, KNOWN_NETWORK_MS, KNOWN_NETWORKS } from '../limits.ts';
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
  /** The token that identifies the sender, which is not verified; null without one. */
  credentialOf(request: IncomingMessage): string | null;
}

/** Identifies callers by the headers of their requests. */
export class Callers {
  readonly #parts: CallerParts;
  /** The networks of verified callers; the one that was not seen for longest first. */
  readonly #known = new Map<string, { rank: Rank; at: number }>();
  /** Verified callers by the digest of their token; the one that was not seen for longest first. */
  readonly #verified = new Map<string, { claimant: Claimant; at: number }>();

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  /** The sender of the request. Senders with an invalid credential are anonymous. */
  async of(request: IncomingMessage): Promise<Claimant> {
    try {
      const claimant = this.verified(await this.#parts.callerOf(request), this.#parts.addressOf(request));
      if (claimant.rank !== 'anonymous') this.#remember(request, claimant);
      return claimant;
    } catch (error) {
      // The operation itself answers UNAUTHENTICATED.
      if (error instanceof GraphQLError) return this.#anonymousAt(this.#parts.addressOf(request));
      throw error;
    }
  }

  /** The caller of this identity. A verified one raises the rank of its network. */
  verified(identity: Identity, ip: string | null): Claimant {
    const claimant = claimantOf(identity, ip);
    if (claimant.rank === 'anonymous') return this.#anonymousAt(ip);
    const network = networkOf(ip);
    const rank = highest(claimant.rank, this.rankOf(network));
    setNewest(this.#known, [network, { rank, at: performance.now() }], KNOWN_NETWORKS);
    return claimant;
  }

  /**
   * The account or node whose token the request has, if the token was valid within KNOWN_CREDENTIAL_MS. It
   * asks no database, and grants nothing: the token may have been revoked since then.
   */
  recentlyVerified(request: IncomingMessage): Claimant | undefined {
    const credential = this.#parts.credentialOf(request);
    const known = credential === null ? undefined : this.#verified.get(digestOf(credential));
    return known && performance.now() - known.at < KNOWN_CREDENTIAL_MS ? known.claimant : undefined;
  }

  /**
   * The caller by what is known without the database: one that was verified lately, or the network of a
   * request without a token. Undefined if the token must be looked up.
   */
  presumed(request: IncomingMessage): Claimant | undefined {
    if (this.#parts.credentialOf(request) !== null) return this.recentlyVerified(request);
    return this.#anonymousAt(this.#parts.addressOf(request));
  }

  /** The network of the client, also behind trusted proxies. */
  networkOf(request: IncomingMessage): string {
    return networkOf(this.#parts.addressOf(request));
  }

  #anonymousAt(ip: string | null): Claimant {
    const claimant = anonymousAt(ip);
    return { ...claimant, isKnownNetwork: this.rankOf(claimant.name) !== 'anonymous' };
  }

  #remember(request: IncomingMessage, claimant: Claimant): void {
    const credential = this.#parts.credentialOf(request);
    if (credential === null) return;
    const known = { claimant, at: performance.now() };
    setNewest(this.#verified, [digestOf(credential), known], KNOWN_CREDENTIALS);
  }

  /** The highest rank that was verified in the network lately. */
  rankOf(network: string): Rank {
    const known = this.#known.get(network);
    return known && performance.now() - known.at < KNOWN_NETWORK_MS ? known.rank : 'anonymous';
  }
}

/** Sets an entry as the newest one, and forgets the oldest one above the limit. */
function setNewest<V>(entries: Map<string, V>, [key, value]: [string, V], limit: number): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
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
