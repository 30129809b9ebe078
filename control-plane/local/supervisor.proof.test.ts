/** `npm start` as a real process, with stand-ins for the planes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findFreePort } from './ports.ts';

/** A plane that is ready at once, logs its pid and environment, and exits like the real planes. */
const PLANE = `
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  process.stdout.write(JSON.stringify({ pid: process.pid, environment: process.env }) + '\\n');
  setInterval(() => undefined, 1000);
  const bootstrap = { demo: true, demoKey: 'sk-demo', playMoney: true, claimUrl: 'http://claim' };
  process.send({ type: 'ready', bootstrap });`;
const BROKEN_PLANE = `console.error('the reason'); process.exit(3);`;
const DEAF_PLANE = `${PLANE} process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => undefined);`;

interface Planes {
  control: string;
  node: string;
}

describe('npm start', () => {
  let dataDir: string;
  let starts: Start[];
  const start = (environment: NodeJS.ProcessEnv = {}, planes: Partial<Planes> = {}): Start => {
    const started = new Start(
      { DATA_DIR: dataDir, CONTROL_PORT: '0', DATA_PORT: '0', ...environment },
      planes,
    );
    starts.push(started);
    return started;
  };
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-start-'));
    chmodSync(dataDir, 0o711);
    starts = [];
  });
  afterEach(async () => {
    await Promise.all(starts.map((started) => started.end('SIGTERM')));
    rmSync(dataDir, { recursive: true, force: true });
  });
  const planeOf = (name: string): { pid: number; environment: NodeJS.ProcessEnv } => {
    const lines = readFileSync(path.join(dataDir, 'logs', `${name}.log`), 'utf8')
      .trim()
      .split('\n');
    return JSON.parse(lines.at(-1) ?? '') as ReturnType<typeof planeOf>;
  };
  const postgresPid = (): number =>
    Number(readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

  test('prints addresses, claim link and a curl command, and gives each plane its environment', async () => {
    const { output } = await start().ready();
    const control = planeOf('control-plane').environment;
    const node = planeOf('data-plane').environment;
    expect(output).toContain(`Console        http://localhost:${control.CONTROL_PORT}`);
    expect(output).toContain(`Base address   http://localhost:${node.DATA_PORT}`);
    expect(output).toContain('http://claim');
    expect(output).toMatch(
      /^curl -N http:\S+\/v1\/chat\/completions -H 'Authorization: Bearer sk-demo' .*'$/m,
    );
    expect(control).toMatchObject({ LOCAL_START: '1', SECRET_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(node.CONTROL_URL).toBe(`http://127.0.0.1:${control.CONTROL_PORT}`);
    expect(output).toContain('play money');
    const processor = planeOf('card-processor').environment;
    expect(processor.PROCESSOR_WEBHOOK_URL).toBe(`http://127.0.0.1:${control.CONTROL_PORT}/webhooks/stripe`);
    expect(Object.keys(processor)).not.toContain('SECRET_KEY');
    expect(Object.keys(node)).not.toContain('SECRET_KEY');
    expect(Object.keys(node)).not.toContain('DATABASE_URL');
    expect(statSync(path.join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('stops every process that it started on %s', async (signal) => {
    const started = await start().ready();
    const pids = [
      postgresPid(),
      planeOf('control-plane').pid,
      planeOf('data-plane').pid,
      planeOf('demo-upstream').pid,
      planeOf('card-processor').pid,
    ];
    expect(pids.map(isAlive)).toEqual([true, true, true, true, true]);
    expect(await started.end(signal)).toBe(0);
    expect(pids.map(isAlive)).toEqual([false, false, false, false, false]);
  });

  test('kills a plane that ignores SIGTERM', async () => {
    const started = await start({}, { node: DEAF_PLANE }).ready();
    const { pid } = planeOf('data-plane');
    expect(await started.end('SIGTERM')).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  test('leaves no plane when it is killed, and the next start adopts its database', async () => {
    const first = await start().ready();
    const names = ['control-plane', 'data-plane', 'demo-upstream', 'card-processor'];
    const pids = names.map((name) => planeOf(name).pid);
    const database = postgresPid();
    await first.end('SIGKILL');
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false, false, false]);
    await start().ready();
    expect(postgresPid()).toBe(database);
  });

  test('refuses a second start on the same folder, and names the addresses of the first', async () => {
    await start().ready();
    const second = start();
    expect(await second.exit()).toBe(1);
    const address = `http://localhost:${planeOf('control-plane').environment.CONTROL_PORT}`;
    expect(second.output).toMatch(/^A gateway is already running on /);
    expect(second.output).toContain(address);
    expect(second.output.trim().split('\n')).toHaveLength(1);
  });

  test.each(['CONTROL_PORT', 'DATA_PORT'])('names %s in one line if its port is in use', async (variable) => {
    const port = await findFreePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const started = start({ [variable]: String(port) });
    expect(await started.exit()).toBe(1);
    other.close();
    const advice = `Set ${variable} to another port (0 picks a free one).`;
    expect(started.output.trim()).toBe(`Port ${port} of 127.0.0.1 is in use by another program. ${advice}`);
  });

  test('names DATA_DIR in one line if the folder cannot be used', async () => {
    const file = path.join(dataDir, 'file');
    writeFileSync(file, '');
    const refusals = { [file]: 'it is a file', [`${file}/x`]: 'a part of its path is a file' };
    for (const [folder, reason] of Object.entries({ ...refusals, '/proc/x': 'it belongs to the system' })) {
      const started = start({ DATA_DIR: folder });
      expect(await started.exit()).toBe(1);
      const refusal = `${folder} cannot be used: ${reason}. Set DATA_DIR to another folder.`;
      expect(started.output.trim()).toBe(refusal);
    }
  });

  test('restarts a plane that exited', async () => {
    const started = await start().ready();
    const { pid } = planeOf('data-plane');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => planeOf('data-plane').pid).not.toBe(pid);
    expect(started.output).toContain('The data plane exited (SIGKILL) and is restarted.');
  });

  test('restarts a killed database on the same port', async () => {
    await start().ready();
    const url = planeOf('control-plane').environment.DATABASE_URL ?? '';
    const pid = postgresPid();
    process.kill(pid, 'SIGKILL');
    const port = (): string =>
      readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3] ?? '';
    await expect.poll(() => postgresPid() !== pid && port(), { timeout: 20_000 }).toBe(new URL(url).port);
  });

  test('prints why a plane does not start, and stops the rest', async () => {
    const started = start({}, { control: BROKEN_PLANE });
    expect(await started.exit()).toBe(1);
    expect(started.output).toMatch(
      /The control plane did not start \(code 3\)\. The end of \S+:\nthe reason/,
    );
    expect(() => postgresPid()).toThrow();
  });

  test('prints no log lines of an earlier start', async () => {
    await start({}, { control: BROKEN_PLANE }).exit();
    const second = start({}, { control: BROKEN_PLANE.replace('the reason', 'another one') });
    await second.exit();
    expect(second.output.trim().split('\n').slice(-2)).toEqual([
      expect.stringContaining('The control plane did not start (code 3).'),
      'another one',
    ]);
  });
});

/** `npm start` with stand-ins for the planes, as a process of its own. */
class Start {
  output = '';
  private readonly child: ChildProcess;
  private readonly exited: Promise<number | null>;

  constructor(environment: NodeJS.ProcessEnv, planes: Partial<Planes>) {
    const program = `
      import { parseSettings } from '${new URL('./settings.ts', import.meta.url).href}';
      import { Supervisor } from '${new URL('./supervisor.ts', import.meta.url).href}';
      const print = (text) => process.stderr.write(text + '\\n');
      const plane = (source) => ['--eval', source];
      const { CONTROL, NODE, DEMO_PROGRAM, ...environment } = process.env;
      const programs = { control: plane(CONTROL), node: plane(NODE), demo: plane(DEMO_PROGRAM),
        processor: plane(DEMO_PROGRAM) };
      const onFailure = (error) => end(1, error);
      const supervisor = new Supervisor({ programs, environment, print, onFailure });
      const end = async (code, error) => {
        if (error) print(error.message);
        await supervisor.stop();
        process.exit(code);
      };
      for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void end(0));
      const started = supervisor.start(parseSettings(process.env));
      started.then((text) => print(text + '\\nREADY'), (error) => end(1, error));`;
    this.child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: {
        PATH: process.env.PATH,
        CONTROL: planes.control ?? PLANE,
        NODE: planes.node ?? PLANE,
        DEMO_PROGRAM: PLANE,
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.exited = new Promise((resolve) => this.child.once('close', resolve));
  }

  async ready(): Promise<this> {
    await expect.poll(() => this.output, { timeout: 20_000 }).toContain('READY');
    return this;
  }

  exit(): Promise<number | null> {
    return this.exited;
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
