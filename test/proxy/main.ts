/**
 * `node test/proxy/main.ts [nginx|caddy]`: runs the whole gateway behind a proxy with the configuration of
 * the documentation. Prints a line for each feature that a proxy can break; exits with 1 if a check fails.
 * The proxy must be on the PATH.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse, topUp } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { addPool } from '../house/pool.ts';
import { startFront } from './front.ts';
import type { Front, FrontKind } from './front.ts';

/** Not `localhost`: no certificate can name all hosts below a top-level domain. */
const BASE_DOMAIN = 'api.test';
const CONSOLE_DOMAIN = 'console.test';
/** Real address of the client. */
const CLIENT_ADDRESS = '127.0.0.2';
/** The address that the client claims in x-forwarded-for. */
const FORGED_ADDRESS = '203.0.113.9';
const PIECES_MIN = 5;
const USAGE_WAIT_MS = 15_000;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parts of the body, in the order of their arrival. */
  pieces: string[];
}

interface Stage {
  house: House;
  front: Front;
}

/** Sends one request to a host through the proxy: POST if there is a body, else GET. */
function ask(
  { front }: Stage,
  host: string,
  options: { path: string; key?: string; body?: object; header?: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: front.port,
        localAddress: CLIENT_ADDRESS,
        servername: host,
        ca: front.certificate,
        path: options.path,
        method: options.body ? 'POST' : 'GET',
        headers: {
          host,
          accept: options.body ? '*/*' : 'text/html,*/*',
          'x-forwarded-for': FORGED_ADDRESS,
          ...(options.key && { authorization: `Bearer ${options.key}` }),
          ...(options.body && { 'content-type': 'application/json' }),
          ...(options.header && { 'x-long': options.header }),
        },
      },
      (response) => {
        const pieces: string[] = [];
        response.on('data', (chunk: Buffer) => pieces.push(chunk.toString()));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, pieces }),
        );
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body && JSON.stringify(options.body));
  });
}

const chat = (stream: boolean): object => ({
  model: 'budget',
  stream,
  messages: [{ role: 'user', content: 'Hi' }],
});

const complete = '/v1/chat/completions';

async function streams(stage: Stage, customer: Customer): Promise<boolean> {
  const { pieces } = await ask(stage, BASE_DOMAIN, { path: complete, key: customer.key, body: chat(true) });
  return pieces.length >= PIECES_MIN && pieces.join('').includes('data: [DONE]');
}

async function subscribes({ house, front }: Stage, customer: Customer): Promise<boolean> {
  const options: ClientOptions & { servername: string } = {
    headers: { cookie: customer.api.cookie(), host: CONSOLE_DOMAIN },
    servername: CONSOLE_DOMAIN,
    ca: front.certificate,
  };
  class ThroughProxy extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, options);
    }
  }
  const socket = createClient({
    url: `wss://127.0.0.1:${front.port}/graphql`,
    webSocketImpl: ThroughProxy,
    retryAttempts: 0,
  });
  const results = socket.iterate({ query: 'subscription { walletUpdated { id } }' });
  let hasUpdate = false;
  const update = results.next().then(({ value }) => {
    hasUpdate = JSON.stringify(value).includes(customer.walletId);
  });
  for (let attempt = 0; !hasUpdate && attempt < 20; attempt += 1) {
    await topUp(house, customer.userId, '1');
    await Promise.race([update, sleep(500)]);
  }
  await socket.dispose();
  return hasUpdate;
}

async function pools(stage: Stage, customer: Customer): Promise<boolean> {
  const pool = await addPool(stage.house, { model: 'budget', rpmCap: 60 });
  const host = `${pool.host.split('.')[0]}.${BASE_DOMAIN}`;
  const statuses: number[] = [];
  for (const [name, key] of [
    [host, pool.key],
    [host, customer.key],
    [BASE_DOMAIN, pool.key],
    [`no-such-pool.${BASE_DOMAIN}`, pool.key],
  ] as const)
    statuses.push((await ask(stage, name, { path: complete, key, body: chat(false) })).status);
  return String(statuses) === '200,403,403,421';
}

