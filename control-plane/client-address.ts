/** The address of a caller, behind the proxies that the operator named. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Says whether a peer is one of the operator's proxies. */
export type ProxyTrust = (address: string) => boolean;

/** Compiles addresses and CIDR blocks. Throws with the entry that is neither. */
export function trustProxies(entries: readonly string[]): ProxyTrust {
  const blocks = entries.map(blockOf);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return blocks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  };
}

/**
 * The last address that no trusted proxy stands for: `x-forwarded-for` counts only as far as trust reaches.
 */
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
    if (!next || !ipaddr.isValid(next)) break;
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
    throw new Error(`TRUST_PROXY: "${entry}" is neither an address nor a CIDR block.`);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
