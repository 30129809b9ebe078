/** Tests the health of upstreams over the API: heartbeats of nodes, credentials and probes. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportPublicKey } from '@gateway/shared/sealing';
import { CREDENTIALS_MAX, UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createNode, findNodeByToken } from '../nodes/node.service.ts';
import { registerNode } from '../nodes/registration.service.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { creditGift } from '../wallet/movements.ts';

const PROVIDER = `mutation ($input: AdminProviderInput!) { adminProviderUpsert(input: $input) {
  provider { id } userErrors { code } } }`;
const CREDENTIAL = `mutation ($input: AdminCredentialInput!) { adminCredentialAdd(input: $input) {
  provider { credentials { id } } userErrors { code } } }`;
const DELETE = `mutation ($input: AdminReasonInput!) { adminProviderDelete(input: $input) { ok } }`;
const ROUTE = `mutation ($input: AdminRouteInput!) { adminRouteUpsert(input: $input) {
  route { id openUntil } userErrors { code } } }`;
const ROUTES = `{ admin { providers { id routes { openUntil } } } }`;
const PROBE = `mutation ($input: AdminProbeInput!) { adminProviderProbe(input: $input) {
  result { status } userErrors { code } } }`;
const BEAT = `mutation ($input: NodeHeartbeatInput!) { nodeHeartbeat(input: $input) {
  node { id } userErrors { code } } }`;
const HEALTH = `{ admin { providers { id
  credentials { id lastUsedAt lastError lastErrorAt suspendedUntil quotaSpentUntil }
  health { status circuit requests5m errorRate5m p95LatencyMs inputTokens5m cachedTokens5m needsCredential
    asOf lastProbeAt lastProbeStatus lastProbeLatencyMs lastProbeError
    nodes { nodeName circuit requests failed p95LatencyMs cachedTokens clockAheadMs } } } } }`;

interface Health extends Record<string, unknown> {
  nodes: object[];
}
interface Provider {
  id: string;
  credentials: Record<string, unknown>[];
  health: Health;
}
interface TestNode {
  id: string;
  token: string;
  journalId: string;
}

describe('the health of upstreams', () => {
  let test: TestApp;
  let admin: Browser;
  let nodes: TestNode[];
  let providerId: string;
  let made = 0;
  beforeAll(async () => {
    test = await startTestApp({ findNode: (token) => findNodeByToken(test.orm.em.fork(), token) });
    admin = await test.admin();
    nodes = await Promise.all(['north', 'south'].map(startNode));
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    providerId = await addProvider();
  });

  async function startNode(name: string): Promise<TestNode> {
    const em = test.orm.em.fork();
    const { node, token } = await createNode(em, name);
    const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);
    const journalId = `journal-${name}`;
    await registerNode(em, node.id, { version: '1', region: null, publicKey, journalId });
    return { id: node.id, token, journalId };
  }

  async function addProvider(baseUrl = 'http://127.0.0.1:9/v1'): Promise<string> {
    made += 1;
    const input = {
      name: `p${made}`,
      protocols: ['CHAT_COMPLETIONS'],
      baseUrl,
      enabled: true,
      reason: 'test',
    };
    return pick<string>(await admin.send(PROVIDER, { input }), 'adminProviderUpsert', 'provider', 'id');
  }

  async function addCredential(): Promise<string> {
    const input = { providerId, label: 'main', secret: 'a-secret-of-an-upstream', reason: 'test' };
    const answer = await admin.send(CREDENTIAL, { input });
    return pick<string>(answer, 'adminCredentialAdd', 'provider', 'credentials', '0', 'id');
  }

  const nodeAt = (index: number): TestNode => {
    const node = nodes[index];
    if (!node) throw new Error(`There is no node ${index}.`);
    return node;
  };

  function beat(index: number, reports: object = {}): Promise<Answer> {
    const { id, token, journalId } = nodeAt(index);
    const figures = { appliedRevision: 1, rps: '1.0', inflight: 0, eventLoopP99Ms: 1, usageBacklog: 0 };
    const input = { nodeId: id, journalId, ...figures, ...reports };
    return test.browser().send(BEAT, { input }, { authorization: `Bearer ${token}` });
  }

  const report = (more: object = {}, id = providerId) => ({
    providerId: id,
    circuit: 'CLOSED',
    ...{ requests: 100, busy: 0, timeouts: 0, refused: 0, failed: 0, p50Ms: 100, p95Ms: 400 },
    ...more,
  });

  async function read(id = providerId, who = admin): Promise<Provider> {
    const providers = pick<Provider[]>(await who.send(HEALTH), 'admin', 'providers');
    const found = providers.find((provider) => provider.id === id);
    if (!found) throw new Error(`There is no provider ${id}.`);
    return found;
  }

  it('is UNKNOWN without a report, also if the node of an earlier release sends none', async () => {
    expect(codesOf(await beat(0), 'nodeHeartbeat')).toEqual([]);
    expect((await read()).health).toEqual({
      status: 'UNKNOWN',
      circuit: 'CLOSED',
      requests5m: 0,
      ...{ errorRate5m: null, p95LatencyMs: null, asOf: null, nodes: [] },
      ...{ inputTokens5m: '0', cachedTokens5m: '0', needsCredential: false },
      ...{ lastProbeAt: null, lastProbeStatus: null, lastProbeLatencyMs: null, lastProbeError: null },
    });
  });

  it('combines the worst circuit, the highest latency and all requests of the nodes', async () => {
    await beat(0, { upstreams: [report()] });
    expect((await read()).health).toMatchObject({ status: 'OK', circuit: 'CLOSED', errorRate5m: '0.0000' });
    await beat(1, { upstreams: [report({ circuit: 'OPEN', busy: 5, failed: 10, timeouts: 3, p95Ms: 900 })] });
    expect((await read()).health).toMatchObject({
      status: 'DEGRADED',
      circuit: 'OPEN',
      requests5m: 200,
      errorRate5m: '0.0900',
      p95LatencyMs: 900,
      asOf: expect.any(String),
      nodes: [
        { nodeName: 'north', circuit: 'CLOSED', requests: 100, failed: 0, p95LatencyMs: 400 },
        { nodeName: 'south', circuit: 'OPEN', requests: 100, failed: 10, p95LatencyMs: 900 },
      ],
    });
  });

  it('says that a credential is needed if requests are refused and none is enabled', async () => {
    await beat(0, { upstreams: [report({ circuit: 'OPEN', failed: 3 })] });
    expect((await read()).health).toMatchObject({ needsCredential: false });
    await beat(0, { upstreams: [report({ circuit: 'OPEN', refused: 5 })] });
    expect((await read()).health).toMatchObject({ circuit: 'OPEN', needsCredential: true });
    await addCredential();
    expect((await read()).health).toMatchObject({ needsCredential: false });
  });

  it('adds up the input tokens of the nodes, beyond 32 bits', async () => {
    const most = 2 ** 31 - 1;
    await beat(0, { upstreams: [report({ inputTokens: most, cachedTokens: 5 })] });
    await beat(1, { upstreams: [report({ inputTokens: 10, cachedTokens: 4 })] });
    expect((await read()).health).toMatchObject({
      inputTokens5m: String(most + 10),
      cachedTokens5m: '9',
      nodes: [{ cachedTokens: 5 }, { cachedTokens: 4 }],
    });
  });

  it.each([
    ['the circuit is open on every node', { circuit: 'OPEN' }, 'DOWN'],
    ['more than half of the requests fail', { failed: 51 }, 'DOWN'],
    ['half of the requests fail', { failed: 50 }, 'DEGRADED'],
    ['the circuit is half open', { circuit: 'HALF_OPEN' }, 'DEGRADED'],
    ['5 % of the requests fail', { failed: 5 }, 'OK'],
    ['there were no requests', { requests: 0, p50Ms: null, p95Ms: null }, 'OK'],
  ])('has the right status if %s', async (_case, more, status) => {
    await beat(0, { upstreams: [report(more)] });
    expect((await read()).health['status']).toBe(status);
  });

  it('is the latest report of a node, and UNKNOWN once the report is too old', async () => {
    await beat(0, { upstreams: [report({ circuit: 'OPEN' })] });
    await beat(0, { upstreams: [report()] });
    expect((await read()).health).toMatchObject({ circuit: 'CLOSED', requests5m: 100 });
    await query(
      test.orm.em.fork(),
      sql`update upstream_health set at = at - interval '21 seconds' where provider_id = ${providerId}`,
    );
    expect((await read()).health).toMatchObject({ status: 'UNKNOWN', nodes: [], requests5m: 0 });
  });

  it('accepts a heartbeat with deleted, duplicate or too many upstreams', async () => {
    const deleted = await addProvider();
    await beat(0, { upstreams: [report({}, deleted)] });
    await admin.send(DELETE, { input: { id: deleted, reason: 'test' } });
    const many = Array.from({ length: UPSTREAMS_MAX }, (_, at) => report({}, `prv_${at}`));
    const upstreams = [report({}, deleted), report(), report({ failed: 7 }), ...many];
    const credentials = Array.from({ length: CREDENTIALS_MAX + 1 }, (_, at) => ({
      credentialId: `crd_${at}`,
      usedMsAgo: 0,
    }));
    expect(codesOf(await beat(0, { upstreams, credentials }), 'nodeHeartbeat')).toEqual([]);
    expect((await read()).health).toMatchObject({ requests5m: 100, errorRate5m: '0.0700' });
  });

  it('shows the last use and the last failure of a credential over all nodes', async () => {
    const credentialId = await addCredential();
    expect((await read()).credentials[0]).toEqual({
      id: credentialId,
      ...{ lastUsedAt: null, lastError: null, lastErrorAt: null },
      ...{ suspendedUntil: null, quotaSpentUntil: null },
    });
    const reportCredential = (index: number, more: object) =>
      beat(index, { credentials: [{ credentialId, usedMsAgo: 0, ...more }] });
    await reportCredential(0, { lastError: 'REFUSED', lastErrorMsAgo: 1_000 });
    const first = (await read()).credentials[0];
    expect(first).toMatchObject({ lastError: 'REFUSED', lastUsedAt: expect.any(String) });
    await reportCredential(1, { usedMsAgo: 60_000, lastError: 'BUSY', lastErrorMsAgo: 60_000 });
    expect((await read()).credentials[0]).toEqual(first);
    await reportCredential(1, {});
    expect((await read()).credentials[0]).toMatchObject({
      lastError: 'REFUSED',
      lastErrorAt: first?.['lastErrorAt'],
    });
    await reportCredential(1, { lastError: 'TIMEOUT', lastErrorMsAgo: 0 });
    expect((await read()).credentials[0]).toMatchObject({ lastError: 'TIMEOUT' });
  });

  it('shows until when a node suspends a credential that another node uses', async () => {
    const credentialId = await addCredential();
    const reportCredential = (index: number, more: object) =>
      beat(index, { credentials: [{ credentialId, usedMsAgo: 0, ...more }] });
    await reportCredential(0, { suspendedMs: 60_000, spentMs: 90_000 });
    await reportCredential(1, { suspendedMs: null, spentMs: 30_000 });
    const [credential] = (await read()).credentials;
    const leftMs = (name: string) => Date.parse(String(credential?.[name])) - Date.now();
    expect(credential).toMatchObject({ suspendedUntil: expect.any(String) });
    expect(leftMs('quotaSpentUntil')).toBeGreaterThan(leftMs('suspendedUntil'));
    await query(
      test.orm.em.fork(),
      sql`update credential_use set suspended_until = clock_timestamp()
        where credential_id = ${credentialId}`,
    );
    expect((await read()).credentials[0]).toMatchObject({ suspendedUntil: null });
  });

  it('shows until when a node ejects a route, and ignores deleted routes', async () => {
    const modelId = pick<string>(
      await admin.send('{ catalogModel(name: "swift") { id } }'),
      'catalogModel',
      'id',
    );
    const input = {
      ...{ modelId, providerId, upstreamModel: 'm-1', families: ['CHAT_COMPLETIONS'] },
      ...{ priority: 1, weight: 1, enabled: true, reason: 'test' },
    };
    const route = pick<Record<string, string>>(
      await admin.send(ROUTE, { input }),
      'adminRouteUpsert',
      'route',
    );
    expect(route.openUntil).toBeNull();
    const routes = [
      { routeId: 'rte_gone', openMs: 5_000 },
      { routeId: route.id, openMs: 30_000 },
    ];
    expect(codesOf(await beat(0, { routes }), 'nodeHeartbeat')).toEqual([]);
    const providers = pick<{ id: string; routes: object[] }[]>(
      await admin.send(ROUTES),
      'admin',
      'providers',
    );
    expect(providers.find(({ id }) => id === providerId)?.routes).toEqual([
      { openUntil: expect.any(String) },
    ]);
  });

  it('shows by how much the clock of a node differs from that of an upstream that refuses it', async () => {
    await beat(0, { upstreams: [report({ refused: 100, clockAheadMs: -300_000 })] });
    expect((await read()).health.nodes).toMatchObject([{ nodeName: 'north', clockAheadMs: -300_000 }]);
    await beat(0, { upstreams: [report()] });
    expect((await read()).health.nodes).toMatchObject([{ clockAheadMs: null }]);
  });

  it.each([
    [200, null],
    [401, 'REFUSED'],
    [429, 'BUSY'],
    [504, 'TIMEOUT'],
    [500, 'FAILED'],
  ])('stores status %i of the last probe with the fault %s, but not its text', async (status, fault) => {
    const upstream = createServer((_request, response) => {
      response.writeHead(status).end('a sentence of the upstream');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const id = await addProvider(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`);
    await admin.send(PROBE, { input: { providerId: id, upstreamModel: 'm' } });
    upstream.close();
    expect((await read(id)).health).toMatchObject({
      lastProbeAt: expect.any(String),
      lastProbeStatus: status,
      lastProbeLatencyMs: expect.any(Number),
      lastProbeError: fault,
    });
    const stored = await query(
      test.orm.em.fork(),
      sql`select * from upstream_probe where provider_id = ${id}`,
    );
    expect(JSON.stringify(stored)).not.toContain('sentence');
  });

  it('stores FAILED for a probe without an answer, and replaces it with the next probe', async () => {
    for (let at = 0; at < 2; at += 1) await admin.send(PROBE, { input: { providerId, upstreamModel: 'm' } });
    expect((await read()).health).toMatchObject({ lastProbeStatus: null, lastProbeError: 'FAILED' });
  });

  it('is visible to administrators only, like the credit that a node holds', async () => {
    const em = test.orm.em.fork();
    const wallet = await queryOne<{ id: string }>(em, sql`select id from wallet order by id limit 1`);
    const walletId = wallet?.id ?? '';
    const entry = {
      kind: 'GIFT_ADMIN',
      reference: 'test:health',
      description: 'test',
      actor: SYSTEM_ACTOR,
    } as const;
    await creditGift(em, { walletId, amount: 5_000_000n, ...entry });
    const { id: nodeId, journalId } = nodeAt(0);
    await requestLease(em, {
      ...{ nodeId, journalId, requestNo: 1, walletId, keyId: null },
      ...{ want: 1_000_000n, need: 1n, waiting: 0n },
    });
    const source = '{ admin { dataPlaneNodes { name leases held } } }';
    const [north, south] = pick<Record<string, unknown>[]>(
      await admin.send(source),
      'admin',
      'dataPlaneNodes',
    );
    const row = await queryOne<{ held: string }>(
      em,
      sql`select (granted_cash + granted_gift)::text as held from wallet_lease where node_id = ${nodeId}`,
    );
    expect(north).toMatchObject({ leases: 1 });
    expect(Number(north?.['held']) * 1e6).toBe(Number(row?.held));
    expect(south).toMatchObject({ leases: 0 });
    expect(Number(south?.['held'])).toBe(0);
    const curious = await test.user('curious@example.com');
    expect((await curious.send(HEALTH)).data).toEqual({ admin: null });
  });
});