/** Whether the usage log has the real address of the client, not the one that the client claims. */
async function knowsAddress({ house }: Stage, customer: Customer): Promise<boolean> {
  const end = Date.now() + USAGE_WAIT_MS;
  while (Date.now() < end) {
    const { rows } = await house.database.query<{ ip: string }>(
      'select distinct host(ip) as ip from usage_entry where key_id = $1',
      [customer.keyId],
    );
    if (rows.length > 0) return rows.length === 1 && rows[0]?.ip === CLIENT_ADDRESS;
    await sleep(100);
  }
  return false;
}

async function keepsSecrets(stage: Stage, customer: Customer): Promise<boolean> {
  const { status } = await ask(stage, BASE_DOMAIN, { path: `/v1beta/models?key=${customer.key}` });
  return status === 200 && !stage.front.written().includes(customer.key);
}

async function survivesNode(stage: Stage, customer: Customer): Promise<boolean> {
  await stage.house.nodes[1]?.process.kill();
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { status } = await ask(stage, BASE_DOMAIN, {
      path: complete,
      key: customer.key,
      body: chat(false),
    });
    if (status !== 200) return false;
  }
  return true;
}

async function tryAll(stage: Stage): Promise<boolean> {
  const customer = await addCustomer(stage.house, '10');
  const checks: [string, () => Promise<boolean>][] = [
    ['a stream arrives piece by piece', () => streams(stage, customer)],
    ['subscriptions of the console work over WebSocket', () => subscribes(stage, customer)],
    ['a pool is reached only by its subdomain', () => pools(stage, customer)],
    ['the usage log has the address of the client', () => knowsAddress(stage, customer)],
    ['the access log has no key', () => keepsSecrets(stage, customer)],
    [
      'headers of 12,000 bytes pass',
      async () =>
        (await ask(stage, BASE_DOMAIN, { path: '/v1/models', key: customer.key, header: 'x'.repeat(12_000) }))
          .status === 200,
    ],
    [
      'metrics are not served',
      async () => (await ask(stage, BASE_DOMAIN, { path: '/metrics' })).status === 404,
    ],
    [
      'the console is served',
      async () => (await ask(stage, CONSOLE_DOMAIN, { path: '/sign-in' })).status === 200,
    ],
    ['no request fails after a node was killed', () => survivesNode(stage, customer)],
  ];
  let allHold = true;
  for (const [name, check] of checks) {
    const holds = await check();
    process.stdout.write(`${holds ? 'holds' : 'BROKEN'}: ${name}\n`);
    allHold &&= holds;
  }
  return allHold;
}

async function main(kind: FrontKind): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-proxy-'));
  // If root starts this, PostgreSQL runs as another user, who needs permission to open the folder.
  chmodSync(folder, 0o711);
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 30, chunkSize: 10 });
  mock.on({ predicate: () => true }, { content: 'word '.repeat(30) });
  await mock.start();
  const postgres = await startPostgres({ dataDir: join(folder, 'data') });
  const house = await startHouse({
    databaseUrl: postgres.url,
    nodes: 2,
    controlEnv: { PUBLIC_URL: `https://${BASE_DOMAIN}`, TRUST_PROXY: '127.0.0.1/32' },
    nodeEnv: { TRUST_PROXY: '127.0.0.1/32' },
  });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  const [first, second] = house.nodes.map((node) => node.process.port);
  const front = await startFront(kind, {
    folder: join(folder, kind),
    baseDomain: BASE_DOMAIN,
    consoleDomain: CONSOLE_DOMAIN,
    nodePorts: [first ?? 0, second ?? 0],
    controlPort: house.control.port,
  });
  try {
    return (await tryAll({ house, front })) ? 0 : 1;
  } finally {
    await front.stop();
    await house.stop();
    await Promise.all([mock.stop(), postgres.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await main(process.argv[2] === 'caddy' ? 'caddy' : 'nginx'));
