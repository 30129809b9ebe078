/** Tests the deletion of expired rows of accounts, on a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { deleteExpired } from './expired.ts';

const MAKE = `mutation ($input: AccessTokenCreateInput!) { accessTokenCreate(input: $input) {
  accessToken { id } secret userErrors { code } } }`;
const REVOKE = `mutation ($input: IdInput!) { accessTokenRevoke(input: $input) {
  accessToken { id } userErrors { code message } } }`;
const LIST = '{ viewer { accessTokens { nodes { name } totalCount } } }';
const MINUTES_OF_90_DAYS = 90 * 24 * 60;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const em = () => test.orm.em.fork();
const minutesFromNow = (minutes: number): Statement =>
  sql`clock_timestamp() + ${minutes} * interval '1 minute'`;
const countOf = async (rows: Statement): Promise<number> => (await query(em(), rows)).length;

async function tokenOf(owner: Browser, name: string): Promise<{ id: string; secret: string }> {
  const made = await owner.send(MAKE, { input: { name, scopes: ['KEYS_READ'], expiresInDays: 7 } });
  return {
    id: pick(made, 'accessTokenCreate', 'accessToken', 'id'),
    secret: pick(made, 'accessTokenCreate', 'secret'),
  };
}

const expire = (id: string, minutes: number) =>
  query(em(), sql`update access_token set expires_at = ${minutesFromNow(minutes)} where id = ${id}`);
const ask = (secret: string) =>
  test.browser().send('{ viewer { email } }', {}, { authorization: `Bearer ${secret}` });

describe('an expired or revoked access token', () => {
  it('is listed for 90 days and then deleted, while a valid token stays', async () => {
    const owner = await test.user('tokens@example.com');
    await tokenOf(owner, 'works');
    const ended = { young: 5, old: -5 };
    for (const [age, minutes] of Object.entries(ended)) {
      const end = minutes - MINUTES_OF_90_DAYS;
      await expire((await tokenOf(owner, `expired ${age}`)).id, end);
      const { id } = await tokenOf(owner, `revoked ${age}`);
      await query(em(), sql`update access_token set revoked_at = ${minutesFromNow(end)} where id = ${id}`);
    }
    await deleteExpired(em());
    const list = await owner.send(LIST);
    expect(list.data).toMatchObject({
      viewer: {
        accessTokens: {
          nodes: [{ name: 'revoked young' }, { name: 'expired young' }, { name: 'works' }],
          totalCount: 3,
        },
      },
    });
  });

  it('is refused with the same advice before and after it is deleted', async () => {
    const owner = await test.user('remedy@example.com');
    const { id, secret } = await tokenOf(owner, 'script');
    await expire(id, -1);
    const expired = await ask(secret);
    expect(expired.status).toBe(401);
    expect(expired.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(expired.errors[0]?.message).toContain('in the console: Profile, Access tokens.');
    await expire(id, -1 - MINUTES_OF_90_DAYS);
    await deleteExpired(em());
    const deleted = await ask(secret);
    expect([deleted.status, deleted.errors[0]?.message]).toEqual([401, expired.errors[0]?.message]);
    const revoked = await owner.send(REVOKE, { input: { id } });
    expect(codesOf(revoked, 'accessTokenRevoke')).toEqual(['NOT_FOUND']);
    expect(pick<{ message: string }[]>(revoked, 'accessTokenRevoke', 'userErrors')[0]?.message).toContain(
      'revoked more than 90 days ago',
    );
  });

  it.each([
    ['an API key for models', `sk-${'a'.repeat(48)}`, 'This is an API key for models'],
    ['a node token', 'gnt_abc', 'This node token is not valid.'],
    ['any other bearer token', 'abc', 'This bearer token is not valid.'],
  ])('gets another message than %s', async (_what, secret, message) => {
    expect((await ask(secret)).errors[0]?.message).toContain(message);
  });
});

describe('deleteExpired', () => {
  it('deletes only expired sessions, links, rate limit windows and sign-in networks', async () => {
    const owner = await test.user('over@example.com');
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const days = (count: number): Statement => minutesFromNow(count * 24 * 60);
    const rows = [
      [sql`session`, sql`insert into session (id, user_id, token_digest, expires_at) values`],
      [sql`account_link`, sql`insert into account_link (id, user_id, token_digest, expires_at) values`],
    ] as const;
    for (const [table, insert] of rows) {
      await query(
        em(),
        sql`${insert} ('old', ${id}, 'old', ${days(-1.1)}), ('new', ${id}, 'new', ${days(1)})`,
      );
      await deleteExpired(em());
      expect(await countOf(sql`select from ${table} where id = 'old'`)).toBe(0);
      expect(await countOf(sql`select from ${table} where id = 'new'`)).toBe(1);
    }
    await query(
      em(),
      sql`insert into attempt_window (subject, failures, started_at)
        values ('old', 1, ${days(-1.1)}), ('new', 1, ${days(-0.9)})`,
    );
    await query(
      em(),
      sql`insert into sign_in_place (user_id, digest, last_at)
        values (${id}, 'old', ${days(-181)}), (${id}, 'new', ${days(-179)})`,
    );
    await deleteExpired(em());
    const windows = sql`select subject from attempt_window where subject in ('old', 'new')`;
    const networks = sql`select digest from sign_in_place where digest in ('old', 'new')`;
    expect(await query(em(), windows)).toEqual([{ subject: 'new' }]);
    expect(await query(em(), networks)).toEqual([{ digest: 'new' }]);
  });

  it('deletes in bounded batches, and each row once when several instances run together', async () => {
    const owner = await test.user('many@example.com');
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const fill = (count: number) =>
      query(
        em(),
        sql`insert into session (id, user_id, token_digest, expires_at)
          select 'many-' || n, ${id}, 'many-' || n, ${minutesFromNow(-5)}
          from generate_series(1, ${count}::integer) n`,
      );
    const left = () => countOf(sql`select from session where id like 'many-%'`);
    await deleteExpired(em());
    await fill(7);
    expect(await deleteExpired(em(), { batchRows: 2, batchesMax: 2 })).toBe(4);
    expect(await left()).toBe(3);
    expect(await deleteExpired(em())).toBe(3);
    await fill(20);
    const round = { batchRows: 5, batchesMax: 10 };
    const deleted = await Promise.all([1, 2, 3].map(() => deleteExpired(em(), round)));
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await left()).toBe(0);
    expect(await owner.send(LIST)).toMatchObject({ errors: [] });
  });
});
