/** The embedded PostgreSQL: start, stop, adoption, recovery and its log. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import pg from 'pg';
import { startPostgres, type Postgres } from './postgres.ts';

const isSuperuser = process.getuid?.() === 0;
const FAST = { fsync: 'off' };

describe('the embedded PostgreSQL', () => {
  let dataDir: string;
  let running: Postgres[];
  const start = async (): Promise<Postgres> => {
    const postgres = await startPostgres({ dataDir, settings: FAST });
    running.push(postgres);
    return postgres;
  };
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-postgres-'));
    chmodSync(dataDir, 0o711);
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((postgres) => postgres.stop()));
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('keeps committed data over a restart, and leaves no process when it stops', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    expect(first.isRunning()).toBe(false);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('requires its password, which only the owner of the folder can read', async () => {
    const { url } = await start();
    const wrong = new URL(url);
    wrong.password = 'guessed';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
    expect(statSync(path.join(dataDir, 'postgres-password')).mode & 0o777).toBe(0o600);
  });

  test('is adopted when the process that started it was killed', async () => {
    const owner = startOwner(dataDir);
    const [message] = (await once(owner, 'message')) as [{ pid: number; port: number; url: string }];
    await query(message.url, 'create table kept as select 42 as answer');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const adopted = await start();
    expect(adopted).toMatchObject({ adopted: true, pid: message.pid, port: message.port });
    expect(await query(adopted.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await adopted.stop();
    expect(adopted.isRunning()).toBe(false);
  });

  test('recovers after the server was killed', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => first.isRunning()).toBe(false);
    const second = await start();
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('waits for processes of a killed server that have not ended yet', async () => {
    const first = await start();
    const client = new pg.Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = rows[0]?.pid ?? 0;
    process.kill(backend, 'SIGSTOP');
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => first.isRunning()).toBe(false);
    const second = start();
    const log = path.join(dataDir, 'logs', 'postgres.log');
    await expect.poll(() => readFileSync(log, 'utf8')).toContain('pre-existing shared memory block');
    process.kill(backend, 'SIGCONT');
    expect(await query((await second).url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is created again if its first creation was interrupted', async () => {
    mkdirSync(path.join(dataDir, 'postgres.init'));
    writeFileSync(path.join(dataDir, 'postgres.init', 'half'), 'made');
    const { url } = await start();
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir).sort()).toEqual(['logs', 'postgres', 'postgres-password']);
  });

  test("starts if a crash left a pid file with another program's pid", async () => {
    const first = await start();
    await first.stop();
    const note = `${process.pid}\n${dataDir}/postgres\n0\n5432\n\n127.0.0.1\n0 0\nready\n`;
    writeFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), note);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test("reports PostgreSQL's message if it does not start", async () => {
    const postgres = startPostgres({ dataDir, settings: { shared_buffers: 'much' } });
    await expect(postgres).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
  });

  test('writes neither statements nor values to its log', async () => {
    const { url } = await start();
    await expect(query(url, `select 'a very private word'::int`)).rejects.toThrow();
    await query(url, 'create table one (value text unique)');
    await query(url, `insert into one values ('another private word')`);
    await expect(query(url, `insert into one values ('another private word')`)).rejects.toThrow();
    const log = readFileSync(path.join(dataDir, 'logs', 'postgres.log'), 'utf8');
    expect(log).not.toContain('insert into');
    expect(log).not.toMatch(/private word/);
  });

  test.runIf(isSuperuser)(
    'runs as a user of its own if root starts it, also on a cluster of nobody',
    async () => {
      const first = await start();
      const { uid } = statSync(`/proc/${first.pid}`);
      const passwd = readFileSync('/etc/passwd', 'utf8');
      expect(passwd.split('\n').map((line) => line.split(':')[2])).not.toContain(String(uid));
      await first.stop();
      const cluster = path.join(dataDir, 'postgres');
      const files = readdirSync(cluster, { recursive: true, encoding: 'utf8' }).map((file) =>
        path.join(cluster, file),
      );
      for (const file of [cluster, ...files]) lchownSync(file, 65_534, 65_534);
      const second = await start();
      expect(statSync(`/proc/${second.pid}`).uid).toBe(uid);
      expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    },
  );

  test.runIf(isSuperuser)(
    'runs in /var/lib/gateway if other users cannot enter the data folder',
    async () => {
      chmodSync(dataDir, 0o700);
      const { url } = await start();
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
      const [{ folder } = { folder: '' }] = await query<{ folder: string }>(
        url,
        `select setting as folder from pg_settings
      where name = 'data_directory'`,
      );
      expect(folder).toMatch(/^\/var\/lib\/gateway\/data\//);
      expect(existsSync(path.join(dataDir, 'postgres'))).toBe(false);
      await Promise.all(running.map((postgres) => postgres.stop()));
      rmSync(path.dirname(folder), { recursive: true, force: true });
    },
  );
});

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  // Some tests kill the server while a connection closes.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

function startOwner(dataDir: string): ReturnType<typeof spawn> {
  const program = `
    import { startPostgres } from ${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)};
    const dataDir = ${JSON.stringify(dataDir)};
    const { pid, port, url } = await startPostgres({ dataDir, settings: { fsync: 'off' } });
    process.send({ pid, port, url });
    setInterval(() => undefined, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
