/** Which network an address belongs to: what is counted or remembered of a caller without an account. */
import ipaddr from 'ipaddr.js';

/** An IPv6 customer holds a whole /64 and changes addresses inside it at will. */
const IPV6_NETWORK_BITS = 64;

/** An IPv4 address by itself, an IPv6 address as its network of 64 bits; `unknown` for what is no address. */
export function networkOf(ip: string | null): string {
  if (ip === null || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${IPV6_NETWORK_BITS}`).toString();
}
