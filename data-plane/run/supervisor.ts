/**
 * The supervisor of a node with several workers: it starts one process for each, replaces those that die,
 * stops all together, and adds up their metrics. It carries no requests and holds no money.
 */
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { loadNodeKeys } from '../config/identity.ts';
import { lockFolder } from '../ledger/lock.ts';
import type { Log } from '../log.ts';
import type { NodeSettings } from '../node/node-settings.ts';
import { argumentsOf } from './arguments.ts';
import type { WorkerTask } from './arguments.ts';
import type { ProcessMetrics, WorkerMessage } from './messages.ts';
import { NodeMetrics } from './node-metrics.ts';
import { formerWorkers, workersFolder } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import { freePort } from '../workers/port.ts';
import { WorkerProcess } from './worker-process.ts';
import type { WorkerExit } from './worker-process.ts';

/** Time that workers have to send their metrics, in ms. After that, the last metrics of a worker are used. */
const COLLECT_WITHIN_MS = 2_000;
const TICK_MS = 1_000;

/** The parts of a supervisor. */
export interface SupervisorOptions {
  settings: NodeSettings;
  /** The program of the worker processes. */
  program: string;
  log: Log;
  /** Called when all workers are ready for the first time. */
  onReady(port: number, revision: number): void;
}

/** Starts the workers of a node. Throws an Error if the folder of the node is in use, or the port is. */
export async function superviseNode(options: SupervisorOptions): Promise<NodeSupervisor> {
  const { dataDir, host, port } = options.settings;
  mkdirSync(workersFolder(dataDir), { recursive: true, mode: 0o700 });
  const unlock = lockFolder(workersFolder(dataDir));
  // Made here, because workers that start together would each make a key pair.
  loadNodeKeys(dataDir);
  return new NodeSupervisor(options, { port: await freePort(host, port), unlock });
}

/** The running workers of a node. */
export class NodeSupervisor {
  readonly #options: SupervisorOptions;
  readonly #port: number;
  /** Unlocks the folder of the node. */
  readonly #unlock: () => void;
  readonly #workers = new Map<number, WorkerProcess>();
  /** The processes that settle journals of former workers. */
  readonly #settling = new Map<number, WorkerProcess>();
  readonly #conditions = new Map<number, boolean>();
  readonly #metrics = new NodeMetrics();
  readonly #own = new Registry();
  readonly #replaced: Counter;
  readonly #collections = new Map<number, { waiting: Set<number>; done: () => void }>();
  readonly #failed = Promise.withResolvers<never>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #lastCollection = 0;
  #wasReady = false;
  #stopping = false;

  constructor(options: SupervisorOptions, held: { port: number; unlock: () => void }) {
    this.#options = options;
    this.#port = held.port;
    this.#unlock = held.unlock;
    collectDefaultMetrics({ register: this.#own });
    this.#replaced = this.#describe();
    const { workers: of, dataDir } = options.settings;
    for (let number = 1; number <= of; number += 1) this.#startWorker({ number, of });
    for (const number of formerWorkers(dataDir, of)) this.#startSettling(number);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Resolves when all processes have ended after `stop`. Rejects if a worker cannot be started at all. */
  get ended(): Promise<void> {
    return Promise.race([this.#stopped.promise, this.#failed.promise]);
  }

  /** Stops all workers; their open requests have `drainMs`. Only the first call counts. */
  stop(drainMs: number): void {
    if (this.#stopping) return;
    this.#stopping = true;
    clearInterval(this.#timer);
    const all = [...this.#workers.values(), ...this.#settling.values()];
    for (const worker of all) worker.stop(drainMs);
    void Promise.all(all.map((worker) => worker.ended)).then(() => {
      this.#unlock();
      this.#stopped.resolve();
    });
  }

  #startWorker(worker: Worker): void {
    const { number } = worker;
    const process = this.#fork({ type: 'serve', worker, port: this.#port }, `worker ${number}`, {
      onMessage: (message) => void this.#receive(number, message),
      onExit: (exit) => this.#workerEnded(number, exit),
    });
    this.#workers.set(number, process);
  }

  #startSettling(number: number): void {
    this.#options.log.info({ worker: number }, 'the journal of a former worker is settled');
    const worker = this.#fork({ type: 'settle', number }, `settling worker ${number}`, {
      onMessage: () => undefined,
      onExit: ({ code }) => {
        if (code === 0) this.#settling.delete(number);
        return code !== 0;
      },
    });
    this.#settling.set(number, worker);
  }

  #fork(
    task: WorkerTask,
    name: string,
    handlers: Pick<ConstructorParameters<typeof WorkerProcess>[0], 'onMessage' | 'onExit'>,
  ): WorkerProcess {
    const { program, log } = this.#options;
    return new WorkerProcess({ program, log, name, args: argumentsOf(task), ...handlers });
  }

  async #receive(number: number, message: WorkerMessage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.#conditions.set(number, true);
        return this.#announce(message.revision);
      case 'condition':
        return void this.#conditions.set(number, message.ready);
      case 'stopping':
        return this.stop(this.#options.settings.drainMs);
      case 'scrape':
        return this.#answerScrape(number, message.id);
      case 'metrics':
        return this.#received(number, message);
    }
  }

