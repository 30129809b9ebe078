/** Runs a whole gateway on one machine: starts, restarts and stops the database, both planes and the demo. */
import path from 'node:path';
import { announce } from './announcement.ts';
import { type Child, superviseChild } from './child.ts';
import { type DataFolder, lockDataFolder } from './data-folder.ts';
import { bootstrapOf } from './messages.ts';
import {
  controlEnvironment,
  demoEnvironment,
  makePlan,
  nodeEnvironment,
  type Plan,
  processorEnvironment,
} from './plan.ts';
import { assertPortIsFree } from './ports.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { LocalSettings } from './settings.ts';

/** Time limits for stopping; with the database's limits less than 2 s in total. */
const NODE_STOP_MS = 500;
const CONTROL_STOP_MS = 500;
const DATABASE_CHECK_MS = 500;

/** The programs to run, as arguments for node. */
export interface Programs {
  control: string[];
  node: string[];
  demo: string[];
  processor: string[];
}

/** Names of the programs in messages and log files. */
const NAMES: Readonly<Record<keyof Programs, string>> = {
  control: 'control plane',
  node: 'data plane',
  demo: 'demo upstream',
  processor: 'card processor',
};

interface SupervisorOptions {
  programs: Programs;
  environment: NodeJS.ProcessEnv;
  /** Receives progress messages, one sentence each. */
  print: (sentence: string) => void;
  /** Called when the gateway cannot continue. */
  onFailure: (error: unknown) => void;
}

/** One gateway, which is started once and stopped once. */
export class Supervisor {
  private readonly options: SupervisorOptions;
  private folder: DataFolder | undefined;
  private database: Promise<Postgres> | undefined;
  private databaseTimer: NodeJS.Timeout | undefined;
  private readonly children: { [Role in keyof Programs]?: Child } = {};
  private stopping: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.options = options;
  }

  /** Starts everything, and resolves with the text to print. After a rejection, call `stop`. */
  async start(settings: LocalSettings): Promise<string> {
    const { environment, print } = this.options;
    this.folder = await lockDataFolder(settings.dataDir);
    await assertPortIsFree(settings.host, settings.controlPort, 'CONTROL_PORT');
    await assertPortIsFree(settings.host, settings.dataPort, 'DATA_PORT');
    const plan = await makePlan(settings);
    const databaseUrl = settings.databaseUrl ?? (await this.startDatabase(settings.dataDir)).url;
    print('Starting the control plane …');
    const control = this.supervise(plan, 'control', () => controlEnvironment(plan, environment, databaseUrl));
    const bootstrap = bootstrapOf(await control.ready);
    print('Starting the data plane …');
    const node = this.supervise(plan, 'node', () => nodeEnvironment(plan, environment));
    const demo = bootstrap.demo
      ? this.supervise(plan, 'demo', () => demoEnvironment(plan, environment))
      : undefined;
    const processor = bootstrap.playMoney
      ? this.supervise(plan, 'processor', () => processorEnvironment(plan, environment))
      : undefined;
    await Promise.all([node.ready, demo?.ready, processor?.ready]);
    this.folder.describe(`Console ${plan.consoleUrl}, base address ${plan.publicUrl}.`);
    return announce({ ...plan, logs: plan.logFolder }, bootstrap);
  }

  /** Stops the node, then the control plane, then the database. Resolves when all processes have exited. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    clearInterval(this.databaseTimer);
    const { control, node, demo, processor } = this.children;
    await Promise.all([node, demo, processor].map(async (child) => child?.stop(NODE_STOP_MS)));
    await control?.stop(CONTROL_STOP_MS);
    const database = await this.database?.catch(() => undefined);
    await database?.stop();
    this.folder?.release();
  }

  private startDatabase(dataDir: string, port = 0): Promise<Postgres> {
    this.throwWhenStopping();
    const onProgress = (step: string): void => this.options.print(`${step} …`);
    const database = startPostgres({ dataDir, port, onProgress });
    this.database = database;
    void database.then(
      (postgres) => this.watchDatabase(dataDir, postgres),
      () => undefined,
    );
    return database;
  }

  /** Restarts a killed database on its port, so that the planes can reconnect. */
  private watchDatabase(dataDir: string, postgres: Postgres): void {
    if (this.stopping) return;
    this.databaseTimer = setInterval(() => {
      if (postgres.isRunning()) return;
      clearInterval(this.databaseTimer);
      this.options.print('The database exited and is restarted.');
      this.startDatabase(dataDir, postgres.port).catch(this.options.onFailure);
    }, DATABASE_CHECK_MS);
  }

  private supervise(plan: Plan, role: keyof Programs, environment: () => NodeJS.ProcessEnv): Child {
    this.throwWhenStopping();
    const ports = { control: [], node: [], demo: [plan.demoPort], processor: [plan.processorPort] }[role];
    const command = [...this.options.programs[role], ...ports.map(String)];
    const name = NAMES[role];
    const logFile = path.join(plan.logFolder, `${name.replace(' ', '-')}.log`);
    const child = superviseChild({ name, command, environment, logFile, onRestart: this.options.print });
    this.children[role] = child;
    return child;
  }

  private throwWhenStopping(): void {
    if (this.stopping) throw new Error('The start was interrupted. Start again.');
  }
}
