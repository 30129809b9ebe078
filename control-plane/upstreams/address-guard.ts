/** Restricts upstreams to https on public addresses, unless the operator allows private ones. */
import { lookup as resolve } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { UserFailure } from '../graphql/errors.ts';

/** Maximum number of addresses of a host that are checked. */
const ADDRESSES_MAX = 16;
/**
 * Azure's metadata and DNS service, which answers inside its virtual machines alone. The services of other
 * clouds have link-local, private or reserved addresses.
 * https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const METADATA = new Set(['168.63.129.16']);
/** The IPv6 addresses that are assigned. Others may embed an IPv4 address, such as `::127.0.0.1`. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Only the operator can allow addresses of the private network. */
const OR_ALLOW_PRIVATE = ', or start the control plane with ALLOW_PRIVATE_UPSTREAMS=on.';

/** The base address in its stored form, without a trailing slash. Throws INVALID. */
export async function checkBaseUrl(text: string, allowPrivate: boolean): Promise<string> {
  const url = new URL(text);
  const refuse = (message: string): never => {
    throw new UserFailure('INVALID', message, 'baseUrl');
  };
  if (url.search || url.hash || url.username || url.password)
    refuse('Remove query, fragment and user from the base address.');
  await checkReachable(text, allowPrivate, 'baseUrl');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Throws INVALID for `field` unless the address is https and public, or private addresses are allowed. */
export async function checkReachable(text: string, allowPrivate: boolean, field: string): Promise<void> {
  if (!allowPrivate) await checkPublic(new URL(text), field, OR_ALLOW_PRIVATE);
}

/**
 * Throws INVALID for `field` unless the address is https and its host is public. `advice` ends the message.
 */
export async function checkPublic(url: URL, field: string, advice = '.'): Promise<void> {
  const refuse = (message: string): never => {
    throw new UserFailure('INVALID', message, field);
  };
  if (url.protocol !== 'https:') refuse(`Use an https address${advice}`);
  const addresses = await addressesOf(hostOf(url)).catch(() =>
    refuse('This host name does not resolve. Check it.'),
  );
  if (addresses.some((address) => !isPublic(address))) refuse(`Use a public address${advice}`);
}

/**
 * Whether the address is public: not private, loopback, link-local or reserved, nor mapped to such an
 * address, nor a metadata service of a cloud.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || METADATA.has(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_IPV6);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * A `lookup` for sockets that refuses private addresses when connecting, in case the DNS answer has changed.
 */
export function publicLookup(host: string, options: LookupOptions, callback: LookupCallback): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) {
      callback(error, []);
      return;
    }
    const [first] = addresses;
    if (!first || addresses.some(({ address }) => !isPublic(address))) {
      callback(new Error(`${host} does not resolve to public addresses only. Use a public host.`), []);
    } else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}

/** Whether a socket may connect to the host: sockets look up names with `publicLookup`, but no addresses. */
export function isConnectable(url: URL): boolean {
  const host = hostOf(url);
  return isIP(host) === 0 || isPublic(host);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host)) return [host];
  return new Promise((fulfil, reject) => {
    resolve(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else fulfil(found.slice(0, ADDRESSES_MAX).map(({ address }) => address));
    });
  });
}