  #announce(revision: number): void {
    if (this.#wasReady || [...this.#workers.values()].some(({ isReady }) => !isReady)) return;
    this.#wasReady = true;
    this.#options.onReady(this.#port, revision);
  }

  /** A worker that gives up before all were ready once ends the node: its reason is on standard error. */
  #workerEnded(number: number, { code, wasReady }: WorkerExit): boolean {
    this.#conditions.delete(number);
    this.#metrics.end(String(number));
    for (const { waiting, done } of this.#collections.values()) if (waiting.delete(number)) done();
    if (this.#stopping) return false;
    if (!this.#wasReady && !wasReady && code === 1) {
      this.#failed.reject(new Error(`worker ${number} cannot start; its own message says why`));
      return false;
    }
    this.#replaced.inc();
    return true;
  }

  #tick(): void {
    for (const worker of this.#workers.values()) worker.checkLiveness();
    for (const [number, worker] of this.#workers) {
      const others = [...this.#conditions].filter(([other]) => other !== number);
      worker.send({ type: 'others', ready: others.every(([, ready]) => ready) });
    }
  }

  async #answerScrape(number: number, id: number): Promise<void> {
    const text = await this.#scrape().catch((error: unknown) => {
      this.#options.log.error({ reason: String(error) }, 'the metrics of the workers could not be added up');
      return null;
    });
    this.#workers.get(number)?.send({ type: 'scraped', id, text });
  }

  async #scrape(): Promise<string> {
    this.#lastCollection += 1;
    const id = this.#lastCollection;
    const asked = [...this.#workers].filter(([, { isReady }]) => isReady);
    const collected = Promise.withResolvers<void>();
    const waiting = new Set(asked.map(([number]) => number));
    const done = (): void => {
      if (waiting.size === 0) collected.resolve();
    };
    this.#collections.set(id, { waiting, done });
    for (const [, worker] of asked) worker.send({ type: 'collect', id });
    await Promise.race([collected.promise, pause(COLLECT_WITHIN_MS, undefined, { ref: false })]);
    this.#collections.delete(id);
    this.#metrics.set('supervisor', await this.#own.getMetricsAsJSON());
    return this.#metrics.text();
  }

  #received(number: number, { id, metrics }: { id: number; metrics: ProcessMetrics }): void {
    this.#metrics.set(String(number), metrics);
    const collection = this.#collections.get(id);
    if (collection?.waiting.delete(number)) collection.done();
  }

  /** The supervisor's own metrics. Returns the counter of replaced workers. */
  #describe(): Counter {
    const registers = [this.#own];
    const workers = this.#workers;
    new Gauge({
      name: 'gateway_workers',
      help: 'Workers of the node that accept connections.',
      registers,
      collect() {
        this.set([...workers.values()].filter(({ isReady }) => isReady).length);
      },
    });
    new Gauge({ name: 'gateway_workers_wanted', help: 'Workers that the node should have.', registers }).set(
      this.#options.settings.workers,
    );
    return new Counter({
      name: 'gateway_worker_replacements_total',
      help: 'Workers that ended by themselves and were replaced.',
      registers,
    });
  }
}
