/** Reads the settings of a node from the environment: its addresses, its identity and its control plane. */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { readLogLevel } from '@gateway/shared/log-line';
import { WORKERS_MAX } from '@gateway/shared/worker-token';
import { canSharePorts } from '../workers/port.ts';

export interface NodeSettings {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Control plane instances on one database. The node uses one until it fails, then the next. */
  controlUrls: readonly [string, ...string[]];
  name: string;
  token: string;
  /** Folder of the key pair, the stored configuration and the journal. */
  dataDir: string;
  /** How long open streams may continue after a stop signal, in ms. */
  drainMs: number;
  logLevel: string;
  /** Number of worker processes. */
  workers: number;
}

type Environment = Record<string, string | undefined>;

/** Reads the settings. Throws an Error that names a bad variable and a valid value. */
export function readNodeSettings(env: Environment): NodeSettings {
  return {
    host: env['HOST'] || '127.0.0.1',
    port: wholeNumber(env, 'DATA_PORT', { fallback: 8080, most: 65_535 }),
    controlUrls: controlAddresses(env),
    name: env['NODE_NAME'] || 'node',
    token: required(env, 'NODE_TOKEN', 'the token that adminNodeCreate showed for this node'),
    dataDir: resolve(env['DATA_DIR'] || join('.gateway', 'node')),
    drainMs: wholeNumber(env, 'DRAIN_SECONDS', { fallback: 600, most: 86_400 }) * 1_000,
    logLevel: readLogLevel(env),
    workers: readWorkers(env['WORKERS'] ?? ''),
  };
}

/** The number of workers: a number, or `auto` for one per core. By default one. */
function readWorkers(text: string): number {
  const isAuto = text === 'auto';
  if (isAuto) return canSharePorts(process.platform) ? Math.min(availableParallelism(), WORKERS_MAX) : 1;
  const workers = Number(text || '1');
  if (!/^\d*$/.test(text) || workers < 1 || workers > WORKERS_MAX)
    throw new Error(`WORKERS is "${text}": give a number from 1 to ${WORKERS_MAX}, or auto for one per core`);
  if (workers > 1 && !canSharePorts(process.platform))
    throw new Error(`WORKERS is ${workers}, but on this system only one process can use a port: set it to 1`);
  return workers;
}

function controlAddresses(env: Environment): readonly [string, ...string[]] {
  const text = required(env, 'CONTROL_URL', 'the address of the control plane, e.g. http://127.0.0.1:4000');
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  for (const address of [first, ...others])
    if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
      throw new Error('CONTROL_URL is not valid: give one http(s) address, or several separated by commas');
  return [first, ...others];
}

function required(env: Environment, name: string, what: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set: give ${what}`);
  return value;
}

function wholeNumber(
  env: Environment,
  name: string,
  { fallback, most }: { fallback: number; most: number },
): number {
  const text = env[name] || String(fallback);
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most)
    throw new Error(`${name} is "${text}": give a whole number up to ${most}`);
  return value;
}
