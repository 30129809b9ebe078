/** Connections to upstreams: one pool per origin, which refuses addresses that no upstream may have. */
import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Pool } from 'undici';
import { GatewayError } from '@gateway/shared/failures';
import type { ProviderRecord } from '@gateway/shared/records';

/** An idle connection is closed after this long, in ms: before most load balancers close theirs. */
const IDLE_CONNECTION_MS = 10_000;
/** Header bytes that an upstream may send. */
const UPSTREAM_HEADER_BYTES = 32 * 1024;

/** The pools of a node. */
export class Pools {
  readonly #pools = new Map<string, Pool>();
  /** The same by record: a configuration keeps its records, so that most requests find theirs here. */
  readonly #ofRecord = new WeakMap<ProviderRecord, Pool>();

  /**
   * The pool of a provider's origin. Throws `upstream_failed` where its address is literal and not allowed.
   */
  for(provider: ProviderRecord): Pool {
    const known = this.#ofRecord.get(provider);
    if (known) return known;
    const pool = this.#byAddress(provider);
    this.#ofRecord.set(provider, pool);
    return pool;
  }

  #byAddress(provider: ProviderRecord): Pool {
    const { origin } = addressOf(provider);
    const { connectMs } = provider.timeouts;
    const key = `${origin} ${provider.allowPrivate} ${connectMs}`;
    const known = this.#pools.get(key);
    if (known) return known;
    const lookup = lookupFor(provider);
    const pool = new Pool(origin, {
      pipelining: 1,
      // undici's own timeouts are per request; the pool as such has no bound, the provider's limit is
      // counted elsewhere.
      connections: null,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      maxHeaderSize: UPSTREAM_HEADER_BYTES,
      allowH2: false,
      connect: { timeout: connectMs, ...(lookup ? { lookup } : {}) },
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}

/**
 * How the names of a provider are looked up; undefined where any address will do. Throws `upstream_failed`
 * where its address is literal and not allowed.
 */
export function lookupFor(provider: ProviderRecord): LookupFunction | undefined {
  if (provider.allowPrivate) return undefined;
  const hostname = new URL(addressOf(provider).origin).hostname.replace(/^\[|\]$/g, '');
  if (isIP(hostname) && !isPublic(hostname)) throw forbidden(hostname);
  return publicOnly;
}

/** Origin and path prefix of a provider's base URL. */
export function addressOf(provider: ProviderRecord): { origin: string; prefix: string } {
  const { baseUrl } = provider;
  const slash = baseUrl.indexOf('/', baseUrl.indexOf('://') + 3);
  return slash < 0
    ? { origin: baseUrl, prefix: '' }
    : { origin: baseUrl.slice(0, slash), prefix: baseUrl.slice(slash) };
}

/** Whether an address is global unicast; IPv4 inside IPv6 counts as what it is. */
export function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/**
 * Looks a name up and refuses it when any of its addresses is not global: checked at each connect, so no
 * rebinding.
 */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  const all: LookupOptions & { all: true } = { ...options, all: true };
  lookup(hostname, all, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, '', 0);
    const [first] = addresses;
    const wrong = addresses.find(({ address }) => !isPublic(address));
    if (wrong || !first) return callback(forbidden(hostname), '', 0);
    return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};

function forbidden(hostname: string): GatewayError {
  return new GatewayError('upstream_failed', 'The model is not reachable. Try again later.', {
    cause: new Error(`upstream host ${hostname} is not a public address`),
  });
}
