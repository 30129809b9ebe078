/** Uses of rotated keys with their previous secret: what the heartbeat reports, and what counts as a use. */
import { OLD_SECRETS_MAX } from '@gateway/shared/old-secrets';
import { digestOf, issueKey } from '@gateway/shared/secrets';
import { afterEach, describe, expect, it } from 'vitest';
import { startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { RotatedKeys } from './rotated-keys.ts';

const MINUTE_MS = 60_000;

describe('the report of rotated keys', () => {
  it('lists each key once with its last use, the newest first, for five minutes', () => {
    let now = 0;
    const secrets = new RotatedKeys(() => now);
    for (const id of ['one', 'two', 'one']) {
      now += MINUTE_MS;
      secrets.used(id);
    }
    const both = [
      { keyId: 'one', usedMsAgo: 0 },
      { keyId: 'two', usedMsAgo: MINUTE_MS },
    ];
    expect(secrets.report()).toEqual(both);
    now += 4 * MINUTE_MS + 1;
    expect(secrets.report()).toEqual([{ keyId: 'one', usedMsAgo: 4 * MINUTE_MS + 1 }]);
    now += MINUTE_MS;
    expect(secrets.report()).toEqual([]);
  });

  it('keeps the keys that were used last if there are more than fit', () => {
    const secrets = new RotatedKeys(() => 0);
    for (let at = 0; at < 1_500; at += 1) secrets.used(`key-${at}`);
    const report = secrets.report();
    expect(report).toHaveLength(OLD_SECRETS_MAX);
    expect([report[0]?.keyId, report.at(-1)?.keyId]).toEqual(['key-1499', 'key-1000']);
  });
});

describe('a node with a rotated key', () => {
  let node: TestNode;
  afterEach(() => node.close());

  it('reports a request with the previous secret, and none with the current secret', async () => {
    const rotatedKeys = new RotatedKeys(() => 0);
    node = await startNode({ rotatedKeys });
    const old = issueKey();
    const [key] = node.store.keys;
    if (!key) throw new Error('The node has no key.');
    Object.assign(key, { previousDigest: digestOf(old), previousUntil: Date.now() + MINUTE_MS });
    const list = { method: 'GET', path: '/v1/models' };
    expect((await node.call(list)).status).toBe(200);
    expect(rotatedKeys.report()).toEqual([]);
    const withPrevious = { ...list, headers: { authorization: `Bearer ${old}` } };
    expect((await node.call(withPrevious)).status).toBe(200);
    expect(rotatedKeys.report()).toEqual([{ keyId: key.id, usedMsAgo: 0 }]);
  });

  it('does not report a previous secret after its grace period, and answers 401', async () => {
    const rotatedKeys = new RotatedKeys(() => 0);
    node = await startNode({ rotatedKeys });
    const old = issueKey();
    Object.assign(node.store.keys[0] ?? {}, { previousDigest: digestOf(old), previousUntil: Date.now() - 1 });
    const refused = await node.call({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${old}` },
    });
    expect(refused.status).toBe(401);
    expect(rotatedKeys.report()).toEqual([]);
  });
});
