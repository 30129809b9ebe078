/** IP addresses: which client sent a request, and whether a list of CIDR blocks contains an address. */
import { BlockList, SocketAddress, isIP, isIPv6 } from 'node:net';

/** Groups of an IPv6 address that name the network of one customer: a /64. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The blocks of one list by family. */
type Families = Record<4 | 6, BlockList>;

const compiled = new WeakMap<readonly string[], Families>();

/**
 * Whether the address is in one of the CIDR blocks; a block without a length is a single address. Blocks of
 * IPv6 contain no IPv4 address, not even `::/0`.
 */
export function isListed(address: string, blocks: readonly string[]): boolean {
  if (blocks.length === 0) return false;
  const family = isIP(address);
  if (family !== 4 && family !== 6) return false;
  return familiesOf(blocks)[family].check(address, family === 6 ? 'ipv6' : 'ipv4');
}

function familiesOf(blocks: readonly string[]): Families {
  const known = compiled.get(blocks);
  if (known) return known;
  const families: Families = { 4: new BlockList(), 6: new BlockList() };
  for (const block of blocks) addBlock(families, block);
  compiled.set(blocks, families);
  return families;
}

function addBlock(families: Families, block: string): void {
  const [net = '', length] = block.split('/');
  const version = isIP(net);
  if (version !== 4 && version !== 6) return;
  const bits = version === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : Number(length);
  if (Number.isInteger(prefix) && prefix >= 0 && prefix <= bits) {
    families[version].addSubnet(net, prefix, version === 6 ? 'ipv6' : 'ipv4');
  }
}

/**
 * The client's IP address: the last hop in `x-forwarded-for` that is not a trusted proxy, if the peer
 * itself is a trusted proxy; else the peer.
 */
export function clientAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: readonly string[],
): string {
  let address = plainAddress(peer);
  if (forwarded === undefined || trusted.length === 0) return address;
  const hops = forwarded.split(',').map((hop) => hopAddress(hop.trim()));
  while (isListed(address, trusted)) {
    const hop = hops.pop();
    // A zone (fe80::1%eth0) has a meaning on one machine only.
    if (hop === undefined || isIP(hop) === 0 || hop.includes('%')) return address;
    address = hop;
  }
  return address;
}

/** A hop in canonical spelling: proxies may write IPv4 inside IPv6 in hexadecimal or without `::`. */
function hopAddress(hop: string): string {
  if (!isIPv6(hop) || hop.includes('%')) return hop;
  return plainAddress(new SocketAddress({ address: hop, family: 'ipv6' }).address);
}

/** The address; IPv4 inside IPv6 as IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** The network that counts as one address: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - groups.length - last.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...last];
  return all
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
