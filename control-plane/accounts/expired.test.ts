/** What is forgotten of accounts when it can be used no more, on a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';
import { forgetExpired } from './expired.ts';

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
const later = (minutes: number): Statement => sql`clock_timestamp() + ${minutes} * interval '1 minute'`;
const countOf = async (rows: Statement): Promise<number> => (await query(em(), rows)).length;

async function tokenOf(owner: Browser, name: string): Promise<{ id: string; secret: string }> {
  const made = await owner.send(MAKE, { input: { name, scopes: ['KEYS_READ'], expiresInDays: 7 } });
  return {
    id: pick(made, 'accessTokenCreate', 'accessToken', 'id'),
    secret: pick(made, 'accessTokenCreate', 'secret'),
  };
}

const expire = (id: string, minutes: number) =>
  query(em(), sql`update access_token set expires_at = ${later(minutes)} where id = ${id}`);
const ask = (secret: string) =>
  test.browser().send('{ viewer { email } }', {}, { authorization: `Bearer ${secret}` });

describe('an access token that ended', () => {
  it('is listed for 90 days and then forgotten, however it ended; one that works stays', async () => {
    const owner = await test.user('tokens@example.com');
    await tokenOf(owner, 'works');
    const ended = { young: 5, old: -5 };
    for (const [age, minutes] of Object.entries(ended)) {
      const end = minutes - MINUTES_OF_90_DAYS;
      await expire((await tokenOf(owner, `expired ${age}`)).id, end);
      const { id } = await tokenOf(owner, `revoked ${age}`);
      await query(em(), sql`update access_token set revoked_at = ${later(end)} where id = ${id}`);
    }
    await forgetExpired(em());
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

  it('is refused with what to do next, before and after it is forgotten', async () => {
    const owner = await test.user('remedy@example.com');
    const { id, secret } = await tokenOf(owner, 'script');
    await expire(id, -1);
    const expired = await ask(secret);
    expect(expired.status).toBe(401);
    expect(expired.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(expired.errors[0]?.message).toContain('Make a new one in the console: Profile, Access tokens.');
    await expire(id, -1 - MINUTES_OF_90_DAYS);
    await forgetExpired(em());
    const forgotten = await ask(secret);
    expect([forgotten.status, forgotten.errors[0]?.message]).toEqual([401, expired.errors[0]?.message]);
    const revoked = await owner.send(REVOKE, { input: { id } });
    expect(codesOf(revoked, 'accessTokenRevoke')).toEqual(['NOT_FOUND']);
    expect(pick<{ message: string }[]>(revoked, 'accessTokenRevoke', 'userErrors')[0]?.message).toContain(
      'ended more than 90 days ago are forgotten',
    );
  });

  it.each([
    ['a key for models', `sk-${'a'.repeat(48)}`, 'This is a key for models.'],
    ['a token of a node', 'gnt_abc', 'Give the node a new one'],
    ['anything else', 'abc', 'access tokens are (gqt_…)'],
  ])('is told from %s, which is refused with other words', async (_what, secret, words) => {
    expect((await ask(secret)).errors[0]?.message).toContain(words);
  });
});

describe('what is over', () => {
  it('goes with its session, link, attempt or place; what still counts stays', async () => {
    const owner = await test.user('over@example.com');
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const days = (count: number): Statement => later(count * 24 * 60);
    const rows = [
      [sql`session`, sql`insert into session (id, user_id, token_digest, expires_at) values`],
      [sql`account_link`, sql`insert into account_link (id, user_id, token_digest, expires_at) values`],
    ] as const;
    for (const [table, insert] of rows) {
      await query(
        em(),
        sql`${insert} ('old', ${id}, 'old', ${days(-1.1)}), ('new', ${id}, 'new', ${days(1)})`,
      );
      await forgetExpired(em());
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
    await forgetExpired(em());
    const attempts = sql`select subject from attempt_window where subject in ('old', 'new')`;
    const places = sql`select digest from sign_in_place where digest in ('old', 'new')`;
    expect(await query(em(), attempts)).toEqual([{ subject: 'new' }]);
    expect(await query(em(), places)).toEqual([{ digest: 'new' }]);
  });

  it('goes in bounded batches, once, though several control planes look at the same time', async () => {
    const owner = await test.user('many@example.com');
    const id = pick<string>(await owner.send('{ viewer { id } }'), 'viewer', 'id');
    const fill = (count: number) =>
      query(
        em(),
        sql`insert into session (id, user_id, token_digest, expires_at)
          select 'many-' || n, ${id}, 'many-' || n, ${later(-5)}
          from generate_series(1, ${count}::integer) n`,
      );
    const left = () => countOf(sql`select from session where id like 'many-%'`);
    await forgetExpired(em());
    await fill(7);
    expect(await forgetExpired(em(), { batchRows: 2, batchesMax: 2 })).toBe(4);
    expect(await left()).toBe(3);
    expect(await forgetExpired(em())).toBe(3);
    await fill(20);
    const round = { batchRows: 5, batchesMax: 10 };
    const gone = await Promise.all([1, 2, 3].map(() => forgetExpired(em(), round)));
    expect(gone.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await left()).toBe(0);
    expect(await owner.send(LIST)).toMatchObject({ errors: [] });
  });
});
