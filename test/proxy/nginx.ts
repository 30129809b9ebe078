/**
 * Runs nginx with the configuration that the documentation gives, on free ports and a certificate of its
 * own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { selfSigned } from '../tls.ts';

const TEMPLATE = join(import.meta.dirname, '..', '..', 'docs', 'operations', 'nginx.conf.template');
const ATTEMPTS = 200;

export interface NginxOptions {
  folder: string;
  baseDomain: string;
  consoleDomain: string;
  nodePorts: readonly [number, number];
  controlPort: number;
}

export interface Nginx {
  port: number;
  /** What clients have to trust. */
  certificate: string;
  /** What it has logged of requests so far. */
  accessLog(): string;
  stop(): Promise<void>;
}

/** Starts it. Throws with its output where it refuses the configuration, or is not installed. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true });
  const { certificate, key } = await selfSigned([
    options.baseDomain,
    `*.${options.baseDomain}`,
    options.consoleDomain,
  ]);
  writeFileSync(join(folder, 'fullchain.pem'), certificate);
  writeFileSync(join(folder, 'privkey.pem'), key, { mode: 0o600 });
  const port = await findFreePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(options, [port, await findFreePort()]));
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  await Promise.race([failed, listening(port, () => child.exitCode !== null)]).catch((cause: unknown) => {
    throw new Error(`nginx does not run: ${printed || String(cause)}`, { cause });
  });
  failed.catch(() => undefined);
  return {
    port,
    certificate,
    accessLog: () => readFileSync(join(folder, 'access.log'), 'utf8'),
    stop: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/**
 * The template as the container's start fills it in, with ports and paths of this machine in place of names.
 */
function configuration(options: NginxOptions, [port, plainPort]: readonly [number, number]): string {
  const { folder, nodePorts, controlPort } = options;
  const filled = readFileSync(TEMPLATE, 'utf8')
    .replaceAll('${BASE_DOMAIN}', options.baseDomain)
    .replaceAll('${CONSOLE_DOMAIN}', options.consoleDomain)
    .replace('node-1:8080', `127.0.0.1:${nodePorts[0]}`)
    .replace('node-2:8080', `127.0.0.1:${nodePorts[1]}`)
    .replaceAll(/control-[12]:4000/g, `127.0.0.1:${controlPort}`)
    .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
    .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
    .replaceAll('/etc/nginx/certificates/', `${folder}/`)
    .replace('/var/log/nginx/', `${folder}/`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${folder}/${name};`,
  );
  const around = [
    'daemon off;',
    'worker_processes 1;',
    `pid ${folder}/pid;`,
    `error_log ${folder}/error.log;`,
  ];
  return [...around, 'events {}', 'http {', ...temporary, filled, '}', ''].join('\n');
}

async function listening(port: number, ended: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (ended()) throw new Error('it ended');
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await sleep(25);
  }
  throw new Error('it does not listen');
}
