/**
 * The environment of a chaos run: PostgreSQL, both planes, an upstream and a card processor, with a proxy on
 * every link.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import type { Postgres } from '../../control-plane/local/postgres.ts';
import { addUpstream, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { offerCards } from '../house/cards.ts';
import type { CardHouse } from '../house/cards.ts';
import { childrenOf } from '../house/children.ts';
import type { HouseProcess } from '../house/process.ts';
import { startModelServer } from './model-server.ts';
import type { ModelServer } from './model-server.ts';
import { startProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

/** A process that can be killed or frozen. */
export interface Target {
  name: string;
  /** Sends SIGKILL, and starts the process again after `downMs`. */
  kill(downMs: number): Promise<void>;
  /** Sends SIGSTOP, and SIGCONT after `forMs`. */
  freeze(forMs: number): Promise<void>;
}

/** A link between two processes, with the proxy that can disturb it. */
export interface ProxiedLink {
  name: string;
  proxy: Proxy;
}

export interface Environment {
  house: House;
  model: ModelServer;
  /** The card processor. */
  cards: CardHouse;
  targets: readonly [Target, ...Target[]];
  links: readonly [ProxiedLink, ...ProxiedLink[]];
  databaseUrl: string;
  /** From now on, an exit of a process is no crash. */
  closing(): void;
  /** Exits of processes that were not killed. */
  crashes: string[];
  close(): Promise<void>;
}

const START_ATTEMPTS = 100;
const START_AGAIN_MS = 200;

