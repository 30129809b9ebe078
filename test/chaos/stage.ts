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

/** A connection between two processes that can be disturbed. */
export interface ProxiedLink {
  name: string;
  proxy: Proxy;
}

export interface Stage {
  house: House;
  model: ModelServer;
  victims: readonly [Victim, ...Victim[]];
  links: readonly [ProxiedLink, ...ProxiedLink[]];
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
  const server = new Server(folder, await startPostgres({ dataDir: folder }));
  const model = await startModelServer();
  const proxies = {
    database: await startProxy(server.now.port),
    model: await startProxy(model.port),
    control: undefined as Proxy | undefined,
  };
  const house = await startHouse({
    databaseUrl: server.now.url,
    controlDatabaseUrl: withPort(server.now.url, proxies.database.port),
    nodes,
    reachControl: async (url) => {
      proxies.control ??= await startProxy(Number(new URL(url).port));
      return `http://127.0.0.1:${proxies.control.port}`;
    },
  });
  await addUpstream(house, { baseUrl: `http://127.0.0.1:${proxies.model.port}/v1`, models: ['budget'] });
  const { control } = proxies;
  if (!control) throw new Error('no node was started');
  const watch = new Watch();
  return {
    house,
    model,
    victims: [server, ...houseVictims(house, watch)],
    crashes: watch.crashes,
    databaseUrl: server.now.url,
    closing: () => watch.end(),
    links: [
      { name: 'control plane – PostgreSQL', proxy: proxies.database },
      { name: 'nodes – control plane', proxy: control },
      { name: 'nodes – upstream', proxy: proxies.model },
    ],
    close: async () => {
      watch.end();
      await house.stop();
      await Promise.all([proxies.database.close(), control.close(), proxies.model.close(), model.close()]);
      await server.now.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Notes processes that end although nobody killed them. */
class Watch {
  readonly crashes: string[] = [];
  #over = false;

  over(name: string, { child }: HouseProcess): void {
    child.on('exit', (code, signal) => {
      if (signal !== 'SIGKILL' && !this.#over) this.crashes.push(`${name} ended with ${code ?? signal}`);
    });
  }

  end(): void {
    this.#over = true;
  }
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

function houseVictims(house: House, watch: Watch): Victim[] {
  const control = { name: 'control plane', now: () => house.control, restart: () => house.restartControl() };
  const nodes = house.nodes.map((node) => ({
    name: node.name,
    now: () => node.process,
    restart: () => node.restart(),
  }));
  return [control, ...nodes].map((plane) => houseVictim(plane, watch));
}

interface Plane {
  name: string;
  now(): HouseProcess;
  restart(): Promise<void>;
}

function houseVictim({ name, now, restart }: Plane, watch: Watch): Victim {
  watch.over(name, now());
  return {
    name,
    kill: async (downMs) => {
      await now().kill();
      await sleep(downMs);
      await insist(restart);
      watch.over(name, now());
    },
    freeze: async (forMs) => {
      const { child } = now();
      child.kill('SIGSTOP');
      await sleep(forMs);
      child.kill('SIGCONT');
    },
  };
}

/** PostgreSQL as a victim; its port stays. */
class Server implements Victim {
  readonly name = 'PostgreSQL';
  readonly #folder: string;
  now: Postgres;

  constructor(folder: string, now: Postgres) {
    this.#folder = folder;
    this.now = now;
  }

  async kill(downMs: number): Promise<void> {
    const { pid, port } = this.now;
    process.kill(pid, 'SIGKILL');
    await sleep(downMs);
    await insist(async () => {
      this.now = await startPostgres({ dataDir: this.#folder, port });
    });
  }

  /** Its backends, too: each of them would go on by itself. */
  async freeze(forMs: number): Promise<void> {
    const { pid } = this.now;
    signalIfThere(pid, 'SIGSTOP');
    const all = [pid, ...childrenOf(pid)];
    for (const each of all) signalIfThere(each, 'SIGSTOP');
    await sleep(forMs);
    for (const each of all) signalIfThere(each, 'SIGCONT');
  }
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
