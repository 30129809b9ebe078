/** Tests which address of `x-forwarded-for` counts as the client's. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { clientAddress, trustProxies } from './client-address.ts';

/** A request from this peer with this `x-forwarded-for` header. */
function requestFrom(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
}

const addressOf = (trusted: string[], peer: string, forwarded?: string): string | null =>
  clientAddress(requestFrom(peer, forwarded), trustProxies(trusted));

describe("a client's address", () => {
  it('is that of the peer if no proxy is trusted, regardless of the header', () => {
    expect(addressOf([], '203.0.113.7', '198.51.100.1')).toBe('203.0.113.7');
    expect(addressOf([], '::ffff:203.0.113.7')).toBe('203.0.113.7');
  });

  it('is the one that the last trusted proxy saw, not one that the client sent', () => {
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '192.0.2.66, 198.51.100.1')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.2', '192.0.2.66, 198.51.100.1, 10.0.0.3')).toBe('198.51.100.1');
    expect(addressOf(['10.0.0.0/8'], '192.0.2.9', '198.51.100.1')).toBe('192.0.2.9');
  });

  it('is that of the proxy if the header is missing or malformed', () => {
    for (const forwarded of [
      undefined,
      '',
      'unknown',
      '999.1.1.1',
      '198.1',
      '0x7f.1',
      '198.51.100.1:80',
      'fe80::1%eth0',
    ])
      expect(addressOf(['10.0.0.2'], '10.0.0.2', forwarded)).toBe('10.0.0.2');
  });

  it('supports IPv6 blocks, and invalid entries are refused', () => {
    expect(addressOf(['2001:db8::/32'], '2001:db8::1', '2001:db9::5')).toBe('2001:db9::5');
    expect(() => trustProxies(['everybody'])).toThrow(/TRUST_PROXY: "everybody"/);
  });
});
