/** `x-forwarded-for`: both planes find the same address of a client, and it is an address. */
import { IncomingMessage } from 'node:http';
import { Socket, isIP } from 'node:net';
import {
  clientAddress as addressAtNode,
  isListed,
  networkOf,
} from '../../../data-plane/admission/addresses.ts';
import {
  clientAddress as addressAtPlane,
  trustProxies,
} from '../../../control-plane/process/client-address.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

const TRUSTED = ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'];
const socket = new Socket();
const request = new IncomingMessage(socket);
const isProxy = trustProxies(TRUSTED);
const PEERS = ['10.0.0.1', '::ffff:10.0.0.1', '::1', '203.0.113.9'] as const;

export const target: FuzzTarget = {
  run(input) {
    const header = input.toString('latin1', 1);
    // ipaddr.js reads this deprecated form as IPv4. No proxy writes it, and no peer has such an address.
    if (/(^|[\s,])[0:]*:\d+\.\d/.test(header)) return;
    const peer = PEERS[(input[0] ?? 0) % PEERS.length] ?? PEERS[0];
    const ours = addressAtNode(peer, header, TRUSTED);
    demand(isIP(ours) !== 0, () => `an address is none: ${ours}`);
    request.headers['x-forwarded-for'] = header;
    Object.defineProperty(socket, 'remoteAddress', { value: peer, configurable: true });
    const theirs = addressAtPlane(request, isProxy);
    demand(theirs !== null && isIP(theirs) !== 0, () => `an address of the control plane is none: ${theirs}`);
    demand(same(ours, theirs), () => `the planes find other addresses: ${ours} and ${theirs}`);
    const hops = header.split(',').map((hop) => hop.trim());
    const last = hops.findLast((hop) => isIP(hop) === 0 || !isListed(hop, TRUSTED));
    if (last !== undefined && isIP(last) === 0) return;
    isListed(ours, hops);
    demand(networkOf(ours).length > 0, 'a network has no name');
  },
  seeds: [
    'a203.0.113.7, 198.51.100.9, 10.0.0.2',
    'd::ffff:10.1.2.3,2001:db8::5',
    'c::1, fe80::1%eth0',
    'anonsense',
  ],
  tokens: [
    ', ',
    ',',
    '10.0.0.2',
    '::ffff:',
    '::1',
    '2001:db8::',
    '0x7f.1',
    '010.0.0.1',
    '1.2.3.4:80',
    '[::1]',
    '%1',
    '/8',
  ],
};

/** Whether two spellings are one address. */
function same(one: string, other: string): boolean {
  return one === other || (isIP(one) === 6 && isIP(other) === 6 && isListed(one, [other]));
}
