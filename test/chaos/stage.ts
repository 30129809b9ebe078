/** The stage of a chaos run: PostgreSQL, both planes and an upstream, with a proxy on every link. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import type { Postgres } from '../../control-plane/local/postgres.ts';
import { addUpstream, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import type { HouseProcess } from '../house/process.ts';
import { startModelServer } from './model-server.ts';
import type { ModelServer } from './model-server.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

/** A process that may be killed or frozen. */
export interface Victim {
  name: string;
  /** SIGKILL, and the same one again after a while. */
  kill(downMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT after a while. */
  freeze(forMs: number): Promise<void>;
}

export interface Stage {
  house: House;
  model: ModelServer;
  victims: readonly [Victim, ...Victim[]];
  links: readonly { name: string; proxy: Proxy }[];
  databaseUrl: string;
  /** From here on processes may end. */
  closing(): void;
  /** Processes that ended although nobody killed them. */
  crashes: string[];
  close(): Promise<void>;
}

const START_ATTEMPTS = 100;
const START_AGAIN_MS = 200;

/** Starts everything. `close` stops it and removes its folders. */
export async function openStage(nodes: number): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-chaos-'));
  // The superuser's server runs as somebody else, who has to get through this folder.
  chmodSync(folder, 0o711);
  let postgres = await startPostgres({ dataDir: folder });
  const database = postgres.url;
  const toDatabase = await startProxy(postgres.port);
  const model = await startModelServer();
  const toModel = await startProxy(model.port);
  let toControl: Proxy | undefined;
  const house = await startHouse({
    databaseUrl: database,
    controlDatabaseUrl: withPort(database, toDatabase.port),
    nodes,
    reachControl: async (url) => {
      toControl ??= await startProxy(Number(new URL(url).port));
      return `http://127.0.0.1:${toControl.port}`;
    },
  });
  await addUpstream(house, { baseUrl: `http://127.0.0.1:${toModel.port}/v1`, models: ['budget'] });
  if (!toControl) throw new Error('no node was started');
  const crashes: string[] = [];
  let closing = false;
  const watch = (name: string, { child }: HouseProcess): void => {
    child.on('exit', (code, signal) => {
      if (signal !== 'SIGKILL' && !closing) crashes.push(`${name} ended with ${code ?? signal}`);
    });
  };
  const victims = [
    postgresVictim(folder, () => postgres, (next) => (postgres = next)),
    houseVictim({
      name: 'control plane',
      now: () => house.control,
      restart: () => house.restartControl(),
      watch,
    }),
    ...house.nodes.map((node) =>
      houseVictim({ name: node.name, now: () => node.process, restart: () => node.restart(), watch }),
    ),
  ] as const;
  return {
    house,
    model,
    victims,
    crashes,
    databaseUrl: database,
    closing: () => {
      closing = true;
    },
    links: [
      { name: 'control plane – PostgreSQL', proxy: toDatabase },
      { name: 'nodes – control plane', proxy: toControl },
      { name: 'nodes – upstream', proxy: toModel },
    ],
    close: async () => {
      closing = true;
      await house.stop();
      await Promise.all([toDatabase.close(), toControl?.close(), toModel.close(), model.close()]);
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

/** Tries again: what a process needs may itself be down. */
async function insist(start: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await start();
      return;
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await sleep(START_AGAIN_MS);
    }
  }
}

interface HouseVictim {
  name: string;
  now(): HouseProcess;
  restart(): Promise<void>;
  watch(name: string, process: HouseProcess): void;
}

function houseVictim({ name, now, restart, watch }: HouseVictim): Victim {
  watch(name, now());
  const signal = (what: NodeJS.Signals): void => void now().child.kill(what);
  return {
    name,
    kill: async (downMs) => {
      await now().kill();
      await sleep(downMs);
      await insist(restart);
      watch(name, now());
    },
    freeze: async (forMs) => {
      signal('SIGSTOP');
      await sleep(forMs);
      signal('SIGCONT');
    },
  };
}

function postgresVictim(folder: string, now: () => Postgres, take: (next: Postgres) => void): Victim {
  return {
    name: 'PostgreSQL',
    kill: async (downMs) => {
      const { pid, port } = now();
      process.kill(pid, 'SIGKILL');
      await sleep(downMs);
      await insist(async () => take(await startPostgres({ dataDir: folder, port })));
    },
    freeze: async (forMs) => {
      const { pid } = now();
      process.kill(pid, 'SIGSTOP');
      const all = [pid, ...childrenOf(pid)];
      for (const each of all) signalIfThere(each, 'SIGSTOP');
      await sleep(forMs);
      for (const each of all) signalIfThere(each, 'SIGCONT');
    },
  };
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

/** Processes whose parent is `pid`. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return parent === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** A connection past the proxy, for looking at the books when all is over. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  { house }: Stage,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await house.database.query<Row>(text, values)).rows;
}
