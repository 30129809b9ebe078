/** The objects that a local start creates in the database and the data folder. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { findNodeByToken } from '../nodes/node.service.ts';
import { createOrm } from '../database/orm.ts';
import { seed } from '../seeds.ts';
import { readSettings, type Settings } from '../process/settings.ts';
import { bootstrap } from './bootstrap.ts';

type Orm = Awaited<ReturnType<typeof createOrm>>;

describe('the bootstrap of a local start', () => {
  let database: TestDatabase;
  let orm: Orm;
  let settings: Settings;
  beforeEach(async () => {
    database = await createTestDatabase();
    orm = await createOrm(database.url);
    settings = readSettings({
      DATABASE_URL: database.url,
      SECRET_KEY: 'a'.repeat(32),
      DATA_DIR: mkdtempSync(path.join(tmpdir(), 'gateway-bootstrap-')),
      CONSOLE_URL: 'http://localhost:4000',
      LOCAL_START: '1',
    });
    await seed(orm.em.fork(), settings);
  });
  afterEach(async () => {
    await orm.close(true);
    await database.drop();
    rmSync(settings.dataDir, { recursive: true, force: true });
  });
  const environment = { DEMO_UPSTREAM_URL: 'http://127.0.0.1:1', DEMO: 'auto' };
  const tokenFile = (): string => path.join(settings.dataDir, 'node-token');
  const token = (): string => readFileSync(tokenFile(), 'utf8').trim();

  test('creates a node token in a file that only its owner can read, and keeps the token', async () => {
    await bootstrap(orm, settings, environment);
    const node = await findNodeByToken(orm.em.fork(), token());
    expect(node?.name).toMatch(/^local-/);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    const first = token();
    await bootstrap(orm, settings, environment);
    expect(token()).toBe(first);
  });

  test('replaces a token that is unknown to the database, without creating a second node', async () => {
    await bootstrap(orm, settings, environment);
    const node = await findNodeByToken(orm.em.fork(), token());
    writeFileSync(tokenFile(), 'gnt_of_another_database');
    await bootstrap(orm, settings, environment);
    expect(await findNodeByToken(orm.em.fork(), token())).toEqual(node);
  });

  test('returns a claim link, with the token in its fragment, until the account is claimed', async () => {
    const { claimUrl } = await bootstrap(orm, settings, environment);
    expect(claimUrl).toMatch(/^http:\/\/localhost:4000\/claim#gwl_\w+$/);
    await orm.em.fork().execute(`update users set password_hash = 'set' where role = 'ADMIN'`);
    expect(await bootstrap(orm, settings, environment)).not.toHaveProperty('claimUrl');
  });

  test('creates the demo once: upstreams for every model, credit, and a key', async () => {
    const { demo, demoKey } = await bootstrap(orm, settings, environment);
    expect(demo).toBe(true);
    expect(demoKey).toMatch(/^sk-\w{48}$/);
    expect(await bootstrap(orm, settings, environment)).toMatchObject({ demo, demoKey });
    const [facts] = await orm.em.fork().execute(`select
      (select count(*)::int from provider where demo) as providers,
      (select count(distinct model_id)::int from route) as models,
      (select count(*)::int from api_key) as keys,
      (select sum(balance)::text from ledger_account where kind = 'WALLET' and bucket = 'GIFT') as gift`);
    expect(facts).toEqual({ providers: 2, models: 10, keys: 1, gift: '25000000' });
    expect(statSync(path.join(settings.dataDir, 'demo-key')).mode & 0o777).toBe(0o600);
  });

  test('offers play money with the secrets of the data folder, unless DEMO is off', async () => {
    const withProcessor = { ...environment, DEMO_PROCESSOR_URL: 'http://127.0.0.1:3' };
    expect(await bootstrap(orm, settings, withProcessor)).not.toHaveProperty('playMoney');
    for (const name of ['demo-processor-key', 'demo-webhook-secret'])
      writeFileSync(path.join(settings.dataDir, name), `a ${name} of this test`);
    expect(await bootstrap(orm, settings, { ...withProcessor, DEMO: 'off' })).not.toHaveProperty('playMoney');
    expect(await bootstrap(orm, settings, withProcessor)).toMatchObject({ playMoney: true });
    const moved = { ...withProcessor, DEMO: 'off', DEMO_PROCESSOR_URL: 'http://127.0.0.1:4' };
    expect(await bootstrap(orm, settings, moved)).toMatchObject({ playMoney: true });
    const rows = await orm.em.fork().execute(`select card_enabled, play_money, api_address, api_origin,
      (select count(*)::int from payment_webhook_secret) as secrets from payment_settings`);
    const address = 'http://127.0.0.1:4';
    expect(rows).toEqual([
      { card_enabled: true, play_money: true, api_address: address, api_origin: address, secrets: 1 },
    ]);
  });

  test('ends play money if the demo has no provider', async () => {
    const withProcessor = { ...environment, DEMO_PROCESSOR_URL: 'http://127.0.0.1:3' };
    for (const name of ['demo-processor-key', 'demo-webhook-secret'])
      writeFileSync(path.join(settings.dataDir, name), `a ${name} of this test`);
    await bootstrap(orm, settings, withProcessor);
    await orm.em.fork().execute('delete from provider where demo');
    expect(await bootstrap(orm, settings, withProcessor)).toMatchObject({ demo: false });
    const [row] = await orm.em.fork().execute(`select play_money, api_key,
      (select sum(balance)::text from ledger_account where kind = 'WALLET') as left from payment_settings`);
    expect(row).toEqual({ play_money: false, api_key: null, left: '0' });
  });

  test('announces a changed address of the demo upstream to the nodes', async () => {
    await bootstrap(orm, settings, environment);
    await bootstrap(orm, settings, { ...environment, DEMO_UPSTREAM_URL: 'http://127.0.0.1:2' });
    const rows = await orm.em.fork()
      .execute(`select payload->>'baseUrl' as url, payload->'allowPrivate' as open
      from config_log where kind = 'PROVIDER' order by 1`);
    expect(rows).toEqual([
      { url: 'http://127.0.0.1:2/v1', open: true },
      { url: 'http://127.0.0.1:2/v1beta', open: true },
    ]);
  });

  test('never creates the demo if DEMO was off at the first start', async () => {
    expect(await bootstrap(orm, settings, { ...environment, DEMO: 'off' })).toMatchObject({ demo: false });
    expect(await bootstrap(orm, settings, environment)).toMatchObject({ demo: false });
    expect(await orm.em.fork().execute('select 1 from provider')).toEqual([]);
  });

  test('does not create the demo again after its upstreams were deleted', async () => {
    await bootstrap(orm, settings, environment);
    await orm.em.fork().execute('delete from provider where demo');
    const result = await bootstrap(orm, settings, environment);
    expect(result.demo).toBe(false);
    expect(result.demoKey).toBeUndefined();
  });
});
