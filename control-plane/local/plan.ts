/** What a start decides before it begins: every port, address and secret, and what each process is told. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readOrMakeSecret, readSecret } from './data-folder.ts';
import { secretFiles } from './messages.ts';
import { findFreePort, isPortFree } from './ports.ts';
import type { LocalSettings } from './settings.ts';

/** A node has no business with these. */
const CONTROL_PLANE_ONLY = new Set([
  'DATABASE_URL',
  'SECRET_KEY',
  'ADMIN_EMAIL',
  'ADMIN_PASSWORD',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
]);

/** Settings with nothing left open. */
export interface Plan extends LocalSettings {
  secretKey: string;
  publicUrl: string;
  consoleUrl: string;
  demoPort: number;
  logFolder: string;
}

/** Fills in what the settings leave open, and makes the secret key and the folder for logs when absent. */
export async function makePlan(settings: LocalSettings): Promise<Plan> {
  const controlPort = settings.controlPort || (await findFreePort(settings.host));
  const dataPort = settings.dataPort || (await findFreePort(settings.host));
  const logFolder = path.join(settings.dataDir, 'logs');
  mkdirSync(logFolder, { recursive: true, mode: 0o700 });
  return {
    ...settings,
    controlPort,
    dataPort,
    demoPort: await keepPort(path.join(settings.dataDir, 'demo-port')),
    logFolder,
    publicUrl: settings.publicUrl ?? `http://localhost:${dataPort}`,
    consoleUrl: settings.consoleUrl ?? `http://localhost:${controlPort}`,
    secretKey: settings.secretKey ?? readOrMakeSecret(secretFiles(settings.dataDir).secretKey),
  };
}

/** The variables of the control plane. `inherited` are those of the start itself. */
export function controlEnvironment(
  plan: Plan,
  inherited: NodeJS.ProcessEnv,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  return {
    ...inherited,
    ...compileCache(plan),
    LOCAL_START: '1',
    DATABASE_URL: databaseUrl,
    DATA_DIR: plan.dataDir,
    HOST: plan.host,
    CONTROL_PORT: String(plan.controlPort),
    PUBLIC_URL: plan.publicUrl,
    CONSOLE_URL: plan.consoleUrl,
    DATA_URL: inherited.DATA_URL ?? localUrl(plan.host, plan.dataPort),
    SECRET_KEY: plan.secretKey,
    // A demo belongs to the database that comes with us; a database of their own is not ours to fill.
    DEMO: plan.databaseUrl ? 'off' : plan.demo,
    DEMO_UPSTREAM_URL: `http://127.0.0.1:${plan.demoPort}`,
  };
}

/** The variables of the node. The token is read at every start: the control plane may have made a new one. */
export function nodeEnvironment(plan: Plan, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = Object.entries(inherited).filter(([name]) => !CONTROL_PLANE_ONLY.has(name));
  return {
    ...Object.fromEntries(known),
    ...compileCache(plan),
    DATA_DIR: path.join(plan.dataDir, 'node'),
    HOST: plan.host,
    DATA_PORT: String(plan.dataPort),
    CONTROL_URL: localUrl(plan.host, plan.controlPort),
    PUBLIC_URL: plan.publicUrl,
    CONSOLE_URL: plan.consoleUrl,
    NODE_NAME: inherited.NODE_NAME ?? 'local',
    NODE_TOKEN: readSecret(secretFiles(plan.dataDir).nodeToken),
    // Ctrl-C ends everything at once; who has to drain starts the data plane by itself.
    DRAIN_SECONDS: '0',
  };
}

/** The port of the last start while it is free: what is told to nodes need not change then. */
async function keepPort(file: string): Promise<number> {
  const kept = Number(readSecret(file));
  const port = kept > 0 && (await isPortFree(kept)) ? kept : await findFreePort();
  writeFileSync(file, String(port));
  return port;
}

/** Compiled code is kept between starts, which saves a quarter of the time they take. */
function compileCache(plan: Plan): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: path.join(plan.dataDir, 'compile-cache') };
}

/** How processes of this machine reach what listens on the host setting. */
function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
