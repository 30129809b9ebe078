/** Host names of pools, and the client's address behind proxies. */
import { describe, expect, it } from 'vitest';
import { clientAddress, isListed, networkOf } from './addresses.ts';
import { poolLabel } from './authenticate.ts';

describe('poolLabel', () => {
  it('returns the label of a direct subdomain of the base domain, and nothing for other hosts', () => {
    const labels = { 'acme.base.test': 'acme', 'ACME.base.test:80': 'acme', 'acme.base.test.': 'acme' };
    for (const [host, label] of Object.entries(labels)) expect(poolLabel(host, 'base.test')).toBe(label);
    for (const host of [
      'base.test',
      'a.b.base.test',
      'acmebase.test',
      '.base.test',
      'x_y.base.test',
      '127.0.0.1',
      '',
    ]) {
      expect(poolLabel(host, 'base.test')).toBeUndefined();
    }
  });
});

describe('clientAddress', () => {
  it('follows x-forwarded-for only as far as the hops are trusted proxies', () => {
    expect(clientAddress('::ffff:192.0.2.1', '10.9.9.9', [])).toBe('192.0.2.1');
    expect(clientAddress('192.0.2.1', '10.9.9.9', ['10.0.0.0/8'])).toBe('192.0.2.1');
    expect(clientAddress('10.0.0.1', '203.0.113.7, 198.51.100.9, 10.0.0.2', ['10.0.0.0/8'])).toBe(
      '198.51.100.9',
    );
    // IPv4 inside IPv6, as some proxies write it.
    for (const hop of ['::ffff:cb00:7107', '0:0:0:0:0:ffff:203.0.113.7'])
      expect(clientAddress('10.0.0.1', hop, ['10.0.0.0/8'])).toBe('203.0.113.7');
    for (const malformed of ['nonsense', '127.1', 'fe80::1%eth0'])
      expect(clientAddress('10.0.0.1', malformed, ['10.0.0.1'])).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', undefined, ['10.0.0.1'])).toBe('10.0.0.1');
  });
});

describe('isListed', () => {
  it('compares an address with the blocks of its own family alone', () => {
    expect(isListed('192.0.2.1', ['::/0'])).toBe(false);
    expect(isListed('192.0.2.1', ['::ffff:0:0/96'])).toBe(false);
    expect(isListed('2001:db8::1', ['0.0.0.0/0'])).toBe(false);
    expect(isListed('2001:db8::1', ['192.0.2.0/24', '::/0'])).toBe(true);
    expect(isListed('192.0.2.1', ['::/0', '192.0.2.1'])).toBe(true);
    expect(isListed('nonsense', ['::/0', '0.0.0.0/0'])).toBe(false);
  });
});

describe('networkOf', () => {
  it('is the address of an IPv4 client, and the /64 of an IPv6 client', () => {
    expect(networkOf('192.0.2.1')).toBe('192.0.2.1');
    expect(networkOf('2001:db8:0:7:1:2:3:4')).toBe('2001:db8:0:7');
    expect(networkOf('2001:0DB8::7:ffff:1:2:3')).toBe('2001:db8:0:7');
    expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0');
    expect(networkOf('::1')).toBe('0:0:0:0');
  });
});
