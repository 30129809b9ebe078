/** Bounds on what one wallet or key may do at once, and in a minute. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { Bulkhead, FREE_REQUESTS_PER_MINUTE, FreeRequests, StreamsByKey } from './bulkhead.ts';
import { clientAddress, poolLabel } from './authenticate.ts';
import { Cut } from './cut.ts';

describe('a bulkhead', () => {
  it('lets so many in and no more, until somebody leaves, and keeps others apart', () => {
    const bulkhead = new Bulkhead(2);
    bulkhead.enter('a');
    bulkhead.enter('a');
    expect(() => bulkhead.enter('a')).toThrow('At most 2');
    bulkhead.enter('b');
    bulkhead.leave('a');
    bulkhead.enter('a');
    expect(() => bulkhead.enter('a')).toThrow(GatewayError);
  });
});

describe('free requests', () => {
  it('are bounded per key and minute, and say how long to wait', () => {
    let now = 100_000;
    const free = new FreeRequests(() => now);
    for (let count = 0; count < FREE_REQUESTS_PER_MINUTE; count += 1) free.take('key');
    expect(() => free.take('key')).toThrow('Too many');
    free.take('other');
    now += 60_000;
    free.take('key');
  });
});

describe('the streams of a key', () => {
  it('are cut when it stops, each once, and finished ones are forgotten', () => {
    const streams = new StreamsByKey();
    const [open, finished, other] = [new Cut(), new Cut(), new Cut()];
    streams.add('key', open);
    streams.add('key', finished);
    streams.add('other', other);
    streams.remove('key', finished);
    streams.stop(new Map([['key', 'OWNER'] as const, ['unknown', 'OWNER'] as const]));
    expect([open.reason?.code, finished.reason, other.reason]).toEqual([
      'key_disabled',
      undefined,
      undefined,
    ]);
    expect(open.reason?.details.byOwner).toBe(true);
    streams.stop(new Map([['other', 'OPERATOR']]));
    expect(other.reason).toMatchObject({ code: 'key_disabled', details: { byOwner: false } });
  });
});

describe('a host', () => {
  it('is a pool only as a direct subdomain of the base domain', () => {
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

describe('a client’s address', () => {
  it('is what a trusted proxy says, and nobody else', () => {
    expect(clientAddress('::ffff:192.0.2.1', '10.9.9.9', [])).toBe('192.0.2.1');
    expect(clientAddress('192.0.2.1', '10.9.9.9', ['10.0.0.0/8'])).toBe('192.0.2.1');
    expect(clientAddress('10.0.0.1', '203.0.113.7, 198.51.100.9, 10.0.0.2', ['10.0.0.0/8'])).toBe(
      '198.51.100.9',
    );
    expect(clientAddress('10.0.0.1', 'nonsense', ['10.0.0.1'])).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', undefined, ['10.0.0.1'])).toBe('10.0.0.1');
  });
});
