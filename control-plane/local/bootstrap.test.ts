import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { findNodeByToken } from '../nodes/node.service.ts';
import { createOrm } from '../orm.ts';
import { seed } from '../seeds.ts';
import { readSettings, type Settings } from '../settings.ts';
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
  const tokenFile = (): string => path.join(settings.dataDir, 'node-token');
  const token = (): string => readFileSync(tokenFile(), 'utf8').trim();

  test('makes a token for the node, for the eyes of the owner only, and keeps it', async () => {
    await bootstrap(orm, settings);
    const node = await findNodeByToken(orm.em.fork(), token());
    expect(node?.name).toMatch(/^local-/);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    const first = token();
    await bootstrap(orm, settings);
    expect(token()).toBe(first);
  });

  test('replaces a token that the database does not know, without a second node', async () => {
    await bootstrap(orm, settings);
    const node = await findNodeByToken(orm.em.fork(), token());
    writeFileSync(tokenFile(), 'gnt_of_another_database');
    await bootstrap(orm, settings);
    expect(await findNodeByToken(orm.em.fork(), token())).toEqual(node);
  });

  test('prints a claim link with the token in the fragment until the administrator exists', async () => {
    const { claimUrl } = await bootstrap(orm, settings);
    expect(claimUrl).toMatch(/^http:\/\/localhost:4000\/claim#gwl_\w+$/);
    await orm.em.fork().execute(`update users set password_hash = 'set' where role = 'ADMIN'`);
    expect(await bootstrap(orm, settings)).not.toHaveProperty('claimUrl');
  });
});
