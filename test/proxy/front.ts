/**
 * Runs nginx or Caddy with the configuration of the documentation, on free ports and with a new certificate.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { selfSigned } from '../tls.ts';

const CONFIGURATIONS = join(import.meta.dirname, '..', '..', 'docs', 'operations');
const ATTEMPTS = 200;

/** The programs that the documentation configures. */
export type FrontKind = 'nginx' | 'caddy';

export interface FrontOptions {
  folder: string;
  baseDomain: string;
  consoleDomain: string;
  nodePorts: readonly number[];
  controlPort: number;
}

export interface Front {
  port: number;
  /** The certificate that clients must trust, in PEM. */
  certificate: string;
  /** The logs and the output so far. */
  written(): string;
  stop(): Promise<void>;
}

/** Starts the proxy. Throws with its output if it refuses the configuration or is not installed. */
export async function startFront(kind: FrontKind, options: FrontOptions): Promise<Front> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true });
  const names = [options.baseDomain, `*.${options.baseDomain}`, options.consoleDomain];
  const { certificate, key } = await selfSigned(names);
  writeFileSync(join(folder, 'fullchain.pem'), certificate);
  writeFileSync(join(folder, 'privkey.pem'), key, { mode: 0o600 });
  const ports = [await findFreePort(), await findFreePort()] as const;
  const file = join(folder, 'configuration');
  writeFileSync(file, kind === 'nginx' ? nginxFile(options, ports) : caddyFile(options, ports));
  const parameters =
    kind === 'nginx' ? ['-p', folder, '-c', file] : ['run', '--adapter', 'caddyfile', '--config', file];
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, ...domainsOf(options) };
  const child = spawn(kind, parameters, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  await Promise.race([failed, listening(ports[0], () => child.exitCode !== null)]).catch((cause: unknown) => {
    throw new Error(`${kind} does not run: ${printed || String(cause)}`, { cause });
  });
  const logs = ['access.log', 'error.log'].map((name) => join(folder, name));
  return {
    port: ports[0],
    certificate,
    written: () => logs.map((log) => (existsSync(log) ? readFileSync(log, 'utf8') : '')).join('') + printed,
    stop: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

function domainsOf({ baseDomain, consoleDomain }: FrontOptions): Record<string, string> {
  return { BASE_DOMAIN: baseDomain, CONSOLE_DOMAIN: consoleDomain };
}

/** Replaces the host names of containers by ports of this machine. */
function withPorts(text: string, { nodePorts, controlPort }: FrontOptions): string {
  const addresses = nodePorts.map((port) => `127.0.0.1:${port}`);
  return text
    .replace(/ {2}server node-1:8080(.*)\n {2}server node-2:8080.*/, (_, options: string) =>
      addresses.map((address) => `  server ${address}${options}`).join('\n'),
    )
    .replace('node-1:8080 node-2:8080', addresses.join(' '))
    .replaceAll(/control-[12]:4000/g, `127.0.0.1:${controlPort}`);
}

/** The Caddyfile with a certificate from a file instead of one that needs a DNS provider. */
function caddyFile(options: FrontOptions, [port, plainPort]: readonly [number, number]): string {
  const tls = `tls ${options.folder}/fullchain.pem ${options.folder}/privkey.pem`;
  return withPorts(readFileSync(join(CONFIGURATIONS, 'Caddyfile'), 'utf8'), options)
    .replace(/tls \{[^}]*\{[^}]*\}[^}]*\}/, tls)
    .replace('{$CONSOLE_DOMAIN} {', `{$CONSOLE_DOMAIN} {\n\t${tls}`)
    .replace(/^\{$/m, `{\n\tadmin off\n\thttps_port ${port}\n\thttp_port ${plainPort}`)
    .replace(/(reverse_proxy 127\S+) \S+ \{\n\t\tflush/, '$1 {\n\t\tflush');
}

/**
 * The template with its variables filled in, as the container does at its start, and with ports and paths of
 * this machine.
 */
function nginxFile(options: FrontOptions, [port, plainPort]: readonly [number, number]): string {
  const { folder } = options;
  const filled = withPorts(readFileSync(join(CONFIGURATIONS, 'nginx.conf.template'), 'utf8'), options)
    .replaceAll('${BASE_DOMAIN}', options.baseDomain)
    .replaceAll('${CONSOLE_DOMAIN}', options.consoleDomain)
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
  return [...around, 'events { worker_connections 1024; }', 'http {', ...temporary, filled, '}', ''].join(
    '\n',
  );
}

async function listening(port: number, ended: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (ended()) throw new Error('The process ended.');
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await sleep(25);
  }
  throw new Error('The process does not listen in time.');
}
