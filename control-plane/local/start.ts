/** `npm start`: starts the database, both planes and the demo; watches them; stops them. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { announce } from './announcement.ts';
import { type Child, superviseChild } from './child.ts';
import {
  type DataFolder,
  FolderInUseError,
  holdDataFolder,
  readOrMakeSecret,
  readSecret,
} from './data-folder.ts';
import { bootstrapOf, secretFiles } from './messages.ts';
import { assertPortIsFree, findFreePort } from './ports.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { type LocalSettings, parseSettings, SettingsError } from './settings.ts';

/** Together below the 2 s within which everything is gone. */
const NODE_STOP_MS = 600;
const CONTROL_STOP_MS = 500;
const DATABASE_CHECK_MS = 500;
const PROGRAMS = path.dirname(path.dirname(import.meta.dirname));

const CONTROL_PLANE_ONLY = new Set([
  'DATABASE_URL',
  'SECRET_KEY',
  'ADMIN_EMAIL',
  'ADMIN_PASSWORD',
  'SMTP_URL',
]);

/** Settings with every port, address and secret decided. */
interface Plan extends LocalSettings {
  secretKey: string;
  publicUrl: string;
  consoleUrl: string;
  demoPort: number;
}

/** Ends the process: 0 after a stop that was asked for, 1 with one clear message when the start fails. */
async function main(): Promise<void> {
  const house = new House();
  // A signal while things are still starting stops what has started.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      void house.stop(0);
    });
  try {
    await house.start(parseSettings(process.env));
  } catch (error) {
    if (house.stopping) return;
    console.error(messageOf(error));
    await house.stop(1);
  }
}

class House {
  stopping = false;
  private folder: DataFolder | undefined;
  private postgres: Postgres | undefined;
  private control: Child | undefined;
  private node: Child | undefined;
  private demo: Child | undefined;
  private databaseTimer: NodeJS.Timeout | undefined;

  async start(settings: LocalSettings): Promise<void> {
    this.folder = await holdDataFolder(settings.dataDir);
    await assertPortIsFree(settings.host, settings.controlPort, 'CONTROL_PORT');
    await assertPortIsFree(settings.host, settings.dataPort, 'DATA_PORT');
    const plan = await decide(settings);
    const databaseUrl = settings.databaseUrl ?? (await this.startDatabase(settings.dataDir));
    tell('Starting the control plane …');
    this.control = this.supervise(
      'control plane',
      [path.join(PROGRAMS, 'dist', 'control-plane', 'main.js')],
      plan,
      () => ({ ...controlEnvironment(plan), DATABASE_URL: databaseUrl }),
    );
    const bootstrap = bootstrapOf(await this.control.ready);
    if (bootstrap.demo) await this.startDemo(plan);
    tell('Starting the data plane …');
    this.node = this.supervise('data plane', [path.join(PROGRAMS, 'data-plane', 'main.ts')], plan, () =>
      nodeEnvironment(plan),
    );
    await this.node.ready;
    if (this.stopping) return;
    this.folder.describe(`console ${plan.consoleUrl}, base address ${plan.publicUrl}`);
    process.stdout.write(`${announce({ ...plan, logs: logFolder(plan.dataDir) }, bootstrap)}\n`);
  }

