/** The bounds of connections on which no valid key was sent, over one address and over all. */
import { Server, Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { KNOWN_ADDRESS_MS, KNOWN_RESERVE, STRANGERS_MAX, STRANGERS_PER_ADDRESS } from '../limits.ts';
import { Strangers } from './strangers.ts';

const CUSTOMER = '192.0.2.1';

let now: number;
let strangers: Strangers;
let server: Server;

beforeEach(() => {
  now = 1_000;
  strangers = new Strangers({ now: () => now, trustedProxies: ['198.51.100.1'] });
  server = new Server();
  strangers.watch(server, { admits: () => true });
});

/** A connection from this address. It is destroyed if there is no room for it. */
function connect(address: string): Socket {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  server.emit('connection', socket);
  return socket;
}

const isOpen = (address: string): boolean => !connect(address).destroyed;

/** Opens so many connections, a few from each address. */
function flood(count: number): Socket[] {
  return Array.from({ length: count }, (_, index) =>
    connect(`10.${index >> 16}.${index >> 8}.${index & 255}`),
  );
}

describe('connections without a valid key', () => {
  it('are limited per address', () => {
    for (let count = 0; count < STRANGERS_PER_ADDRESS; count += 1) expect(isOpen(CUSTOMER)).toBe(true);
    expect([isOpen(CUSTOMER), isOpen('192.0.2.2')]).toEqual([false, true]);
  });

  it('are limited over all addresses, with a reserve for known addresses', () => {
    strangers.identified(connect(CUSTOMER));
    const sockets = flood(STRANGERS_MAX);
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    expect([isOpen('192.0.2.2'), isOpen(CUSTOMER)]).toEqual([false, true]);
    sockets[0]?.emit('close');
    sockets[1]?.emit('close');
    expect(isOpen('192.0.2.2')).toBe(true);
  });

  it('are limited by the reserve if their addresses are known', () => {
    const known = Array.from({ length: 10 }, (_, index) => `203.0.113.${index}`);
    for (const address of known) strangers.identified(connect(address));
    flood(STRANGERS_MAX);
    let open = 0;
    for (const address of known)
      for (let count = 0; count < STRANGERS_PER_ADDRESS; count += 1) if (isOpen(address)) open += 1;
    expect(open).toBe(KNOWN_RESERVE);
  });

  it('lose the reserve an hour after the last valid key of their address', () => {
    const kept = connect(CUSTOMER);
    strangers.identified(kept);
    flood(STRANGERS_MAX);
    now += KNOWN_ADDRESS_MS - 1;
    strangers.identified(kept);
    now += KNOWN_ADDRESS_MS - 1;
    expect(isOpen(CUSTOMER)).toBe(true);
    now += 1;
    expect(isOpen(CUSTOMER)).toBe(false);
  });

  it('do not count if a trusted proxy opened them', () => {
    flood(STRANGERS_MAX);
    expect(isOpen('198.51.100.1')).toBe(true);
  });
});
