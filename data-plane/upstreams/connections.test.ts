/** The addresses at which upstreams may be reached. */
import { describe, expect, it } from 'vitest';
import { isPublic } from './connections.ts';

describe('isPublic', () => {
  it('accepts global unicast addresses and no others', () => {
    for (const address of ['1.1.1.1', '2606:4700::1111']) expect(isPublic(address)).toBe(true);
    const others = [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '192.168.0.1',
      '100.64.0.1',
      '0.0.0.0',
      '::127.0.0.1',
      // Not assigned: a later use may embed an IPv4 address.
      '4000::1',
      '200::7f00:1',
      '168.63.129.16',
      '::ffff:168.63.129.16',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '224.0.0.1',
      '2002:7f00:1::',
      'nonsense',
    ];
    for (const address of others) expect(isPublic(address)).toBe(false);
  });
});
