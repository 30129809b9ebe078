/** Limits of concurrent and of free requests, and the requests that stopping a key cuts. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { FREE_REQUESTS_PER_MINUTE } from '../limits.ts';
import { Bulkhead, FreeRequests, StreamsByKey } from './bulkhead.ts';
import { Cut } from '../call/cut.ts';

describe('a bulkhead', () => {
  it('refuses requests above its limit until one ends, and counts each id by itself', () => {
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
  it('are refused above the limit of a key until the next minute', () => {
    let now = 100_000;
    const free = new FreeRequests(() => now);
    for (let count = 0; count < FREE_REQUESTS_PER_MINUTE; count += 1) free.take('key');
    expect(() => free.take('key')).toThrow('Too many');
    free.take('other');
    now += 60_000;
    free.take('key');
  });
});

describe('the requests of a key', () => {
  it('are cut when the key is stopped, except those that have ended', () => {
    const streams = new StreamsByKey();
    const [open, finished, other] = [new Cut(), new Cut(), new Cut()];
    const key = { id: 'key', digest: 'a' };
    streams.add(key, open);
    streams.add(key, finished);
    streams.add({ id: 'other', digest: 'b' }, other);
    streams.remove('key', finished);
    const byOwner = { by: 'OWNER' } as const;
    streams.stop(new Map([...['key', 'unknown'].map((id) => [id, byOwner] as const)]));
    expect([open.reason?.code, finished.reason, other.reason]).toEqual([
      'key_disabled',
      undefined,
      undefined,
    ]);
    expect(open.reason?.details.byOwner).toBe(true);
    streams.stop(new Map([['other', { by: 'OPERATOR' }]]));
    expect(other.reason).toMatchObject({ code: 'key_disabled', details: { byOwner: false } });
  });

  it('are cut when the secret is stopped with which they came, and no others', () => {
    const streams = new StreamsByKey();
    const [old, fresh] = [new Cut(), new Cut()];
    streams.add({ id: 'key', digest: 'old' }, old);
    streams.add({ id: 'key', digest: 'fresh' }, fresh);
    streams.stop(new Map([['key', { by: 'OWNER', secrets: ['old'] }]]));
    expect(old.reason).toMatchObject({ code: 'key_disabled', details: { byOwner: true } });
    expect(old.reason?.message).toContain('Use the new secret');
    expect(fresh.reason).toBe(undefined);
  });
});
