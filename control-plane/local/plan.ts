/** The plan of a local start: ports, addresses, secrets, and the environment of each process. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readOrMakeSecret, readSecret } from './data-folder.ts';
import { secretFiles } from './messages.ts';
import { findFreePort, isPortFree } from './ports.ts';
import type { LocalSettings } from './settings.ts';
import { controlVariables, nodeVariables, systemVariables } from './variables.ts';

/** Settings with every value decided. */
export interface Plan extends LocalSettings {
  secretKey: string;
  publicUrl: string;
  consoleUrl: string;
  demoPort: number;
  /** Port of the demo's card processor. */
  processorPort: number;
  /** Secrets that the demo's card processor and the control plane share. */
  processorKey: string;
  webhookSecret: string;
  logFolder: string;
}

/**
 * Decides every value that the settings leave open. Creates the secrets and the log folder if they are
 * missing.
 */
export async function makePlan(settings: LocalSettings): Promise<Plan> {
  const controlPort = settings.controlPort || (await findFreePort(settings.host));
  const { nodePort } = settings;
  const dataPort = settings.dataPort || (await findFreePort(settings.host));
  const files = secretFiles(settings.dataDir);
  const logFolder = path.join(settings.dataDir, 'logs');
  mkdirSync(logFolder, { recursive: true, mode: 0o700 });
  return {
    ...settings,
    controlPort,
    dataPort,
    ...(nodePort !== undefined && { nodePort: nodePort || (await findFreePort(settings.host)) }),
    demoPort: await keepPort(path.join(settings.dataDir, 'demo-port')),
    processorPort: await keepPort(path.join(settings.dataDir, 'demo-processor-port'), settings.host),
    processorKey: readOrMakeSecret(files.processorKey),
    webhookSecret: readOrMakeSecret(files.webhookSecret),
    logFolder,
    publicUrl: settings.publicUrl ?? `http://localhost:${dataPort}`,
    consoleUrl: settings.consoleUrl ?? `http://localhost:${controlPort}`,
    secretKey: settings.secretKey ?? readOrMakeSecret(files.secretKey),
  };
}

/** The environment of the control plane. `inherited` is that of `npm start`. */
export function controlEnvironment(
  plan: Plan,
  inherited: NodeJS.ProcessEnv,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  return {
    ...controlVariables(inherited),
    ...compileCache(plan),
    ...(inherited.CONSOLE_FOLDER && { CONSOLE_FOLDER: inherited.CONSOLE_FOLDER }),
    LOCAL_START: '1',
    DATABASE_URL: databaseUrl,
    DATA_DIR: plan.dataDir,
    HOST: plan.host,
    CONTROL_PORT: String(plan.controlPort),
    ...(plan.nodePort && { NODE_INTERFACE_PORT: String(plan.nodePort) }),
    PUBLIC_URL: plan.publicUrl,
    CONSOLE_URL: plan.consoleUrl,
    DATA_URL: inherited.DATA_URL ?? localUrl(plan.host, plan.dataPort),
    SECRET_KEY: plan.secretKey,
    // The demo is created only in the embedded database, never in one of the operator.
    DEMO: plan.databaseUrl ? 'off' : plan.demo,
    DEMO_UPSTREAM_URL: `http://127.0.0.1:${plan.demoPort}`,
    DEMO_PROCESSOR_URL: localUrl(plan.host, plan.processorPort),
  };
}

/** The environment of the node, with the token that is in its file now. */
export function nodeEnvironment(plan: Plan, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = path.join(plan.dataDir, 'node');
  return {
    ...nodeVariables(inherited),
    ...compileCache(plan),
    DATA_DIR: folder,
    // Large uploads wait there. The folder of the system may be small, or in memory.
    TMPDIR: inherited.TMPDIR || folder,
    HOST: plan.host,
    DATA_PORT: String(plan.dataPort),
    CONTROL_URL: localUrl(plan.host, plan.nodePort ?? plan.controlPort),
    PUBLIC_URL: plan.publicUrl,
    CONSOLE_URL: plan.consoleUrl,
    NODE_NAME: inherited.NODE_NAME ?? 'local',
    NODE_TOKEN: readSecret(secretFiles(plan.dataDir).nodeToken),
    // Ctrl-C stops everything at once. To drain nodes, start the data plane separately.
    DRAIN_SECONDS: '0',
  };
}

/** The environment of the demo upstream, which needs nothing of the gateway. */
export function demoEnvironment(plan: Plan, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...systemVariables(inherited), ...compileCache(plan) };
}

/**
 * The environment of the demo's card processor. The browser that shows the console opens its pages, so they
 * have the host name of the console.
 */
export function processorEnvironment(plan: Plan, inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...demoEnvironment(plan, inherited),
    PROCESSOR_HOST: plan.host,
    PROCESSOR_KEY: plan.processorKey,
    PROCESSOR_PAGE_ORIGIN: `http://${new URL(plan.consoleUrl).hostname}:${plan.processorPort}`,
    PROCESSOR_STATE: path.join(plan.dataDir, 'demo-processor.json'),
    PROCESSOR_WEBHOOK_SECRET: plan.webhookSecret,
    PROCESSOR_WEBHOOK_URL: `${localUrl(plan.host, plan.controlPort)}/webhooks/stripe`,
  };
}

/**
 * The port of the last start if it is free, so that the nodes' configuration need not change; else a free
 * port.
 */
async function keepPort(file: string, host?: string): Promise<number> {
  const kept = Number(readSecret(file));
  const port = kept > 0 && (await isPortFree(kept, host)) ? kept : await findFreePort(host);
  writeFileSync(file, String(port));
  return port;
}

/** Keeps compiled code between starts, which makes them a quarter faster. */
function compileCache(plan: Plan): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: path.join(plan.dataDir, 'compile-cache') };
}

/** The address at which processes of this machine reach a server that listens on `host`. */
function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