/** Starts everything, each node with this number of workers. `close` stops it and removes its folders. */
export async function startEnvironment(nodes: number, workers: number): Promise<Environment> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-chaos-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  const server = new PostgresTarget(folder, await startPostgres({ dataDir: folder }));
  const model = await startModelServer();
  const proxies = {
    database: await startProxy(server.current.port),
    model: await startProxy(model.port),
    control: undefined as Proxy | undefined,
  };
  const house = await startHouse({
    databaseUrl: server.current.url,
    controlDatabaseUrl: withPort(server.current.url, proxies.database.port),
    nodes,
    nodeEnv: { WORKERS: String(workers) },
    reachControl: async (url) => {
      proxies.control ??= await startProxy(Number(new URL(url).port));
      return `http://127.0.0.1:${proxies.control.port}`;
    },
  });
  await offerModel(house, `http://127.0.0.1:${proxies.model.port}/v1`);
  const { cards, proxy: toCards } = await startCards(house);
  const { control } = proxies;
  if (!control) throw new Error('No node was started. Give at least one node.');
  const exits = new ExitRecorder();
  return {
    ...{ house, model, cards },
    targets: [server, ...houseTargets(house, workers, exits), processorTarget(cards, exits)],
    crashes: exits.crashes,
    databaseUrl: server.current.url,
    closing: () => exits.end(),
    links: [
      { name: 'control plane – PostgreSQL', proxy: proxies.database },
      { name: 'nodes – control plane', proxy: control },
      { name: 'nodes – upstream', proxy: proxies.model },
      { name: 'control plane – card processor', proxy: toCards },
    ],
    close: async () => {
      exits.end();
      await cards.process.stop();
      await house.stop();
      await Promise.all([proxies.database, control, proxies.model, toCards].map((proxy) => proxy.close()));
      await model.close();
      await server.current.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Routes the model to two upstreams; nodes choose by speed, and ask the second one if the first is slow. */
async function offerModel(house: House, baseUrl: string): Promise<void> {
  const name = 'budget';
  await addUpstream(house, { baseUrl, models: [name] });
  await addUpstream(house, { baseUrl, models: [name], name: 'spare' });
  const { catalogModel } = await house.admin.query<{ catalogModel: { id: string; version: number } }>(
    `query { catalogModel(name: "${name}") { id version } }`,
  );
  const input = { ...catalogModel, routing: 'FASTEST', hedged: true, reason: 'test' };
  await house.admin.mutate('adminModelRoutingSet', input, 'model { id }');
  await house.applied();
}

/** Starts the card processor, which the control plane reaches past a proxy. */
async function startCards(house: House): Promise<{ cards: CardHouse; proxy: Proxy }> {
  let proxy: Proxy | undefined;
  const cards = await offerCards(house, {
    reachProcessor: async (url) => {
      proxy = await startProxy(Number(new URL(url).port));
      return `http://127.0.0.1:${proxy.port}`;
    },
  });
  if (!proxy) throw new Error('The processor was not configured.');
  return { cards, proxy };
}

/** Records exits of processes that were not killed. */
class ExitRecorder {
  readonly crashes: string[] = [];
  #over = false;

  watch(name: string, { child }: HouseProcess): void {
    child.on('exit', (code, signal) => {
      if (signal !== 'SIGKILL' && !this.#over) this.crashes.push(`${name} exited with ${code ?? signal}`);
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

/** Starts a process, with retries, because the processes it needs may be down. */
async function startWithRetries(start: () => Promise<unknown>): Promise<void> {
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

/** Both planes, and the workers of the nodes. */
function houseTargets(house: House, workers: number, exits: ExitRecorder): Target[] {
  return [...planeTargets(house, exits), ...workerTargets(house, workers)];
}

function planeTargets(house: House, exits: ExitRecorder): Target[] {
  const control = {
    name: 'control plane',
    current: () => house.control,
    restart: () => house.restartControl(),
  };
  const nodes = house.nodes.map((node) => ({
    name: node.name,
    current: () => node.process,
    restart: () => node.restart(),
  }));
  return [control, ...nodes].map((plane) => planeTarget(plane, exits));
}

function processorTarget(cards: CardHouse, exits: ExitRecorder): Target {
  const current = (): HouseProcess => cards.process;
  return planeTarget({ name: 'card processor', current, restart: () => cards.restart() }, exits);
}

interface Plane {
  name: string;
  /** The present process; a restart replaces it. */
  current(): HouseProcess;
  restart(): Promise<void>;
}

function planeTarget({ name, current, restart }: Plane, exits: ExitRecorder): Target {
  exits.watch(name, current());
  return {
    name,
    kill: async (downMs) => {
      const { child } = current();
      // Workers of a node die with their supervisor, as they do when a machine fails.
      for (const pid of childrenOf(child.pid ?? 0)) signalIfThere(pid, 'SIGKILL');
      await current().kill();
      await sleep(downMs);
      await startWithRetries(restart);
      exits.watch(name, current());
    },
    freeze: async (forMs) => {
      const { pid = 0 } = current().child;
      await freezeAll([pid, ...childrenOf(pid)], forMs);
    },
  };
}

async function freezeAll(pids: readonly number[], forMs: number): Promise<void> {
  for (const pid of pids) signalIfThere(pid, 'SIGSTOP');
  await sleep(forMs);
  for (const pid of pids) signalIfThere(pid, 'SIGCONT');
}

/** The workers of all nodes as targets. Their supervisor starts a killed worker again. */
function workerTargets(house: House, workers: number): Target[] {
  if (workers < 2) return [];
  return house.nodes.flatMap((node) =>
    Array.from({ length: workers }, (_, index): Target => {
      const pids = (): number[] => childrenOf(node.process.child.pid ?? 0).slice(index, index + 1);
      return {
        name: `worker ${index + 1} of ${node.name}`,
        kill: async (downMs) => {
          for (const pid of pids()) signalIfThere(pid, 'SIGKILL');
          await sleep(downMs);
        },
        freeze: (forMs) => freezeAll(pids(), forMs),
      };
    }),
  );
}

/** PostgreSQL as a target. It keeps its port when it is started again. */
class PostgresTarget implements Target {
  readonly name = 'PostgreSQL';
  readonly #folder: string;
  /** The present server; a restart replaces it. */
  current: Postgres;

  constructor(folder: string, current: Postgres) {
    this.#folder = folder;
    this.current = current;
  }

  async kill(downMs: number): Promise<void> {
    const { pid, port } = this.current;
    process.kill(pid, 'SIGKILL');
    await sleep(downMs);
    await startWithRetries(async () => {
      this.current = await startPostgres({ dataDir: this.#folder, port });
    });
  }

  /** Freezes the backends, too, because each is a process of its own. */
  async freeze(forMs: number): Promise<void> {
    const { pid } = this.current;
    signalIfThere(pid, 'SIGSTOP');
    await freezeAll([pid, ...childrenOf(pid)], forMs);
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited.
  }
}

/** Queries the database directly, not through the proxy. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  { house }: Environment,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await house.database.query<Row>(text, values)).rows;
}
