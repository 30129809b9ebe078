import { OLD_SECRETS_MAX } from '@gateway/shared/node-api';
import { digestOf, issueKey } from '@gateway/shared/secrets';
import { afterEach, describe, expect, it } from 'vitest';
import { startNode } from '../test/request-path.ts';
import type { TestNode } from '../test/request-path.ts';
import { OldSecrets } from './old-secrets.ts';

const MINUTE_MS = 60_000;

describe('what a node reports of old secrets', () => {
  it('is each key once with its last use, the newest first, for some minutes', () => {
    let now = 0;
    const secrets = new OldSecrets(() => now);
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

  it('is the last uses of very many keys', () => {
    const secrets = new OldSecrets(() => 0);
    for (let at = 0; at < 1_500; at += 1) secrets.used(`key-${at}`);
    const report = secrets.report();
    expect(report).toHaveLength(OLD_SECRETS_MAX);
    expect([report[0]?.keyId, report.at(-1)?.keyId]).toEqual(['key-1499', 'key-1000']);
  });
});

describe('a key in its grace period', () => {
  let node: TestNode;
  afterEach(() => node.close());

  it('is reported where a request came with the old secret, paid or free, and only then', async () => {
    const oldSecrets = new OldSecrets(() => 0);
    node = await startNode({ oldSecrets });
    const old = issueKey();
    const [key] = node.store.keys;
    if (!key) throw new Error('The node has no key.');
    Object.assign(key, { previousDigest: digestOf(old), previousUntil: Date.now() + MINUTE_MS });
    const list = { method: 'GET', path: '/v1/models' };
    expect((await node.call(list)).status).toBe(200);
    expect(oldSecrets.report()).toEqual([]);
    const byOld = { ...list, headers: { authorization: `Bearer ${old}` } };
    expect((await node.call(byOld)).status).toBe(200);
    expect(oldSecrets.report()).toEqual([{ keyId: key.id, usedMsAgo: 0 }]);
  });

  it('is not reported by a secret whose time is over', async () => {
    const oldSecrets = new OldSecrets(() => 0);
    node = await startNode({ oldSecrets });
    const old = issueKey();
    Object.assign(node.store.keys[0] ?? {}, { previousDigest: digestOf(old), previousUntil: Date.now() - 1 });
    const refused = await node.call({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${old}` },
    });
    expect(refused.status).toBe(401);
    expect(oldSecrets.report()).toEqual([]);
  });
});
