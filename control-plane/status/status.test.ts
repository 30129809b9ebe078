/** Tests the status page's API on a database: sums of the usage log, incidents and feeds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { newId } from '../database/ids.ts';
import { query, queryRow, sql } from '../database/sql.ts';
import { noteProbes, rollUpAll, rollUpRecent } from './roll-up.service.ts';
import { forgetStatus, readStatus, statusOf } from './status.service.ts';
import { firstDay } from './uptime.rules.ts';

const STATUS = `{ serviceStatus { models { name share days } families { family share }
  incidents { id title state modelNames updates { state message } } } }`;
const CREATE = `mutation ($input: AdminIncidentInput!) { adminIncidentCreate(input: $input) {
  incident { id version } userErrors { code field } } }`;
const UPDATE = `mutation ($input: AdminIncidentUpdateInput!) { adminIncidentUpdate(input: $input) {
  incident { id version state } userErrors { code field } } }`;
const DELETE = `mutation ($input: AdminReasonInput!) { adminIncidentDelete(input: $input) {
  ok userErrors { code } } }`;
const TOKEN = `mutation ($input: AccessTokenCreateInput!) { accessTokenCreate(input: $input) { secret } }`;

let test: TestApp;
let admin: Browser;
let model: string;
const wallets: string[] = [];
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
  for (const number of [1, 2, 3, 4, 5, 6]) await test.user(`customer-${number}@example.com`);
  const em = test.orm.em.fork();
  // Customers with the same hash count as one.
  const rows = await query<{ id: string }>(
    em,
    sql`select distinct on (hashtextextended(id, 0) & 63) id from wallet limit 3`,
  );
  wallets.push(...rows.map(({ id }) => id));
  ({ name: model } = await queryRow<{ name: string }>(
    em,
    sql`select name from model where state = 'PUBLISHED' order by position, name limit 1`,
  ));
});
afterAll(() => test.close());

interface Traffic {
  wallet: string;
  times: number;
  outcome?: string;
  errorCode?: string;
  age?: string;
  modelName?: string;
}

async function send({ wallet, times, outcome = 'DELIVERED', ...rest }: Traffic): Promise<void> {
  const { errorCode = null, age = '1 hour', modelName = model } = rest;
  for (let at = 0; at < times; at += 1)
    await query(
      test.orm.em.fork(),
      sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
        model_name, family, base_price, ratio, cost, status, outcome, error_code, http_status, streamed,
        latency_ms)
      select ${newId('use')}, ${newId('use')}, now() - ${age}::interval, 'nod', 'key', ${wallet}, 'default',
        'API_KEY', ${modelName}, 'chat_completions', 0, '1', 0, 'SUCCEEDED', ${outcome}, ${errorCode}, 200,
        false, 5`,
    );
}

const shareOf = async (name: string): Promise<string | null | undefined> =>
  (await readStatus(test.orm.em.fork(), new Date())).models.find((row) => row.name === name)?.share;
const sums = (): Promise<object[]> =>
  query(test.orm.em.fork(), sql`select * from uptime_hour order by hour, model_name, family`);

describe('uptime from real traffic', () => {
  it('is null until enough customers sent enough requests', async () => {
    const [first = '', second = '', third = ''] = wallets;
    await send({ wallet: first, times: 30 });
    await rollUpRecent(test.orm.em.fork());
    expect(await shareOf(model)).toBeNull();
    for (const wallet of [second, third]) await send({ wallet, times: 1 });
    await rollUpRecent(test.orm.em.fork());
    expect(await shareOf(model)).toBe('1.0000');
  });

  it('counts failures of upstreams and of the gateway, and no refusals or ends by customers', async () => {
    const [wallet = ''] = wallets;
    await send({ wallet, times: 3, outcome: 'UPSTREAM_FAILED', errorCode: 'upstream_timeout' });
    await send({ wallet, times: 1, outcome: 'REFUSED', errorCode: 'unavailable' });
    for (const outcome of ['REFUSED', 'THROTTLED', 'NO_CONTENT', 'CLIENT_LEFT', 'KEY_CUT'])
      await send({ wallet, times: 2, outcome, errorCode: 'invalid_request' });
    await rollUpRecent(test.orm.em.fork());
    expect(await shareOf(model)).toBe('0.8888');
  });

  it('stays the same if the job runs again, also at once in several processes', async () => {
    const before = await sums();
    await Promise.all([1, 2, 3].map(() => rollUpAll(test.orm.em.fork())));
    expect(await sums()).toEqual(before);
    await query(test.orm.em.fork(), sql`delete from uptime_hour_read`);
    await Promise.all([1, 2, 3].map(() => rollUpAll(test.orm.em.fork())));
    expect(await sums()).toEqual(before);
  });

  it('of an hour is computed once by control planes that run together', async () => {
    const before = await sums();
    const [noted] = await query<{ hour: string; requests: string }>(
      test.orm.em.fork(),
      sql`delete from uptime_hour_read returning hour::text, requests::text`,
    );
    const hour = sql`${noted?.hour}::timestamptz`;
    await query(test.orm.em.fork(), sql`update uptime_hour set served = 0 where hour = ${hour}`);
    const wrong = await sums();
    expect(wrong).not.toEqual(before);
    let running: Promise<void> | undefined;
    await test.orm.em.fork().transactional(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(hashtextextended('uptime', 0))`);
      running = rollUpRecent(test.orm.em.fork());
      const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(() => query(test.orm.em.fork(), waiting)).toHaveLength(1);
      await query(em, sql`insert into uptime_hour_read values (${hour}, ${noted?.requests})`);
    });
    await running;
    expect(await sums()).toEqual(wrong);
    await query(test.orm.em.fork(), sql`delete from uptime_hour_read`);
    await rollUpRecent(test.orm.em.fork());
    expect(await sums()).toEqual(before);
  });

  const HOUR_MS = 3_600_000;
  it.each([
    ['every minute only if it grew by half', rollUpRecent, 2, 299_999, 300_000],
    ['every minute if it grew by 1 % and has ended', rollUpRecent, -30, 201_999, 202_000],
    ['every hour if it changed at all', rollUpAll, -30, 200_000, 200_001],
  ])(
    'of an hour with more than 100,000 requests is computed again %s',
    async (_, run, hours, tooFew, enough) => {
      const at = new Date((Math.floor(Date.now() / HOUR_MS) + hours) * HOUR_MS);
      const em = test.orm.em.fork();
      const isComputed = async (requests: number): Promise<boolean> => {
        await query(em, sql`insert into uptime_hour_read values (${at}, 200000)`);
        await query(
          em,
          sql`insert into usage_hour_all (hour, model_name, pool_id, billing_group, source, status, requests,
            input_tokens, output_tokens, cost)
            values (${at}, 'x', '', 'x', 'x', 'x', ${requests}, 0, 0, 0)`,
        );
        await run(test.orm.em.fork());
        await query(em, sql`delete from usage_hour_all where hour = ${at}`);
        const noted = sql`delete from uptime_hour_read where hour = ${at} returning requests::integer`;
        return (await queryRow<{ requests: number }>(em, noted)).requests === 0;
      };
      expect(await isComputed(tooFew)).toBe(false);
      expect(await isComputed(enough)).toBe(true);
    },
  );

  it('includes requests that a node reports days later', async () => {
    const [wallet = ''] = wallets;
    await send({ wallet, times: 2, age: '5 days', modelName: 'late-model' });
    await rollUpRecent(test.orm.em.fork());
    const late = async (): Promise<object[]> =>
      query(test.orm.em.fork(), sql`select served::integer from uptime_hour where model_name = 'late-model'`);
    expect(await late()).toEqual([]);
    await rollUpAll(test.orm.em.fork());
    expect(await late()).toEqual([{ served: 2 }]);
  });

  it('is deleted after the days of the status page', async () => {
    const em = test.orm.em.fork();
    await query(
      em,
      sql`insert into uptime_hour (hour, model_name, family)
        values (${new Date(firstDay(new Date()).getTime() - 3 * 86_400_000)}, 'old', 'embeddings')`,
    );
    await rollUpAll(em);
    expect(await query(em, sql`select from uptime_hour where model_name = 'old'`)).toEqual([]);
  });
});

describe('uptime from probes', () => {
  it('counts a model as up while one of its upstreams works, as down if all fail, and else not', async () => {
    const em = test.orm.em.fork();
    const [one, two] = [newId('prv'), newId('prv')];
    const id = newId('mdl');
    await query(
      em,
      sql`insert into model select (jsonb_populate_record(model, jsonb_build_object('id', ${id}::text,
        'name', 'probed-model', 'families', array['messages']))).* from model where name = ${model}`,
    );
    for (const provider of [one, two]) {
      await query(
        em,
        sql`insert into provider (id, name, protocols, base_url, enabled, timeouts, quirks, probe_minutes,
          created_at, version)
        values (${provider}, ${provider}, '{openai-chat}', 'https://x.example', true, '{}', '[]', 1,
          now(), 1)`,
      );
      await query(
        em,
        sql`insert into route (id, model_id, provider_id, upstream_model, families, priority, weight, enabled)
        values (${newId('rte')}, ${id}, ${provider}, 'x', '{chat_completions}', 0, 1, true)`,
      );
    }
    const probed = async (provider: string, error: string | null): Promise<unknown> => {
      await query(
        em,
        sql`insert into upstream_probe (provider_id, at, latency_ms, error)
        values (${provider}, now(), 1, ${error})
        on conflict (provider_id) do update set error = excluded.error`,
      );
      await noteProbes(em, [provider]);
      return queryRow(
        em,
        sql`select coalesce(sum(checks_up), 0)::integer as up, coalesce(sum(checks_down), 0)::integer as down
        from uptime_hour where model_name = 'probed-model' and family = 'messages'`,
      );
    };
    expect(await probed(one, 'FAILED')).toEqual({ up: 0, down: 0 });
    expect(await probed(two, 'TIMEOUT')).toEqual({ up: 0, down: 1 });
    expect(await probed(two, 'BUSY')).toEqual({ up: 0, down: 1 });
    expect(await probed(two, null)).toEqual({ up: 1, down: 1 });
    expect(await probed(one, 'REFUSED')).toEqual({ up: 2, down: 1 });
    expect(await shareOf('probed-model')).toBe('0.6666');
  });
});

describe('incidents', () => {
  const draft = (more: object = {}) => ({
    input: {
      kind: 'OUTAGE',
      title: 'Errors & <delays>',
      state: 'INVESTIGATING',
      message: 'We look for the cause.',
      modelNames: [model],
      reason: 'seen in the metrics',
      ...more,
    },
  });

  it('are written by administrators and their access tokens with the scope, and by nobody else', async () => {
    const user = await test.user('reader@example.com');
    for (const [browser, code] of [
      [user, 'FORBIDDEN'],
      [test.browser(), 'UNAUTHENTICATED'],
    ] as const)
      expect((await browser.send(CREATE, draft())).errors[0]?.extensions.code).toBe(code);
    const token = async (scope: string): Promise<Record<string, string>> => {
      const input = { name: scope, scopes: [scope], expiresInDays: 1 };
      const secret = pick<string>(await admin.send(TOKEN, { input }), 'accessTokenCreate', 'secret');
      return { authorization: `Bearer ${secret}` };
    };
    const [other, right] = [await token('ADMIN_CATALOG'), await token('ADMIN_NODES')];
    const refused = await test.browser().send(CREATE, draft(), other);
    expect(refused.errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(codesOf(await test.browser().send(CREATE, draft(), right), 'adminIncidentCreate')).toEqual([]);
    const log = await admin.send(
      '{ admin { auditLog(first: 1, filter: { actions: ["incident.create"] }) { nodes { reason after } } } }',
    );
    expect(pick(log, 'admin', 'auditLog', 'nodes')).toMatchObject([
      { reason: 'seen in the metrics', after: { title: 'Errors & <delays>', modelNames: [model] } },
    ]);
  });

  it('appear at once on the public status, with their messages, until they are deleted', async () => {
    const created = await admin.send(CREATE, draft({ title: 'Second' }));
    const { id, version } = pick<{ id: string; version: number }>(created, 'adminIncidentCreate', 'incident');
    const change = { input: { id, version, state: 'RESOLVED', message: 'It works.', reason: 'watched' } };
    expect(codesOf(await admin.send(UPDATE, change), 'adminIncidentUpdate')).toEqual([]);
    expect(codesOf(await admin.send(UPDATE, change), 'adminIncidentUpdate')).toEqual(['STALE_VERSION']);
    const shown = async () =>
      pick<{ id: string }[]>(await test.browser().send(STATUS), 'serviceStatus', 'incidents');
    expect((await shown()).find((incident) => incident.id === id)).toMatchObject({
      state: 'RESOLVED',
      updates: [{ message: 'It works.' }, { message: 'We look for the cause.' }],
    });
    const removed = await admin.send(DELETE, { input: { id, reason: 'a mistake' } });
    expect(codesOf(removed, 'adminIncidentDelete')).toEqual([]);
    expect((await shown()).find((incident) => incident.id === id)).toBeUndefined();
  });

  it('lose their planned end if a maintenance becomes an outage', async () => {
    const times = {
      startsAt: new Date().toISOString(),
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const planned = draft({ kind: 'MAINTENANCE', state: 'IN_PROGRESS', ...times });
    const created = await admin.send(CREATE, planned);
    const { id, version } = pick<{ id: string; version: number }>(created, 'adminIncidentCreate', 'incident');
    const change = {
      id,
      version,
      kind: 'OUTAGE',
      state: 'IDENTIFIED',
      message: 'It failed.',
      reason: 'seen',
    };
    expect(codesOf(await admin.send(UPDATE, { input: change }), 'adminIncidentUpdate')).toEqual([]);
  });

  it('are on the status that is read next, although an older read has not ended', async () => {
    const em = test.orm.em.fork();
    forgetStatus(em);
    const older = statusOf(em);
    const created = await admin.send(CREATE, draft({ title: 'During a read' }));
    const id = pick<string>(created, 'adminIncidentCreate', 'incident', 'id');
    await older;
    expect((await statusOf(em)).incidents.map((incident) => incident.id)).toContain(id);
  });

  it('are refused with a wrong state, model, time or text', async () => {
    const wrong: [object, string][] = [
      [{ state: 'SCHEDULED' }, 'INVALID'],
      [{ modelNames: ['no-such-model'] }, 'NOT_FOUND'],
      [{ startsAt: new Date(Date.now() + 86_400_000).toISOString() }, 'INVALID'],
      [{ endsAt: new Date().toISOString() }, 'INVALID'],
      [{ kind: 'MAINTENANCE', state: 'SCHEDULED' }, 'REQUIRED'],
      [{ title: ' ' }, 'REQUIRED'],
      [{ message: 'x'.repeat(4001) }, 'INVALID'],
      [{ title: 'a\0b' }, 'INVALID'],
      [{ reason: '' }, 'REQUIRED'],
    ];
    for (const [more, code] of wrong)
      expect(codesOf(await admin.send(CREATE, draft(more)), 'adminIncidentCreate')).toEqual([code]);
  });
});

describe('the feeds of incidents', () => {
  const feed = (path: string, headers: Record<string, string> = {}) => fetch(test.url + path, { headers });

  it('are served to everybody with an ETag, and as 304 to readers that have them', async () => {
    for (const path of ['/status/feed.atom', '/status/feed.json']) {
      const first = await feed(path);
      expect(first.status).toBe(200);
      expect(first.headers.get('cache-control')).toContain('max-age=60');
      const etag = first.headers.get('etag') ?? '';
      expect((await feed(path, { 'if-none-match': `"other", W/${etag}` })).status).toBe(304);
      const modified = first.headers.get('last-modified') ?? '';
      expect((await feed(path, { 'if-modified-since': modified })).status).toBe(304);
      expect((await feed(path, { 'if-none-match': '"other"', 'if-modified-since': modified })).status).toBe(
        200,
      );
    }
  });

  it('show a new incident', async () => {
    const input = {
      kind: 'DEGRADATION',
      title: 'Slow answers',
      state: 'IDENTIFIED',
      message: 'Long queues.',
    };
    await admin.send(CREATE, { input: { ...input, reason: 'seen' } });
    const { items } = await (await feed('/status/feed.json')).json();
    expect(items[0]).toMatchObject({
      title: 'Slow answers',
      content_text: expect.stringContaining('Long queues.'),
    });
    expect(await (await feed('/status/feed.atom')).text()).toContain('<title>Slow answers</title>');
  });
});

describe('the public status', () => {
  it('needs no session, and describes models of the catalog only', async () => {
    forgetStatus(test.orm.em.fork());
    const answer = await test.browser().send(STATUS);
    const models = pick<{ name: string; days: unknown[] }[]>(answer, 'serviceStatus', 'models');
    expect(models.map(({ name }) => name)).toContain(model);
    expect(models.map(({ name }) => name)).not.toContain('late-model');
    expect(models[0]?.days).toHaveLength(90);
  });

  it('is read once for any number of callers', async () => {
    forgetStatus(test.orm.em.fork());
    const first = Promise.all(Array.from({ length: 200 }, () => statusOf(test.orm.em.fork())));
    const later = Promise.all(Array.from({ length: 200 }, () => statusOf(test.orm.em.fork())));
    expect(new Set([...(await first), ...(await later), await statusOf(test.orm.em.fork())]).size).toBe(1);
  });
});
