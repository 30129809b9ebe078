/**
 * Tests the container images without a container engine: copies the files of each final stage into an empty
 * folder, with only the packages of the lock file, and runs the command of the image there.
 */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { createEmptyDatabase } from '../database.ts';
import { readSources } from '../tidy/sources.ts';
import { commandOf, readDockerfile, textsOf } from './dockerfile.ts';
import type { Stage } from './dockerfile.ts';
import { packagesOf } from './packages.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PLANES = ['control-plane', 'data-plane'] as const;
/** Libraries that debian:bookworm-slim contains: those of the C library, and those that apt needs. */
const IN_BASE = new Set(['libc', 'libdl', 'libm', 'libpthread', 'librt', 'libstdc++', 'libgcc_s']);
const UNTIL_MS = 60_000;
/** Copying many small files takes long on a busy machine. */
const TEST_MS = 240_000;

let folder: string;
let child: ChildProcess | undefined;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-image-')));
});

afterEach(async () => {
  if (child?.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }), TEST_MS);

const stagesOf = (plane: string): Stage[] => readDockerfile(join(ROOT, plane, 'Dockerfile'));

/** The workspaces that the stage `packages` installs. */
function workspacesOf(plane: string): string[] {
  const stage = stagesOf(plane).find(({ alias }) => alias === 'packages');
  const install = textsOf(stage, 'RUN').find((text) => text.startsWith('npm ci')) ?? '';
  expect(install).toContain('--omit=dev');
  return [...install.matchAll(/--workspace (\S+)/g)].map(([, name = '']) => name);
}

/**
 * Creates a folder with the content of the final stage: what COPY names, and the packages of the lock file.
 */
function layOut(plane: string): string {
  const image = join(folder, plane);
  for (const text of textsOf(stagesOf(plane).at(-1), 'COPY')) {
    const [from, to = ''] = text
      .replace(/^--from=\S+ /, '')
      .split(' ')
      .slice(-2);
    const source = join(ROOT, (from ?? '').replace('/gateway/', ''));
    if (to === 'node_modules') continue;
    const target = join(
      image,
      to.endsWith('/') || to === './' ? join(to, source.slice(source.lastIndexOf('/'))) : to,
    );
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target, { recursive: true, filter: (file) => !/\.test\.ts$|node_modules/.test(file) });
  }
  const packages = packagesOf(ROOT, workspacesOf(plane));
  for (const place of packages.filter((at) => at.lastIndexOf('node_modules/') === 0)) install(image, place);
  return image;
}

