/**
 * Holds a whole gateway on one machine: starts the database, both planes and the demo, watches them, stops
 * them.
 */
import path from 'node:path';
import { announce } from './announcement.ts';
import { type Child, superviseChild } from './child.ts';
import { type DataFolder, holdDataFolder } from './data-folder.ts';
import { bootstrapOf } from './messages.ts';
import { controlEnvironment, makePlan, nodeEnvironment, type Plan } from './plan.ts';
import { assertPortIsFree } from './ports.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { LocalSettings } from './settings.ts';

/** Together with the stop of the database below the 2 s within which everything is gone. */
const NODE_STOP_MS = 500;
const CONTROL_STOP_MS = 500;
const DATABASE_CHECK_MS = 500;

/** The programs to run, as arguments for node. */
export interface Programs {
  control: string[];
  node: string[];
  demo: string[];
}

export interface SupervisorOptions {
  programs: Programs;
  environment: NodeJS.ProcessEnv;
  /** Told what is going on, a sentence at a time. */
  tell: (sentence: string) => void;
  /** Told when the gateway cannot go on. */
  onFailure: (error: unknown) => void;
}

/** One gateway: started once, stopped once. Everything it starts is gone when `stop` returns. */
export class Supervisor {
  private readonly options: SupervisorOptions;
  private folder: DataFolder | undefined;
  private database: Promise<Postgres> | undefined;
  private databaseTimer: NodeJS.Timeout | undefined;
  private readonly children: { control?: Child; node?: Child; demo?: Child } = {};
  private stopping: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.options = options;
  }

  /**
   * Resolves with what to print when everything serves. Rejects with a message for people; then call stop.
   */
  async start(settings: LocalSettings): Promise<string> {
    const { environment, tell } = this.options;
    this.folder = await holdDataFolder(settings.dataDir);
    await assertPortIsFree(settings.host, settings.controlPort, 'CONTROL_PORT');
    await assertPortIsFree(settings.host, settings.dataPort, 'DATA_PORT');
    const plan = await makePlan(settings);
    const databaseUrl = settings.databaseUrl ?? (await this.startDatabase(settings.dataDir)).url;
    tell('Starting the control plane …');
    const control = this.supervise(plan, 'control', () => controlEnvironment(plan, environment, databaseUrl));
    const bootstrap = bootstrapOf(await control.ready);
    tell('Starting the data plane …');
    const node = this.supervise(plan, 'node', () => nodeEnvironment(plan, environment));
    const demo = bootstrap.demo ? this.supervise(plan, 'demo', () => environment) : undefined;
    await Promise.all([node.ready, demo?.ready]);
    this.folder.describe(`Console ${plan.consoleUrl}, base address ${plan.publicUrl}.`);
    return announce({ ...plan, logs: plan.logFolder }, bootstrap);
  }

  /** Customers first, then the control plane, then the database under both; returns when all are gone. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    clearInterval(this.databaseTimer);
    const { control, node, demo } = this.children;
    await Promise.all([node?.stop(NODE_STOP_MS), demo?.stop(NODE_STOP_MS)]);
    await control?.stop(CONTROL_STOP_MS);
    const database = await this.database?.catch(() => undefined);
    await database?.stop();
    this.folder?.release();
  }

  private startDatabase(dataDir: string, port = 0): Promise<Postgres> {
    this.throwWhenStopping();
    const onProgress = (step: string): void => this.options.tell(`${step} …`);
    const database = startPostgres({ dataDir, port, onProgress });
    this.database = database;
    void database.then(
      (postgres) => this.watchDatabase(dataDir, postgres),
      () => undefined,
    );
    return database;
  }

  /** A database that was killed comes back on its port; what was connected to it tries again. */
  private watchDatabase(dataDir: string, postgres: Postgres): void {
    if (this.stopping) return;
    this.databaseTimer = setInterval(() => {
      if (postgres.isRunning()) return;
      clearInterval(this.databaseTimer);
      this.options.tell('The database ended; starting it again.');
      this.startDatabase(dataDir, postgres.port).catch(this.options.onFailure);
    }, DATABASE_CHECK_MS);
  }

  private supervise(plan: Plan, role: keyof Programs, environment: () => NodeJS.ProcessEnv): Child {
    this.throwWhenStopping();
    const extra = role === 'demo' ? [String(plan.demoPort)] : [];
    const command = [...this.options.programs[role], ...extra];
    const name = { control: 'control plane', node: 'data plane', demo: 'demo upstream' }[role];
    const logFile = path.join(plan.logFolder, `${name.replace(' ', '-')}.log`);
    const child = superviseChild({ name, command, environment, logFile, onRestart: this.options.tell });
    this.children[role] = child;
    return child;
  }

  private throwWhenStopping(): void {
    if (this.stopping) throw new Error('The start was interrupted.');
  }
}
