/** The demo of `npm start`: funds with play money, a restart, and the end by the first real route. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../control-plane/local/ports.ts';
import { apiClient } from './house/client.ts';
import type { ApiClient } from './house/client.ts';

const ROOT = path.join(import.meta.dirname, '..');
const ADMIN = { email: 'admin@example.com', password: 'correct horse battery staple' };
const TEST_MS = 120_000;

interface Demo {
  admin: ApiClient;
  output: string;
  stop(): Promise<void>;
}

let dataDir: string;
let demo: Demo;
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-demo-'));
  demo = await start();
}, TEST_MS);
afterAll(async () => {
  await demo.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts what `npm start` starts, and signs the administrator in. */
async function start(): Promise<Demo> {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist', 'control-plane', 'local', 'start.js')], {
    env: {
      ...{ PATH: process.env['PATH'], DATA_DIR: dataDir, CONTROL_PORT: '0', DATA_PORT: '0' },
      ...{ ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password, ALLOW_PRIVATE_UPSTREAMS: 'on' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = await outputOf(child);
  const admin = apiClient(/Console\s+(\S+)/.exec(output)?.[1] ?? '');
  await admin.mutate('signIn', ADMIN, 'viewer { id }');
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { admin, output, stop };
}

/** Output of the program up to the moment when it is ready. */
function outputOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        output += bytes.toString();
        if (output.includes('Ctrl-C')) resolve(output);
      });
    child.once('exit', () => reject(new Error(output)));
  });
}

interface TopUp {
  id: string;
  state: string;
  credited: string;
  checkoutUrl: string | null;
}

const FIELDS = 'id state credited checkoutUrl';

async function begin(amount: string): Promise<TopUp> {
  const input = { amount, saveCard: true, idempotencyKey: `top-up of ${amount}` };
  const { topUp } = await demo.admin.mutate<{ topUp: TopUp }>(
    'topUpCardCreate',
    input,
    `topUp { ${FIELDS} }`,
  );
  return topUp;
}

async function topUp(id: string): Promise<TopUp> {
  const data = await demo.admin.query<{ topUp: TopUp }>(`query ($id: ID!) { topUp(id: $id) { ${FIELDS} } }`, {
    id,
  });
  return data.topUp;
}

/** Presses Pay on the page. */
const pay = ({ checkoutUrl }: TopUp): Promise<Response> =>
  fetch(checkoutUrl ?? '', {
    method: 'POST',
    body: new URLSearchParams({ action: 'pay' }),
    redirect: 'manual',
  });

async function wallet(): Promise<{ cash: string; gift: string }> {
  const data = await demo.admin.query<{ viewer: { wallet: { cash: string; gift: string } } }>(
    '{ viewer { wallet { cash gift } } }',
  );
  return data.viewer.wallet;
}

async function violations(): Promise<object[]> {
  const { admin } = await demo.admin.query<{ admin: { ledgerCheck: { rules: { violations: object[] }[] } } }>(
    '{ admin { ledgerCheck { rules { violations { subject detail } } } } }',
  );
  return admin.ledgerCheck.rules.flatMap((rule) => rule.violations);
}

/** Adds the first real upstream, which ends the demo. */
async function addRealRoute(): Promise<void> {
  const reason = 'test';
  const more = { name: 'real', protocols: ['CHAT_COMPLETIONS'], baseUrl: 'http://127.0.0.1:9/v1' };
  const { provider } = await demo.admin.mutate<{ provider: { id: string } }>(
    'adminProviderUpsert',
    { ...more, enabled: true, reason },
    'provider { id }',
  );
  const { catalog } = await demo.admin.query<{ catalog: { nodes: { id: string }[] } }>(
    '{ catalog { nodes { id } } }',
  );
  const route = { modelId: catalog.nodes[0]?.id, providerId: provider.id, upstreamModel: 'm', enabled: true };
  const input = { ...route, priority: 1, weight: 1, families: ['CHAT_COMPLETIONS'], reason };
  await demo.admin.mutate('adminRouteUpsert', input, 'route { id }');
}

describe('the demo of npm start', () => {
  it(
    'takes play money on a page of its own, keeps it over a restart, and voids it at the end',
    async () => {
      expect(demo.output).toMatch(
        /Credit can be added with play money on http\S+\/wallet: no card is charged/,
      );
      const paid = await begin('25');
      expect(await (await fetch(paid.checkoutUrl ?? '')).text()).toContain('Play money: no card is charged');
      const back = await pay(paid);
      expect(back.status).toBe(303);
      expect(back.headers.get('location')).toMatch(new RegExp(`/wallet\\?topup=${paid.id}$`));
      expect(await topUp(paid.id)).toMatchObject({ state: 'CREDITED', credited: '25.00' });
      expect(await wallet()).toEqual({ cash: '0.00', gift: '50.00' });

      await demo.stop();
      writeFileSync(path.join(dataDir, 'demo-processor-port'), String(await findFreePort()));
      demo = await start();
      const refund = { topUpId: paid.id, amount: '5', reason: 'test', idempotencyKey: 'refund' };
      const refunds = 'topUp { state refunds { status } }';
      expect(await demo.admin.mutate('adminTopUpRefund', refund, refunds)).toMatchObject({
        topUp: { state: 'PARTIALLY_REFUNDED', refunds: [{ status: 'SUCCEEDED' }] },
      });
      expect(await wallet()).toEqual({ cash: '0.00', gift: '45.00' });

      const inFlight = await begin('10');
      await addRealRoute();
      expect(await wallet()).toEqual({ cash: '0.00', gift: '0.00' });
      expect((await pay(inFlight)).status).toBe(303);
      expect(await topUp(inFlight.id)).toMatchObject({ state: 'FAILED', credited: '0.00' });
      await expect(begin('11')).rejects.toThrow('CONFLICT');
      expect(await wallet()).toEqual({ cash: '0.00', gift: '0.00' });
      expect(await violations()).toEqual([]);
    },
    TEST_MS,
  );
});
