/** Tests the life of keys over the API: create, reveal, change, rotate, disable, list. */
import { generateKeyPairSync } from 'node:crypto';
import { exportPublicKey } from '@gateway/shared/sealing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, isWellFormedKey } from '@gateway/shared/secrets';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { createNode, findNodeByToken } from '../nodes/node.service.ts';
import { registerNode } from '../nodes/registration.service.ts';
import { query, sql } from '../database/sql.ts';

const FIELDS = `apiKey { id name prefix suffix state disabledReason group groupRatio version allowedIps
  spentThisMonth lastUsedAt rotation { pendingReveal previousSuffix graceEndsAt } owner { email } }`;
const ERRORS = 'userErrors { code message field }';

interface Page {
  totalCount: number;
  nodes: { name: string }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

describe('a key', () => {
  let test: TestApp;
  let ann: Browser;
  let number = 0;
  beforeAll(async () => {
    test = await startTestApp({ findNode: (token) => findNodeByToken(test.orm.em.fork(), token) });
    ann = await test.user('ann@example.com');
  });
  afterAll(() => test.close());

  const call = (browser: Browser, mutation: string, input: object, fields = FIELDS): Promise<Answer> => {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`.replace(
      /^ApiKey(Reveal|Enable|Revoke|GraceEnd)Input$/,
      'IdInput',
    );
    return browser.send(
      `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} ${ERRORS} } }`,
      { input },
    );
  };
  const make = async (browser: Browser, more: object = {}): Promise<string> => {
    number += 1;
    const answer = await call(browser, 'apiKeyCreate', {
      name: 'test',
      idempotencyKey: `key-${number}`,
      ...more,
    });
    expect(codesOf(answer, 'apiKeyCreate')).toEqual([]);
    return pick<string>(answer, 'apiKeyCreate', 'apiKey', 'id');
  };
  const reveal = async (browser: Browser, id: string): Promise<string> =>
    pick<string>(await call(browser, 'apiKeyReveal', { id }, 'secret'), 'apiKeyReveal', 'secret');
  const keyOf = (answer: Answer, mutation: string) => answer.data?.[mutation]?.['apiKey'];
  const record = async (id: string) =>
    (
      await query<{ payload: Record<string, unknown> }>(
        test.orm.em.fork(),
        sql`select payload from config_log where kind = 'API_KEY' and key = ${id}`,
      )
    )[0]?.payload;

  /** Registers a node, and returns a function that reports the use of an old secret with its heartbeat. */
  const reporter = async (): Promise<(keyId: string, usedMsAgo: number) => Promise<void>> => {
    const em = test.orm.em.fork();
    const { node, token } = await createNode(em, 'reporter');
    const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);
    await registerNode(em, node.id, { version: '1', region: null, publicKey, journalId: 'journal' });
    const vitals = { appliedRevision: 0, rps: '0', inflight: 0, eventLoopP99Ms: 0, usageBacklog: 0 };
    return async (keyId, usedMsAgo) => {
      const input = { nodeId: node.id, journalId: 'journal', ...vitals, oldSecrets: [{ keyId, usedMsAgo }] };
      const beat = await test
        .browser()
        .send(
          'mutation ($input: NodeHeartbeatInput!) { nodeHeartbeat(input: $input) { userErrors { code } } }',
          { input },
          { authorization: `Bearer ${token}` },
        );
      expect(codesOf(beat, 'nodeHeartbeat')).toEqual([]);
    };
  };

  it('is created, revealed, disabled, enabled and revoked, and each state reaches the nodes', async () => {
    const id = await make(ann, { name: 'laptop' });
    expect(await record(id)).toBeUndefined();
    const answer = await call(ann, 'apiKeyReveal', { id }, `secret ${FIELDS}`);
    const secret = pick<string>(answer, 'apiKeyReveal', 'secret');
    expect(isWellFormedKey(secret)).toBe(true);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(keyOf(answer, 'apiKeyReveal')).toMatchObject({
      state: 'ENABLED',
      disabledReason: null,
      prefix: secret.slice(0, 7),
      suffix: secret.slice(-4),
      group: 'DEFAULT',
      groupRatio: '1',
      spentThisMonth: '0.00',
      owner: { email: 'ann@example.com' },
    });
    expect(await record(id)).toMatchObject({
      digest: digestOf(secret),
      enabled: true,
      group: 'default',
      hidden: false,
    });
    const disabled = await call(ann, 'apiKeyDisable', { id }, `${FIELDS} appliedNodes pendingNodes { id }`);
    expect(disabled.data?.['apiKeyDisable']).toMatchObject({
      apiKey: { state: 'DISABLED', disabledReason: 'OWNER' },
      appliedNodes: 0,
      pendingNodes: [],
    });
    expect(await record(id)).toMatchObject({ enabled: false, disabledReason: 'OWNER' });
    expect(keyOf(await call(ann, 'apiKeyEnable', { id }), 'apiKeyEnable')).toMatchObject({
      state: 'ENABLED',
    });
    await call(ann, 'apiKeyDisable', { id, leaked: true });
    expect(codesOf(await call(ann, 'apiKeyEnable', { id }), 'apiKeyEnable')).toEqual(['CONFLICT']);
    expect(keyOf(await call(ann, 'apiKeyRevoke', { id }), 'apiKeyRevoke')).toMatchObject({
      disabledReason: 'REVOKED',
    });
  });

  it('returns its secret to exactly one of several concurrent reveals', async () => {
    const id = await make(ann);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call(ann, 'apiKeyReveal', { id }, 'secret')),
    );
    const secrets = answers.filter((answer) =>
      pick<string | null>(answer, 'apiKeyReveal', 'secret')?.startsWith('sk-'),
    );
    expect(secrets).toHaveLength(1);
    expect(answers.flatMap((answer) => codesOf(answer, 'apiKeyReveal'))).toEqual(
      Array(7).fill('KEY_ALREADY_REVEALED'),
    );
  });

  it('has no secret in any table', async () => {
    const secret = await reveal(ann, await make(ann));
    const tables = await query<{ name: string }>(
      test.orm.em.fork(),
      sql`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const rows = await test.orm.em
        .fork()
        .execute<{ row: string }[]>(`select t::text as row from "${name}" t`)
        .catch(() => []);
      expect(
        rows.filter(({ row }) => row.includes(secret)),
        name,
      ).toEqual([]);
    }
  });

  it('is created once per idempotency key, which fails with another input', async () => {
    const send = (name: string) =>
      call(ann, 'apiKeyCreate', { name, idempotencyKey: 'same' }, 'replayed apiKey { id }');
    const [first, second] = await Promise.all([send('one'), send('one')]);
    expect(keyOf(first, 'apiKeyCreate')).toEqual(keyOf(second, 'apiKeyCreate'));
    expect(
      [first, second].filter((answer) => pick<boolean>(answer, 'apiKeyCreate', 'replayed')),
    ).toHaveLength(1);
    expect(codesOf(await send('two'), 'apiKeyCreate')).toEqual(['IDEMPOTENCY_MISMATCH']);
  });

  it('is not created with a group, address, model, expiry, limit, name or pool that is invalid', async () => {
    const refusal = async (more: object) => {
      number += 1;
      return codesOf(
        await call(ann, 'apiKeyCreate', { name: 'x', idempotencyKey: `no-${number}`, ...more }),
        'apiKeyCreate',
      );
    };
    expect(await refusal({ group: 'VIP' })).toEqual(['GROUP_NOT_ALLOWED']);
    expect(await refusal({ allowedIps: ['10.0.0.1', 'not-an-address'] })).toEqual(['INVALID']);
    expect(await refusal({ allowedIps: ['010.1'] })).toEqual(['INVALID']);
    expect(await refusal({ allowedModelIds: ['mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })).toEqual(['NOT_FOUND']);
    expect(await refusal({ allowedModelIds: [] })).toEqual(['INVALID']);
    expect(await refusal({ expiresAt: '2020-01-01T00:00:00Z' })).toEqual(['INVALID']);
    expect(await refusal({ spendLimit: '0' })).toEqual(['INVALID']);
    expect(await refusal({ name: ' ' })).toEqual(['INVALID']);
    expect(await refusal({ poolId: 'pool_1' })).toEqual(['NOT_FOUND']);
  });

  it('changes only by its current version, and nodes get its models by name', async () => {
    const models = await ann.send('{ catalog(first: 2) { nodes { id name } } }');
    const { id: modelId, name } = { ...models.data?.['catalog']?.['nodes']?.['0'] };
    const id = await make(ann);
    await reveal(ann, id);
    const change = {
      id,
      version: 2,
      allowedModelIds: [modelId],
      allowedIps: ['10.1.2.3/8', '2001:DB8::1'],
      name: 'renamed',
    };
    const changed = await call(ann, 'apiKeyUpdate', change);
    expect(keyOf(changed, 'apiKeyUpdate')).toMatchObject({
      name: 'renamed',
      version: 3,
      allowedIps: ['10.0.0.0/8', '2001:db8::1/128'],
    });
    expect(await record(id)).toMatchObject({
      allowedModels: [name],
      allowedIps: ['10.0.0.0/8', '2001:db8::1/128'],
    });
    expect(codesOf(await call(ann, 'apiKeyUpdate', change), 'apiKeyUpdate')).toEqual(['STALE_VERSION']);
  });

  it('keeps its old secret after a rotation until the grace period ends', async () => {
    const id = await make(ann);
    const old = await reveal(ann, id);
    await call(ann, 'apiKeyRotate', { id, graceSeconds: 3600, idempotencyKey: 'rotate-1' });
    expect(await record(id)).toMatchObject({ digest: digestOf(old), previousDigest: null });
    const fresh = await reveal(ann, id);
    expect(await record(id)).toMatchObject({
      digest: digestOf(fresh),
      previousDigest: digestOf(old),
      enabled: true,
    });
    const { data } = await ann.send(`{ viewer { apiKeys(first: 1, filter: { search: "${fresh.slice(-4)}" }) {
      totalCount nodes { rotation { pendingReveal previousSuffix graceEndsAt } } } } }`);
    expect(data?.['viewer']?.['apiKeys']).toMatchObject({
      totalCount: 1,
      nodes: [
        {
          rotation: { pendingReveal: false, previousSuffix: old.slice(-4), graceEndsAt: expect.any(String) },
        },
      ],
    });
    await call(ann, 'apiKeyDisable', { id, leaked: true });
    expect(await record(id)).toMatchObject({ enabled: false, previousDigest: null });
  });

  it('loses only the old secret when the owner ends the grace period, with an audit entry', async () => {
    const id = await make(ann);
    const end = () => call(ann, 'apiKeyGraceEnd', { id }, `${FIELDS} appliedNodes pendingNodes { id }`);
    await reveal(ann, id);
    await call(ann, 'apiKeyRotate', { id, graceSeconds: 3600, idempotencyKey: 'grace-1' });
    expect(codesOf(await end(), 'apiKeyGraceEnd')).toEqual(['CONFLICT']);
    const fresh = await reveal(ann, id);
    const ended = await end();
    expect(ended.data?.['apiKeyGraceEnd']).toMatchObject({
      apiKey: { state: 'ENABLED', suffix: fresh.slice(-4), rotation: null },
      appliedNodes: 0,
      pendingNodes: [],
      userErrors: [],
    });
    const expected = { digest: digestOf(fresh), previousDigest: null, previousUntil: null, enabled: true };
    expect(await record(id)).toMatchObject(expected);
    expect((await end()).data).toEqual(ended.data);
    const admin = await test.admin();
    const log = await admin.send(
      `{ admin { auditLog(filter: { targetId: "${id}" }) { nodes { action actor { label } } } } }`,
    );
    expect(log.data?.['admin']?.['auditLog']).toEqual({
      nodes: [{ action: 'key.end-grace', actor: { label: 'ann@example.com' } }],
    });
  });

  it('can lose the old secret of one rotation while the next rotation waits for its reveal', async () => {
    const id = await make(ann);
    await reveal(ann, id);
    await call(ann, 'apiKeyRotate', { id, graceSeconds: 3600, idempotencyKey: 'grace-2' });
    const present = await reveal(ann, id);
    await call(ann, 'apiKeyRotate', { id, graceSeconds: 3600, idempotencyKey: 'grace-3' });
    expect(keyOf(await call(ann, 'apiKeyGraceEnd', { id }), 'apiKeyGraceEnd')).toMatchObject({
      rotation: { pendingReveal: true, previousSuffix: present.slice(-4) },
    });
    expect(await record(id)).toMatchObject({ digest: digestOf(present), previousDigest: null });
    expect(codesOf(await call(ann, 'apiKeyGraceEnd', { id }), 'apiKeyGraceEnd')).toEqual(['CONFLICT']);
  });

  it('shows when its old secret was last used, without uses of an earlier secret', async () => {
    const em = () => test.orm.em.fork();
    const id = await make(ann);
    const lastUse = async (): Promise<string | null> => {
      const answer = await ann.send(
        'query ($id: ID!) { node(id: $id) { ... on ApiKey { rotation { previousLastUsedAt } } } }',
        { id },
      );
      return pick<string | null>(answer, 'node', 'rotation', 'previousLastUsedAt');
    };
    const report = await reporter();
    await reveal(ann, id);
    for (const round of [1, 2]) {
      await report(id, 0);
      await call(ann, 'apiKeyRotate', { id, graceSeconds: 3600, idempotencyKey: `last-use-${round}` });
      await query(
        em(),
        sql`insert into usage_key (key_id, last_used_at) values (${id}, '2026-01-02T03:04:05Z')
          on conflict do nothing`,
      );
      expect(await lastUse()).toBe('2026-01-02T03:04:05.000Z');
      await reveal(ann, id);
      expect(await lastUse()).toBeNull();
      await report(id, 24 * 3_600_000);
      expect(await lastUse()).toBeNull();
      await report(id, 0);
      const seen = await lastUse();
      expect(seen).toEqual(expect.any(String));
      await report(id, 3_600_000);
      expect(await lastUse()).toBe(seen);
    }
    await report('key_none', 0);
    const rows = await query(em(), sql`select from key_old_secret_use where key_id = 'key_none'`);
    expect(rows).toEqual([]);
  });

  it('returns the same errors for another user as a key that does not exist', async () => {
    const id = await make(ann);
    const bob = await test.user('bob@example.com');
    const none = 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV';
    for (const [mutation, more] of [
      ['apiKeyReveal', {}],
      ['apiKeyDisable', {}],
      ['apiKeyEnable', {}],
      ['apiKeyGraceEnd', {}],
      ['apiKeyRevoke', {}],
      ['apiKeyRotate', { idempotencyKey: 'x' }],
      ['apiKeyUpdate', { version: 1 }],
    ] as const) {
      const foreign = await call(bob, mutation, { id, ...more }, 'apiKey { id }');
      expect(codesOf(foreign, mutation)).toEqual(['NOT_FOUND']);
      expect(foreign.data).toEqual((await call(bob, mutation, { id: none, ...more }, 'apiKey { id }')).data);
      const nobody = await call(test.browser(), mutation, { id, ...more }, 'apiKey { id }');
      expect(nobody.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    }
    const list = await bob.send('{ viewer { apiKeys { totalCount } } }');
    expect(list.data).toEqual({ viewer: { apiKeys: { totalCount: 0 } } });
  });

  it('is listed in pages without gaps or duplicates', async () => {
    const carl = await test.user('carl@example.com');
    for (const name of ['c', 'a', 'e', 'b', 'd']) await make(carl, { name });
    for (const order of ['', 'orderBy: { field: NAME, direction: ASC }']) {
      const seen: string[] = [];
      let after: string | null = null;
      do {
        const answer: Answer = await carl.send(
          `query ($after: String) { viewer { apiKeys(first: 2, after: $after ${order}) {
          totalCount nodes { name } pageInfo { hasNextPage endCursor } } } }`,
          { after },
        );
        const page = pick<Page>(answer, 'viewer', 'apiKeys');
        expect(page.totalCount).toBe(5);
        seen.push(...page.nodes.map((node) => node.name));
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      } while (after);
      expect(seen).toEqual(order ? ['a', 'b', 'c', 'd', 'e'] : ['d', 'b', 'e', 'a', 'c']);
    }
    const forged = await carl.send('{ viewer { apiKeys(after: "bm9uc2Vuc2U") { totalCount } } }');
    expect(forged.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('is found by its secret and disabled by an administrator, with an audit entry', async () => {
    const id = await make(ann);
    const secret = await reveal(ann, id);
    const admin = await test.admin();
    const found = await admin.send(
      'query ($secret: String) { admin { apiKeys(secret: $secret) { nodes { id } } } }',
      { secret },
    );
    expect(found.data?.['admin']?.['apiKeys']).toEqual({ nodes: [{ id }] });
    const disable = `mutation ($input: AdminReasonInput!) { adminApiKeyDisable(input: $input) {
        apiKey { disabledReason } userErrors { code } } }`;
    expect(codesOf(await admin.send(disable, { input: { id, reason: ' ' } }), 'adminApiKeyDisable')).toEqual([
      'REQUIRED',
    ]);
    const answer = await admin.send(disable, { input: { id, reason: 'found on a public page' } });
    expect(keyOf(answer, 'adminApiKeyDisable')).toEqual({ disabledReason: 'ADMIN' });
    expect(codesOf(await call(ann, 'apiKeyEnable', { id }), 'apiKeyEnable')).toEqual(['CONFLICT']);
    const log = await admin.send(
      `{ admin { auditLog(first: 1, filter: { targetId: "${id}" }) { nodes { action reason } } } }`,
    );
    expect(log.data?.['admin']?.['auditLog']).toEqual({
      nodes: [{ action: 'key.disable', reason: 'found on a public page' }],
    });
    expect((await ann.send(disable, { input: { id, reason: 'x' } })).errors[0]?.extensions.code).toBe(
      'FORBIDDEN',
    );
    expect((await ann.send('{ admin { configRevision } }')).data).toEqual({ admin: null });
  });
});
