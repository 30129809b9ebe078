/** Tests the operations of administrators on users over the API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, POLICY, SIGN_IN, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { deleteAccount } from './profile.service.ts';
import { updateUser } from './user.admin.ts';

const UPDATE = `mutation ($input: AdminUserUpdateInput!) { adminUserUpdate(input: $input) {
  user { state role allowedGroups } userErrors { code } } }`;
const CREATE = `mutation ($input: AdminUserCreateInput!) { adminUserCreate(input: $input) {
  user { id } userErrors { code } } }`;
const LINK = `mutation ($input: AdminReasonInput!) { adminUserLinkCreate(input: $input) {
  url expiresAt userErrors { code } } }`;
const REVOKE = `mutation ($input: AdminReasonInput!) { adminSessionRevoke(input: $input) {
  user { id } userErrors { code } } }`;
const ONE_USER = `query ($id: ID!) { admin { user(id: $id) { sessions { nodes { id } }
  apiKeys { nodes { id name state } } wallet { cash gift } securityFactors { totpEnabled } } } }`;
const CLAIM = `mutation ($input: AdminClaimInput!) { adminClaim(input: $input) {
  viewer { email role } userErrors { code } } }`;

describe('users', () => {
  let test: TestApp;
  let admin: Browser;
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
  });
  afterAll(() => test.close());

  const idOf = async (browser: Browser) =>
    pick<string>(await browser.send('{ viewer { id } }'), 'viewer', 'id');
  const update = (input: object) => admin.send(UPDATE, { input: { reason: 'test', ...input } });

  it('can use granted groups for keys, which move to DEFAULT when a group is removed', async () => {
    const ann = await test.user('ann@example.com');
    const id = await idOf(ann);
    await update({ id, allowedGroups: ['DEFAULT', 'VIP'] });
    const made = await ann.send(
      'mutation { apiKeyCreate(input: { name: "k", group: VIP, idempotencyKey: "1" }) { apiKey { id } } }',
    );
    const key = pick<string>(made, 'apiKeyCreate', 'apiKey', 'id');
    await ann.send(`mutation { apiKeyReveal(input: { id: "${key}" }) { secret } }`);
    await update({ id, allowedGroups: [] });
    const groups = '{ viewer { allowedGroups apiKeys { nodes { group } } } }';
    expect((await ann.send(groups)).data).toEqual({
      viewer: { allowedGroups: ['DEFAULT'], apiKeys: { nodes: [{ group: 'DEFAULT' }] } },
    });
    const rows = await query(
      test.orm.em.fork(),
      sql`select payload->>'group' as "group" from config_log where key = ${key}`,
    );
    expect(rows).toEqual([{ group: 'default' }]);
  });

  /** The configuration record of the user's wallet, as nodes receive it. */
  const accountRecordOf = (userId: string) =>
    query(
      test.orm.em.fork(),
      sql`select payload->>'suspended' as suspended, payload->>'closed' as closed from config_log c
        join wallet w on w.id = c.key where c.kind = 'ACCOUNT' and w.user_id = ${userId}`,
    );

  it('are signed out when suspended, and nodes are informed', async () => {
    const bob = await test.user('bob@example.com');
    const id = await idOf(bob);
    await update({ id, state: 'SUSPENDED' });
    expect((await bob.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    const input = { email: 'bob@example.com', password: 'a long enough password' };
    expect(codesOf(await bob.send(SIGN_IN, { input }), 'signIn')).toEqual(['CREDENTIALS_INVALID']);
    expect(await accountRecordOf(id)).toEqual([{ suspended: 'true', closed: 'false' }]);
  });

  it('are reported to nodes as closed only if they closed the account themselves', async () => {
    const id = await idOf(await test.user('dora@example.com'));
    await deleteAccount(test.orm.em.fork(), id, SYSTEM_ACTOR);
    expect(await accountRecordOf(id)).toEqual([{ suspended: 'true', closed: 'true' }]);
    const other = await idOf(await test.user('dirk@example.com'));
    await update({ id: other, state: 'DELETED' });
    expect(await accountRecordOf(other)).toEqual([{ suspended: 'true', closed: 'false' }]);
  });

  it('lose only the session that an administrator ends', async () => {
    const cora = await test.user('cora@example.com');
    const elsewhere = test.browser();
    const input = { email: 'cora@example.com', password: 'a long enough password' };
    await elsewhere.send(SIGN_IN, { input });
    const found = await admin.send(ONE_USER, { id: await idOf(cora) });
    const [session] = pick<{ id: string }[]>(found, 'admin', 'user', 'sessions', 'nodes');
    const revoke = (browser: Browser) =>
      browser.send(REVOKE, { input: { id: session?.id, reason: 'lost laptop' } });
    expect((await revoke(cora)).errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(codesOf(await revoke(admin), 'adminSessionRevoke')).toEqual([]);
    expect((await elsewhere.send('{ viewer { id } }')).data).toEqual({ viewer: null });
    expect((await cora.send('{ viewer { email } }')).data).toEqual({ viewer: { email: 'cora@example.com' } });
    expect(codesOf(await revoke(admin), 'adminSessionRevoke')).toEqual(['NOT_FOUND']);
  });

  it('are created without a password, and set one by a link that works once', async () => {
    const made = await admin.send(CREATE, { input: { email: 'new@example.com', reason: 'new colleague' } });
    const id = pick<string>(made, 'adminUserCreate', 'user', 'id');
    const link = await admin.send(LINK, { input: { id, reason: 'new colleague' } });
    const url = pick<string>(link, 'adminUserLinkCreate', 'url');
    expect(url.startsWith(`${test.settings.consoleUrl}/activate#gwl_`)).toBe(true);
    const input = {
      token: url.split('#')[1],
      password: 'yet another good password',
      acceptPolicyVersion: POLICY,
    };
    const claim = (more: object = {}) => test.browser().send(CLAIM, { input: { ...input, ...more } });
    expect(codesOf(await claim({ email: 'another@example.com' }), 'adminClaim')).toEqual(['INVALID']);
    expect(codesOf(await claim({ password: 'new@example.com' }), 'adminClaim')).toEqual(['PASSWORD_WEAK']);
    expect(pick(await claim(), 'adminClaim', 'viewer')).toEqual({ email: 'new@example.com', role: 'USER' });
    expect(codesOf(await claim(), 'adminClaim')).toEqual(['CREDENTIALS_INVALID']);
    const twice = await admin.send(CREATE, { input: { email: 'new@example.com', reason: 'again' } });
    expect(codesOf(twice, 'adminUserCreate')).toEqual(['TAKEN']);
  });

  it('cannot use the link of their account while it is suspended', async () => {
    const made = await admin.send(CREATE, { input: { email: 'late@example.com', reason: 'new colleague' } });
    const id = pick<string>(made, 'adminUserCreate', 'user', 'id');
    const link = await admin.send(LINK, { input: { id, reason: 'new colleague' } });
    const token = pick<string>(link, 'adminUserLinkCreate', 'url').split('#')[1];
    const input = { token, password: 'yet another good password', acceptPolicyVersion: POLICY };
    const claim = () => test.browser().send(CLAIM, { input });
    await update({ id, state: 'SUSPENDED' });
    expect(codesOf(await claim(), 'adminClaim')).toEqual(['CREDENTIALS_INVALID']);
    await update({ id, state: 'ACTIVE' });
    expect(codesOf(await claim(), 'adminClaim')).toEqual([]);
  });

  it('include at least one administrator, and are listed and changed by administrators only', async () => {
    expect(codesOf(await update({ id: await idOf(admin), role: 'USER' }), 'adminUserUpdate')).toEqual([
      'CONFLICT',
    ]);
    const found = await admin.send('{ admin { users(search: "ANN@") { totalCount nodes { email } } } }');
    expect(pick(found, 'admin', 'users')).toEqual({ totalCount: 1, nodes: [{ email: 'ann@example.com' }] });
    const carl = await test.user('carl@example.com');
    const refused = await carl.send(UPDATE, {
      input: { id: await idOf(carl), role: 'ADMIN', reason: 'please' },
    });
    expect(refused.errors[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('keep one administrator when the last two are demoted, suspended or closed at once', async () => {
    const first = await idOf(admin);
    const second = await idOf(await test.user('second-admin@example.com'));
    await update({ id: second, role: 'ADMIN' });
    const em = () => test.orm.em.fork();
    const change = { reason: 'test' };
    const removals = [
      () => updateUser(em(), { ...change, id: second, role: 'USER' }, SYSTEM_ACTOR),
      () => updateUser(em(), { ...change, id: second, state: 'SUSPENDED' }, SYSTEM_ACTOR),
      () => deleteAccount(em(), second, SYSTEM_ACTOR),
    ];
    for (const remove of removals) {
      const gate = Promise.withResolvers<undefined>();
      const demoted = Promise.withResolvers<undefined>();
      const demotion = inTransaction(em(), async (inner) => {
        await updateUser(inner, { ...change, id: first, role: 'USER' }, SYSTEM_ACTOR);
        demoted.resolve(undefined);
        await gate.promise;
      });
      await demoted.promise;
      const other = remove().then(
        () => 'done',
        (error: unknown) => error,
      );
      await waitingForLock();
      gate.resolve(undefined);
      await demotion;
      expect(await other).toMatchObject({ code: 'CONFLICT' });
      await updateUser(em(), { ...change, id: first, role: 'ADMIN' }, SYSTEM_ACTOR);
    }
  });

  it('cannot become administrators by a script, which cannot change administrators either', async () => {
    const made = await admin.send(
      'mutation { accessTokenCreate(input: { name: "s", scopes: [ADMIN_USERS] }) { secret } }',
    );
    const bearer = { authorization: `Bearer ${pick<string>(made, 'accessTokenCreate', 'secret')}` };
    const script = (source: string, input: object) =>
      test.browser().send(source, { input: { reason: 'test', ...input } }, bearer);
    const [first, bea] = [await idOf(admin), await idOf(await test.user('bea@example.com'))];
    const before = await query(test.orm.em.fork(), sql`select id, role, state from users order by id`);
    for (const [source, input] of [
      [CREATE, { email: 'mine@example.com', role: 'ADMIN' }],
      [LINK, { id: first }],
      [UPDATE, { id: bea, role: 'ADMIN' }],
      [UPDATE, { id: first, role: 'USER' }],
      [UPDATE, { id: first, state: 'SUSPENDED' }],
      [UPDATE, { id: first, allowedGroups: ['DEFAULT'] }],
    ] as const)
      expect((await script(source, input)).errors[0]?.extensions.code).toBe('FORBIDDEN');
    const after = await query(test.orm.em.fork(), sql`select id, role, state from users order by id`);
    expect(after).toEqual(before);
    expect(
      codesOf(await script(UPDATE, { id: bea, role: 'USER', state: 'ACTIVE' }), 'adminUserUpdate'),
    ).toEqual([]);
    const url = pick<string>(await script(LINK, { id: bea }), 'adminUserLinkCreate', 'url');
    // A claim link that was created before the promotion no longer works.
    await update({ id: bea, role: 'ADMIN' });
    const input = {
      token: url.split('#')[1],
      email: 'mine@example.com',
      password: 'yet another good password',
      acceptPolicyVersion: POLICY,
    };
    const claimed = await test.browser().send(CLAIM, { input });
    expect(codesOf(claimed, 'adminClaim')).toEqual(['CREDENTIALS_INVALID']);
  });

  /** Resolves when one transaction of this database is blocked by another. */
  async function waitingForLock(): Promise<void> {
    const waiting = sql`select 1 as one from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and a.datname = current_database()`;
    await expect.poll(() => queryOne(test.orm.em.fork(), waiting)).toBeDefined();
  }
});
