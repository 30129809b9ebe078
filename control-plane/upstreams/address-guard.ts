/**
 * Which addresses an upstream may have: https on public addresses, unless the operator allows private ones.
 */
import { lookup as resolve } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { UserFailure } from '../errors.ts';

const HOSTS_MAX = 16;
/** The operator alone can open the way to addresses of the own network. */
const UNLESS_PRIVATE = ', unless the gateway is started with ALLOW_PRIVATE_UPSTREAMS=on.';

/** The base address in its stored form, without a slash at the end. Throws INVALID with what is wrong. */
export async function checkBaseUrl(text: string, allowPrivate: boolean): Promise<string> {
  const url = new URL(text);
  const refuse = (message: string): never => {
    throw new UserFailure('INVALID', message, 'baseUrl');
  };
  if (url.search || url.hash || url.username || url.password)
    refuse('A base address has neither query, fragment nor user.');
  if (!allowPrivate) {
    if (url.protocol !== 'https:') refuse(`An upstream needs https${UNLESS_PRIVATE}`);
    const addresses = await addressesOf(hostOf(url)).catch(() => refuse('This host name does not resolve.'));
    if (addresses.some((address) => !isPublic(address)))
      refuse(`An upstream needs a public address${UNLESS_PRIVATE}`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/**
 * Whether the address is reachable by everybody: neither private, loopback, link-local, reserved nor mapped
 * to such.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast';
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * A `lookup` for sockets that refuses private addresses at the moment of connecting, whatever the name said
 * before.
 */
export function publicLookup(host: string, options: LookupOptions, callback: LookupCallback): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) {
      callback(error, []);
      return;
    }
    const [first] = addresses;
    if (!first || addresses.some(({ address }) => !isPublic(address))) {
      callback(new Error(`${host} has no public address.`), []);
    } else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host)) return [host];
  return new Promise((done, fail) => {
    resolve(host, { all: true }, (error, found) => {
      if (error) fail(error);
      else done(found.slice(0, HOSTS_MAX).map(({ address }) => address));
    });
  });
}
