import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { clientAddress, trustProxies } from './client-address.ts';

/** What a server would hand us of a peer and the header it sent. */
function requestFrom(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
}

const addressOf = (trusted: string[], peer: string, forwarded?: string): string | null =>
  clientAddress(requestFrom(peer, forwarded), trustProxies(trusted));

describe("a caller's address", () => {
  it('is that of the peer while no proxy is named, whatever the header says', () => {
    expect(addressOf([], '203.0.113.7', '198.51.100.1')).toBe('203.0.113.7');
    expect(addressOf([], '::ffff:203.0.113.7')).toBe('203.0.113.7');
  });

  it('is what the nearest trusted proxy saw, never what the caller wrote before it', () => {
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '192.0.2.66, 198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '192.0.2.66, 198.51.100.1, 10.0.0.3')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '192.0.2.9', '198.51.100.1')).toBe('192.0.2.9');
  });

  it('stays that of the proxy where the header is missing or nonsense', () => {
    for (const forwarded of [undefined, '', 'unknown', '999.1.1.1'])
      expect(addressOf(['10.0.0.2'], '10.0.0.2', forwarded)).toBe('10.0.0.2');
  });

  it('knows IPv6 blocks, and refuses entries that are none', () => {
    expect(addressOf(['2001:db8::/32'], '2001:db8::1', '2001:db9::5')).toBe('2001:db9::5');
    expect(() => trustProxies(['everybody'])).toThrow(/TRUST_PROXY: "everybody"/);
  });
});