  /** Customers first, then the control plane, then the database under both. A second call changes nothing. */
  async stop(code: number): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    clearInterval(this.databaseTimer);
    await Promise.all([this.node?.stop(NODE_STOP_MS), this.demo?.stop(NODE_STOP_MS)]);
    await this.control?.stop(CONTROL_STOP_MS);
    await this.postgres?.stop();
    this.folder?.release();
    process.exit(code);
  }

  private async startDatabase(dataDir: string): Promise<string> {
    const onProgress = (step: string): void => {
      tell(`${step} …`);
    };
    const postgres = await startPostgres({ dataDir, onProgress });
    this.postgres = postgres;
    if (this.stopping) {
      await postgres.stop();
      throw new Error('Stopped.');
    }
    this.watchDatabase(dataDir, postgres);
    return postgres.url;
  }

  /**
   * A database that died (killed, out of memory) comes back on its port; what is connected to it tries
   * again.
   */
  private watchDatabase(dataDir: string, postgres: Postgres): void {
    this.databaseTimer = setInterval(() => {
      if (this.stopping || postgres.isRunning()) return;
      clearInterval(this.databaseTimer);
      tell('The database ended; starting it again.');
      startPostgres({ dataDir, port: postgres.port })
        .then((started) => {
          this.postgres = started;
          if (this.stopping) return started.stop();
          this.watchDatabase(dataDir, started);
          return undefined;
        })
        .catch((error: unknown) => {
          console.error(messageOf(error));
          return this.stop(1);
        });
    }, DATABASE_CHECK_MS);
  }

  private async startDemo(plan: Plan): Promise<void> {
    const program = path.join(import.meta.dirname, 'demo-upstream.js');
    this.demo = this.supervise('demo upstream', [program, String(plan.demoPort)], plan, () => process.env);
    await this.demo.ready;
  }

  private supervise(
    name: string,
    command: string[],
    plan: Plan,
    environment: () => NodeJS.ProcessEnv,
  ): Child {
    if (this.stopping) throw new Error('Stopped.');
    const logFile = path.join(logFolder(plan.dataDir), `${name.replaceAll(' ', '-')}.log`);
    return superviseChild({
      name,
      command: ['--enable-source-maps', ...command],
      environment,
      logFile,
      onRestart: tell,
    });
  }
}

async function decide(settings: LocalSettings): Promise<Plan> {
  const controlPort = settings.controlPort || (await findFreePort(settings.host));
  const dataPort = settings.dataPort || (await findFreePort(settings.host));
  mkdirSync(logFolder(settings.dataDir), { recursive: true, mode: 0o700 });
  return {
    ...settings,
    controlPort,
    dataPort,
    demoPort: await findFreePort(),
    publicUrl: settings.publicUrl ?? `http://localhost:${dataPort}`,
    consoleUrl: settings.consoleUrl ?? `http://localhost:${controlPort}`,
    secretKey: settings.secretKey ?? readOrMakeSecret(secretFiles(settings.dataDir).secretKey),
  };
}

function controlEnvironment(plan: Plan): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LOCAL_START: '1',
    DATA_DIR: plan.dataDir,
    HOST: plan.host,
    CONTROL_PORT: String(plan.controlPort),
    CONSOLE_FOLDER: path.join(PROGRAMS, 'dist', 'console'),
    PUBLIC_URL: plan.publicUrl,
    CONSOLE_URL: plan.consoleUrl,
    DATA_URL: process.env.DATA_URL ?? localUrl(plan.host, plan.dataPort),
    SECRET_KEY: plan.secretKey,
    // A demo belongs to the database that comes with us; where the data is somebody's own, so are the
    // upstreams.
    DEMO: plan.databaseUrl ? 'off' : plan.demo,
    DEMO_UPSTREAM_URL: `http://127.0.0.1:${plan.demoPort}`,
  };
}

/** Without what only the control plane may know. */
function nodeEnvironment(plan: Plan): NodeJS.ProcessEnv {
  const known = Object.entries(process.env).filter(([name]) => !CONTROL_PLANE_ONLY.has(name));
  return {
    ...Object.fromEntries(known),
    DATA_DIR: path.join(plan.dataDir, 'node'),
    HOST: plan.host,
    DATA_PORT: String(plan.dataPort),
    CONTROL_URL: localUrl(plan.host, plan.controlPort),
    NODE_NAME: process.env.NODE_NAME ?? 'local',
    NODE_TOKEN: readSecret(secretFiles(plan.dataDir).nodeToken),
    DRAIN_SECONDS: '0',
  };
}

/** How processes of this machine reach what listens on the host setting. */
function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function logFolder(dataDir: string): string {
  return path.join(dataDir, 'logs');
}

function tell(sentence: string): void {
  console.error(sentence);
}

function messageOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof FolderInUseError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

await main();
