/**
 * Connections to upstreams: one connection pool per origin, which refuses private addresses unless allowed.
 */
import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { GatewayError } from '@gateway/shared/failures';
import { readClientCertificate } from '@gateway/shared/clouds/secrets';
import type { ProviderRecord } from '@gateway/shared/records';
import type { CompiledCredential } from '../config/config.ts';

/** Idle time after which a connection is closed, in ms: shorter than that of most load balancers. */
const IDLE_CONNECTION_MS = 10_000;
/** Maximum size of an upstream's response headers, in bytes. */
const UPSTREAM_HEADER_BYTES = 32 * 1024;

/** The dispatcher that sends the requests of one upstream. */
export type Sender = Pick<Dispatcher, 'dispatch' | 'destroy'>;

/** The connection pools of a node. */
export class Connections {
  readonly #pools = new Map<string, Sender>();
  /** The same pools by record: a configuration keeps its records, so that most requests find theirs here. */
  readonly #byRecord = new WeakMap<ProviderRecord, Sender>();

  /** The pool of a provider's origin. Throws `upstream_failed` if the host is a forbidden IP address. */
  poolOf(provider: ProviderRecord, certificate?: CompiledCredential): Sender {
    if (certificate) return this.poolAt(provider, certificate);
    const known = this.#byRecord.get(provider);
    if (known) return known;
    const pool = this.poolAt(provider);
    this.#byRecord.set(provider, pool);
    return pool;
  }

  /** Like `poolOf`, for a record that is not kept, such as one with the address of a token endpoint. */
  poolAt(provider: ProviderRecord, certificate?: CompiledCredential): Sender {
    const { origin } = addressOf(provider);
    const { connectMs } = provider.timeouts;
    const proxyUrl = provider.access?.proxyUrl ?? null;
    const usable = certificate?.origin === origin ? certificate : undefined;
    const key = `${origin} ${provider.allowPrivate} ${connectMs} ${proxyUrl} ${usable?.id}`;
    const known = this.#pools.get(key);
    if (known) return known;
    const tls = usable ? identityOf(usable) : {};
    const lookup = lookupFor(provider);
    const connect = { timeout: connectMs, ...(lookup ? { lookup } : {}) };
    const pool =
      proxyUrl === null
        ? new Pool(origin, { ...POOL_OPTIONS, connect: { ...connect, ...tls } })
        : proxied(origin, { proxyUrl, connect, tls });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}

const POOL_OPTIONS = {
  pipelining: 1,
  // UpstreamStates counts the provider's limit of concurrent requests, and timeouts are set per request.
  connections: null,
  keepAliveTimeout: IDLE_CONNECTION_MS,
  maxHeaderSize: UPSTREAM_HEADER_BYTES,
  allowH2: false,
} as const;

/** Certificate and key for TLS; none if they cannot be read, and the upstream then refuses the connection. */
function identityOf({ secret }: CompiledCredential): { cert?: string; key?: string } {
  const read = readClientCertificate(secret);
  return read ? { cert: read.certificate, key: read.privateKey } : {};
}

interface ProxyParts {
  proxyUrl: string;
  connect: { timeout: number; lookup?: LookupFunction };
  tls: { cert?: string; key?: string };
}

/**
 * Sends through a proxy: by CONNECT for https. The address of the proxy is checked like that of an upstream.
 * The proxy looks up the upstream's name, so that only literal addresses of upstreams can be checked here.
 */
function proxied(origin: string, { proxyUrl, connect, tls }: ProxyParts): Sender {
  const agent = new ProxyAgent({
    ...POOL_OPTIONS,
    uri: proxyUrl,
    proxyTls: connect,
    requestTls: { timeout: connect.timeout, ...tls },
  });
  return {
    dispatch: (options, handler) => agent.dispatch({ ...options, origin }, handler),
    destroy: () => agent.destroy(),
  };
}

/**
 * The DNS lookup to use for a provider; undefined for the default one, if private addresses are allowed.
 * Throws `upstream_failed` if the host is a forbidden IP address.
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

/** Azure's metadata service, which has a public address. Those of other clouds have private ones. */
const METADATA = new Set(['168.63.129.16']);
/** The IPv6 addresses that are assigned. Others may embed an IPv4 address, such as `::127.0.0.1`. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is global unicast, and no metadata service. IPv4 inside IPv6 is judged as IPv4. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || METADATA.has(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6);
}

/**
 * Looks a name up and refuses it if any of its addresses is not global. It runs at every connect, which
 * prevents DNS rebinding.
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
  return new GatewayError('upstream_failed', 'The upstream is not reachable. Try again later.', {
    cause: new Error(`upstream host ${hostname} is not a public address`),
  });
}
