/** The IP address of a client behind trusted proxies. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether the address is a trusted proxy. */
export type ProxyTrust = (address: string) => boolean;

/** Compiles the addresses and CIDR blocks of TRUST_PROXY. Throws an Error that quotes an invalid entry. */
export function trustProxies(entries: readonly string[]): ProxyTrust {
  const blocks = entries.map(blockOf);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return blocks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  };
}

/** The last address in `x-forwarded-for` that is not a trusted proxy; the peer if the peer is not trusted. */
export function clientAddress(request: IncomingMessage, isProxy: ProxyTrust): string | null {
  const peer = request.socket.remoteAddress;
  if (!peer) return null;
  const header = request.headers['x-forwarded-for'];
  const forwarded = (Array.isArray(header) ? header.join(',') : (header ?? ''))
    .split(',')
    .map((item) => item.trim());
  let address = plain(peer);
  while (isProxy(address)) {
    const next = forwarded.pop();
    // ipaddr.js also takes spellings such as 127.1 and 0x7f.1.
    // A zone (%eth0) has a meaning on one machine only.
    if (!next || isIP(next) === 0 || next.includes('%')) break;
    address = plain(next);
  }
  return address;
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function blockOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry))
    throw new Error(`TRUST_PROXY: "${entry}" is not an IP address or CIDR block. Use e.g. 10.0.0.0/8.`);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
