/** The network of an address, by which callers without an account are counted. */
import ipaddr from 'ipaddr.js';

/** One IPv6 customer has at least a /64, and may use any address in it. */
const IPV6_NETWORK_BITS = 64;

/** An IPv4 address itself, the /64 network of an IPv6 address, and `unknown` for anything else. */
export function networkOf(ip: string | null): string {
  if (ip === null || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${IPV6_NETWORK_BITS}`).toString();
}
