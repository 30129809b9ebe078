/** Tests that each process of a local start gets only the environment variables that it needs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  controlEnvironment,
  demoEnvironment,
  makePlan,
  nodeEnvironment,
  processorEnvironment,
} from './plan.ts';
import type { Plan } from './plan.ts';

const SECRETS = {
  ADMIN_EMAIL: 'admin@example.com',
  ADMIN_PASSWORD: 'a canary password',
  SECRET_KEY: 'a canary key of at least thirty-two bytes',
  DATABASE_URL: 'postgres://canary@localhost/canary',
  SMTP_URL: 'smtp://canary@localhost',
  OIDC_CLIENT_SECRET: 'canary',
  AWS_SECRET_ACCESS_KEY: 'canary of another program',
  NODE_TOKEN: 'gnt_canary',
  NODE_AUTH_TOKEN: 'canary of a package registry',
};
const INHERITED = { ...SECRETS, PATH: '/usr/bin', LANG: 'C', LOG_LEVEL: 'warn', METRICS_TOKEN: 'token' };

let folder: string;
let plan: Plan;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-plan-'));
  plan = await makePlan({
    dataDir: folder,
    host: '127.0.0.1',
    controlPort: 0,
    dataPort: 0,
    nodePort: 0,
    demo: 'off',
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const secretsIn = (environment: NodeJS.ProcessEnv) =>
  Object.values(environment).filter((value) => Object.values(SECRETS).includes(value ?? ''));

describe('the environment', () => {
  it('contains no settings of the gateway for the demo upstream', () => {
    const environment = demoEnvironment(plan, INHERITED);
    expect(secretsIn(environment)).toEqual([]);
    expect(Object.keys(environment).sort()).toEqual([
      'LANG',
      'MALLOC_ARENA_MAX',
      'MALLOC_MMAP_THRESHOLD_',
      'NODE_COMPILE_CACHE',
      'PATH',
    ]);
  });

  it('contains its own secrets for the card processor, and pages under the host name of the console', () => {
    const environment = processorEnvironment(
      { ...plan, consoleUrl: 'https://console.example.com' },
      INHERITED,
    );
    expect(secretsIn(environment)).toEqual([]);
    expect(environment).toMatchObject({
      PROCESSOR_KEY: expect.stringMatching(/^[0-9a-f]{64}$/),
      PROCESSOR_PAGE_ORIGIN: `http://console.example.com:${plan.processorPort}`,
      PROCESSOR_WEBHOOK_URL: `http://127.0.0.1:${plan.controlPort}/webhooks/stripe`,
    });
    expect(environment.PROCESSOR_KEY).not.toBe(environment.PROCESSOR_WEBHOOK_SECRET);
  });

  it('contains only its own settings for the node', () => {
    const environment = nodeEnvironment(plan, INHERITED);
    expect(secretsIn(environment)).toEqual([]);
    expect(environment).toMatchObject({ PATH: '/usr/bin', LOG_LEVEL: 'warn', METRICS_TOKEN: 'token' });
  });

  it('lets large uploads wait in the folder of the node, unless TMPDIR is set', () => {
    expect(nodeEnvironment(plan, {}).TMPDIR).toBe(path.join(folder, 'node'));
    expect(nodeEnvironment(plan, { TMPDIR: '/large' }).TMPDIR).toBe('/large');
  });

  it('contains its own settings for the control plane, and nothing of other programs or the node', () => {
    const environment = controlEnvironment(plan, { ...INHERITED, PGSSLMODE: 'require' }, 'postgres://own');
    expect(environment).toMatchObject({
      ...{ ADMIN_EMAIL: SECRETS.ADMIN_EMAIL, ADMIN_PASSWORD: SECRETS.ADMIN_PASSWORD },
      ...{ SMTP_URL: SECRETS.SMTP_URL, OIDC_CLIENT_SECRET: SECRETS.OIDC_CLIENT_SECRET },
      ...{ PATH: '/usr/bin', LOG_LEVEL: 'warn', PGSSLMODE: 'require', DATABASE_URL: 'postgres://own' },
    });
    const foreign = ['AWS_SECRET_ACCESS_KEY', 'NODE_TOKEN', 'NODE_AUTH_TOKEN', 'MAX_CONFIG_AGE'];
    expect(foreign.filter((name) => name in environment)).toEqual([]);
  });

  it('gives the node the address of the port for nodes', () => {
    const { NODE_INTERFACE_PORT: port } = controlEnvironment(plan, INHERITED, 'postgres://localhost/x');
    expect(Number(port)).toBeGreaterThan(0);
    expect(nodeEnvironment(plan, INHERITED).CONTROL_URL).toBe(`http://127.0.0.1:${port}`);
  });
});