/** Links our own packages, which are in the image. Skips Node, which is large: the tests use the same one. */
function install(image: string, place: string): void {
  const target = join(image, place);
  mkdirSync(dirname(target), { recursive: true });
  if (place.startsWith('node_modules/@gateway/'))
    symlinkSync(join(image, place.replace(/.*@gateway\//, '')), target);
  else if (!place.startsWith('node_modules/node-'))
    cpSync(realpathSync(join(ROOT, place)), target, { recursive: true });
}

/** Starts the command of the image, with the Node that runs the tests. */
function run(plane: string, image: string, env: Record<string, string>): void {
  const [program, ...rest] = commandOf(textsOf(stagesOf(plane).at(-1), 'CMD').at(-1) ?? '');
  expect(program).toBe('node_modules/.bin/node');
  child = spawn(process.execPath, rest, { cwd: image, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The HTTP status of a URL. Waits until the process answers; throws with its output if it does not. */
async function statusOf(url: string): Promise<number> {
  const end = Date.now() + UNTIL_MS;
  let printed = '';
  for (const stream of [child?.stdout, child?.stderr])
    stream?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return response.status;
    if (Date.now() > end || child?.exitCode !== null)
      throw new Error(`The process does not answer:\n${printed}`);
    await sleep(50);
  }
}

describe('the image of the data plane', () => {
  it(
    'starts with only its own files, writes only to its volume, and ends on SIGTERM',
    async () => {
      const image = layOut('data-plane');
      const port = await findFreePort();
      const data = join(folder, 'data');
      run('data-plane', image, {
        DATA_PORT: String(port),
        DATA_DIR: data,
        CONTROL_URL: 'http://127.0.0.1:1',
        NODE_TOKEN: 'gnt_test',
      });
      expect(await statusOf(`http://127.0.0.1:${port}/livez`)).toBe(200);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
      expect(existsSync(join(data, 'journal'))).toBe(true);
      expect(existsSync(join(image, '.gateway'))).toBe(false);
      child?.kill('SIGTERM');
      expect(await once(child as ChildProcess, 'exit')).toEqual([0, null]);
    },
    TEST_MS,
  );

  it('contains no library of the control plane, the console or the tests', () => {
    const packages = packagesOf(ROOT, workspacesOf('data-plane'));
    expect(packages).toContain('node_modules/fastify');
    expect(packages.filter((place) => /mikro-orm|apollo|react|vitest|typescript|\/pg$/.test(place))).toEqual(
      [],
    );
  });
});

describe('the image of the control plane', () => {
  it(
    'migrates an empty database and serves API and console',
    async () => {
      const database = await createEmptyDatabase();
      const image = layOut('control-plane');
      const port = await findFreePort();
      run('control-plane', image, {
        DATABASE_URL: database.url,
        SECRET_KEY: 'x'.repeat(32),
        CONTROL_PORT: String(port),
        DEMO: 'off',
      });
      expect(await statusOf(`http://127.0.0.1:${port}/readyz`)).toBe(200);
      const page = await fetch(`http://127.0.0.1:${port}/sign-in`, { headers: { accept: 'text/html' } });
      expect(await page.text()).toContain('<div id="root">');
      child?.kill('SIGTERM');
      expect(await once(child as ChildProcess, 'exit')).toEqual([0, null]);
      await database.drop();
    },
    TEST_MS,
  );
});

describe.each(PLANES)('the Dockerfile of the %s', (plane) => {
  it('pins its base, runs without privileges, and has a readiness check', () => {
    const stages = stagesOf(plane);
    for (const { base } of stages) expect(base).toMatch(/^[a-z]+:\S*bookworm-slim@sha256:[0-9a-f]{64}$/);
    const last = stages.at(-1);
    expect(textsOf(last, 'USER')).toEqual(['65532:65532']);
    expect(textsOf(last, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(textsOf(last, 'HEALTHCHECK').join('')).toContain('/readyz');
    expect(commandOf(textsOf(last, 'HEALTHCHECK')[0] ?? '')[0]).toBe('node_modules/.bin/node');
    expect(textsOf(last, 'ENV').join(' ')).not.toMatch(/SECRET|TOKEN|PASSWORD/);
  });

  it('copies only existing files, and ignores secrets and packages of this machine', () => {
    for (const stage of stagesOf(plane))
      for (const text of textsOf(stage, 'COPY').filter((item) => !item.startsWith('--from')))
        for (const source of text.split(' ').slice(0, -1)) expect(existsSync(join(ROOT, source))).toBe(true);
    const ignored = readFileSync(join(ROOT, plane, 'Dockerfile.dockerignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.gateway', '**/node_modules', '**/.env*']));
  });

  it.skipIf(process.platform !== 'linux')('installs each library that Node is linked to', () => {
    const linked = execFileSync('ldd', [process.execPath], { encoding: 'utf8' });
    const names = [...linked.matchAll(/^\s*(lib[\w+]+)\.so/gm)].map(([, name = '']) => name);
    expect(names).toContain('libc');
    const installed = textsOf(stagesOf(plane).at(-1), 'RUN').join(' ');
    for (const name of names.filter((item) => !IN_BASE.has(item))) expect(installed).toContain(`${name}1`);
  });

  it('has a health check that is a valid program', () => {
    const [text = ''] = textsOf(stagesOf(plane).at(-1), 'HEALTHCHECK');
    const [, , program = ''] = commandOf(text);
    execFileSync(process.execPath, ['--check', '-'], { input: program });
  });
});

interface Service {
  image: string;
  build?: { dockerfile: string };
  read_only?: boolean;
  cap_drop?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  environment?: Record<string, string>;
}

describe('the compose file', () => {
  const compose = parse(readFileSync(join(ROOT, 'docs', 'operations', 'compose.yaml'), 'utf8'), {
    merge: true,
  }) as { services: Record<string, Service>; volumes: Record<string, object> };

  it('runs both planes read-only and without capabilities, from the Dockerfiles that exist', () => {
    const ours = Object.entries(compose.services).filter(([, { build }]) => build);
    expect(ours.map(([name]) => name)).toEqual(['control-1', 'control-2', 'node-1', 'node-2']);
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(existsSync(join(ROOT, service.build?.dockerfile ?? ''))).toBe(true);
    }
  });

  it('gives each node its own volume, and a stop time longer than its drain time', () => {
    const nodes = Object.entries(compose.services).filter(([name]) => name.startsWith('node-'));
    const volumes = nodes.flatMap(([, { volumes: own }]) => own ?? []);
    expect(new Set(volumes).size).toBe(nodes.length);
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
    for (const [, service] of nodes)
      expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThan(
        Number(service.environment?.['DRAIN_SECONDS']),
      );
  });

  it('contains no secret', () => {
    for (const { environment } of Object.values(compose.services))
      for (const [name, value] of Object.entries(environment ?? {}))
        if (/SECRET|TOKEN|PASSWORD|DATABASE_URL/.test(name)) expect(value).toMatch(/\$\{/);
  });
});

describe('the rules for Prometheus', () => {
  it('name only metrics that the planes export', () => {
    const sources = readSources().filter(({ path }) => /^(control|data)-plane\//.test(path));
    const shown = new Set(sources.flatMap(({ lines }) => lines.join('\n').match(/gateway_[a-z_]+/g) ?? []));
    const rules = readFileSync(join(ROOT, 'docs', 'operations', 'alerts.yaml'), 'utf8');
    expect(() => parse(rules)).not.toThrow();
    const named = [...rules.matchAll(/gateway_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !shown.has(name))).toEqual([]);
  });
});
