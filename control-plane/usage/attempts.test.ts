/**
 * Tests of the attempts of a request: from a node's report to the receipt, and which fields callers may see.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, LOST_RACE, withAttempt } from '@gateway/shared/attempts';
import type { AttemptRecord, AttemptList, UsageRecord } from '@gateway/shared/records';
import { reportBody, usageText } from '@gateway/shared/usage-report';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { addNode } from '../../test/money-fixture.ts';
import { createToken } from '../accounts/token.service.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { newId } from '../database/ids.ts';
import { queryOne, sql } from '../database/sql.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { creditCash } from '../wallet/movements.ts';
import { allTried, storableTried } from './attempt.rules.ts';

const RECEIPT = `query ($id: String!) { requestReceipt(requestId: $id) { explanation attemptsOmitted
  attempts { outcome errorCode ms httpStatus routeId route { id provider { name } } } entry { outcome } } }`;
const NODE_TOKEN = 'gnt_test';
const PRICE = 100_000n;

const attempt = (more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  routeId: 'rte_gone',
  outcome: 'FAILED',
  errorCode: 'upstream_failed',
  httpStatus: 500,
  ms: 12,
  ...more,
});
const ANSWERED = attempt({ outcome: 'ANSWERED', errorCode: null, httpStatus: null, ms: 250 });

interface Shown {
  explanation: string;
  attemptsOmitted: number;
  attempts: Record<string, unknown>[];
}

describe('the attempts in a receipt', () => {
  let test: TestApp;
  let owner: Browser;
  let admin: Browser;
  let walletId: string;
  let routeId: string;
  let position: { journalId: string; leaseId: string };
  let seq = 0;
  const nodeId = newId('nod');

  beforeAll(async () => {
    test = await startTestApp({ findNode: async () => ({ id: nodeId, name: 'one' }) });
    owner = await test.user('owner@example.com');
    admin = await test.admin();
    const ownerId = pick<string>(await owner.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    walletId =
      (await queryOne<{ id: string }>(em(), sql`select id from wallet where user_id = ${ownerId}`))?.id ?? '';
    const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', kind: 'ADJUSTMENT' as const };
    await creditCash(em(), { ...movement, amount: 10_000_000n, reference: 'cash' });
    const journalId = 'jnl_1';
    await addNode(em(), { nodeId, journalId });
    const request = { nodeId, journalId, walletId, keyId: null, requestNo: 1, need: 1n, waiting: 0n };
    position = { journalId, leaseId: (await requestLease(em(), { ...request, want: 9_000_000n })).id };
    routeId = await makeRoute();
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function makeRoute(): Promise<string> {
    const model = pick<string>(
      await admin.send('{ catalogModel(name: "swift") { id } }'),
      'catalogModel',
      'id',
    );
    const provider = await admin.send(
      `mutation { adminProviderUpsert(input: { name: "east", protocols: [CHAT_COMPLETIONS], enabled: true,
        baseUrl: "http://127.0.0.1:9/v1", reason: "test" }) { provider { id } userErrors { message } } }`,
    );
    const route = await admin.send(
      `mutation ($modelId: ID!, $providerId: ID!) { adminRouteUpsert(input: { modelId: $modelId,
        providerId: $providerId, upstreamModel: "m", families: [CHAT_COMPLETIONS], priority: 1, weight: 1,
        enabled: true, reason: "test" }) { route { id } userErrors { message } } }`,
      { modelId: model, providerId: pick<string>(provider, 'adminProviderUpsert', 'provider', 'id') },
    );
    return pick<string>(route, 'adminRouteUpsert', 'route', 'id');
  }

  /** Reports a request with the same bytes as a node, and returns the request id. */
  async function report(more: Partial<UsageRecord>): Promise<string> {
    const requestId = `req_${(seq += 1)}`;
    const cost = more.cost ?? String(PRICE);
    const usage = {
      ...{ requestId, at: Date.now(), keyId: 'key_1', walletId, poolId: null, group: 'default' },
      ...{ source: 'API_KEY', model: 'swift', family: 'chat_completions', routeId, basePrice: String(PRICE) },
      ...{ ratio: '1', tokens: { input: 1, output: 1, cached: null, reasoning: null }, status: 'SUCCEEDED' },
      ...{ outcome: 'DELIVERED', httpStatus: 200, errorCode: null, streamed: false, latencyMs: 300 },
      ...{ firstContentMs: 4, ip: null, lossesInAnswer: 0, ...more, cost },
    } as UsageRecord;
    const record = usageText(usage, cost === '0' ? undefined : { ...position, seq });
    const response = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${NODE_TOKEN}` },
      body: reportBody({ nodeId, batchId: `batch_${seq}`, pieces: [record] }).join(''),
    });
    expect(await response.json()).toMatchObject({
      data: { nodeUsageReport: { accepted: 1, userErrors: [] } },
    });
    return requestId;
  }

  const receipt = async (browser: Browser, id: string, headers = {}): Promise<Shown> =>
    pick<Shown>(await browser.send(RECEIPT, { id }, headers), 'requestReceipt');

  const failover = (): Promise<string> => {
    const attempts = [attempt({ httpStatus: 401 }), { ...ANSWERED, routeId }];
    return report({ tried: { attempts, omitted: 0 } });
  };

  it('come with the number of other refusals that an entry stands for, 0 if none was reported', async () => {
    const refused = { outcome: 'REFUSED', status: 'FAILED', errorCode: 'insufficient_funds' } as const;
    const free = { ...refused, cost: '0', httpStatus: 402, routeId: null };
    const shown = async (id: string): Promise<unknown> =>
      owner.send('query ($id: String!) { requestReceipt(requestId: $id) { entry { repeats } } }', { id });
    const entry = (repeats: number) => ({ data: { requestReceipt: { entry: { repeats } } } });
    expect(await shown(await report({ ...free, repeats: 99 }))).toMatchObject(entry(99));
    expect(await shown(await report(free))).toMatchObject(entry(0));
  });

  it('show administrators routes, providers and statuses, in order', async () => {
    const shown = await receipt(admin, await failover());
    expect(shown.attempts).toEqual([
      {
        ...{ outcome: 'FAILED', errorCode: 'upstream_failed', ms: 12, httpStatus: 401 },
        ...{ routeId: 'rte_gone', route: null },
      },
      {
        ...{ outcome: 'ANSWERED', errorCode: null, ms: 250, httpStatus: null },
        ...{ routeId, route: { id: routeId, provider: { name: 'east' } } },
      },
    ]);
    expect(shown.attemptsOmitted).toBe(0);
  });

  it('show the owner only outcome, error code and duration', async () => {
    const id = await failover();
    const shown = await owner.send(
      'query ($id: String!) { requestReceipt(requestId: $id) { attempts { ' +
        'outcome errorCode ms httpStatus routeId } } }',
      { id },
    );
    const hidden = { httpStatus: null, routeId: null };
    expect(pick(shown, 'requestReceipt', 'attempts')).toEqual([
      { outcome: 'FAILED', errorCode: 'upstream_failed', ms: 12, ...hidden },
      { outcome: 'ANSWERED', errorCode: null, ms: 250, ...hidden },
    ]);
    expect((await (await test.user('other@example.com')).send(RECEIPT, { id })).data).toEqual({
      requestReceipt: null,
    });
  });

  it.each<[string, readonly AccessScope[], boolean]>([
    ['users', ['USAGE_READ', 'ADMIN_USERS'], false],
    ['users and upstreams', ['USAGE_READ', 'ADMIN_USERS', 'ADMIN_UPSTREAMS'], true],
  ])('show an access token with scopes for %s what its scopes allow', async (name, scopes, sees) => {
    const id = await failover();
    const found = await em().findOneOrFail(UserSchema, { email: 'admin@example.com' });
    const { role, allowedGroups } = found;
    const viewer = { id: found.id, email: found.email, role, allowedGroups, session: null, token: null };
    const made = await createToken(em(), viewer, { name, scopes: [...scopes], expiresInDays: 1 });
    const answer = await test
      .browser()
      .send(
        'query ($id: String!) { requestReceipt(requestId: $id) { attempts { httpStatus routeId } } }',
        { id },
        { authorization: `Bearer ${made.secret}` },
      );
    const [first] = pick<object[]>(answer, 'requestReceipt', 'attempts');
    expect(first).toEqual(
      sees ? { httpStatus: 401, routeId: 'rte_gone' } : { httpStatus: null, routeId: null },
    );
  });

  it('are the one route of the entry if the node sent no list, as earlier releases do', async () => {
    const shown = await receipt(admin, await report({}));
    expect(shown.attempts).toMatchObject([{ outcome: 'ANSWERED', routeId, ms: 300, errorCode: null }]);
    const free = { cost: '0', status: 'FAILED' as const, errorCode: 'upstream_timeout' };
    const broken = await receipt(admin, await report({ ...free, outcome: 'UPSTREAM_FAILED' }));
    expect(broken.attempts).toMatchObject([{ outcome: 'BROKE_OFF', routeId, errorCode: 'upstream_timeout' }]);
  });

  it('are empty if the gateway refused the request, and the explanation says who refused it', async () => {
    const refused = {
      ...{ cost: '0', status: 'FAILED' as const, outcome: 'REFUSED' as const, routeId: null },
      ...{ errorCode: 'invalid_request', httpStatus: 400 },
    };
    const before = await receipt(owner, await report(refused));
    expect(before.attempts).toEqual([]);
    expect(before.explanation).toMatch(/before a provider was asked/);
    const attempts = [attempt({ errorCode: 'invalid_request', httpStatus: 400 })];
    const after = await receipt(admin, await report({ ...refused, tried: { attempts, omitted: 0 } }));
    expect(after.attempts).toHaveLength(1);
    expect(after.explanation).toMatch(/provider refused/);
  });

  it('never prevent a charge: invalid values are stored as far as possible', async () => {
    const odd = attempt({
      routeId: `rte\0_${'x'.repeat(500)}`,
      errorCode: '\ud800',
      httpStatus: 2_000_000,
      ms: -5,
    });
    const attempts = Array.from({ length: 30 }, (_, at) => (at === 29 ? { ...ANSWERED, routeId } : odd));
    const shown = await receipt(admin, await report({ tried: { attempts, omitted: 2 } }));
    expect(shown.attempts).toHaveLength(ATTEMPTS_MAX);
    expect(shown.attempts.at(-1)).toMatchObject({ outcome: 'ANSWERED', routeId });
    expect(shown.attempts[0]).toMatchObject({ httpStatus: 999, ms: 0 });
    expect(shown.attemptsOmitted).toBe(2 + 30 - ATTEMPTS_MAX);
  });

  it('are not stored if the entry itself describes the only attempt', async () => {
    const id = await report({});
    const row = await queryOne<{ attempts: unknown; omitted: unknown }>(
      em(),
      sql`select attempts, attempts_omitted as omitted from usage_entry where request_id = ${id}`,
    );
    expect(row).toEqual({ attempts: null, omitted: null });
  });
});

describe('the list of attempts', () => {
  const many = (count: number): AttemptList | undefined =>
    Array.from({ length: count }, (_, at) => attempt({ routeId: `rte_${at}` })).reduce<
      AttemptList | undefined
    >(withAttempt, undefined);

  it.each([1, ATTEMPTS_MAX, ATTEMPTS_MAX + 1, 20])('keeps the first and the last of %i attempts', (count) => {
    const { attempts = [], omitted } = many(count) ?? {};
    expect(attempts.length + (omitted ?? 0)).toBe(count);
    expect(attempts.length).toBeLessThanOrEqual(ATTEMPTS_MAX);
    expect(attempts[0]?.routeId).toBe('rte_0');
    expect(attempts.at(-1)?.routeId).toBe(`rte_${count - 1}`);
  });

  it('loses skipped upstreams first, so that it keeps each attempt that may cost money', () => {
    const skipped = Array.from({ length: 12 }, (_, at) =>
      attempt({ routeId: `skip_${at}`, outcome: 'SKIPPED' }),
    );
    const lost = attempt({ outcome: 'CUT', errorCode: LOST_RACE, cost: '5' });
    const list = [...skipped, lost, ANSWERED].reduce<AttemptList | undefined>(withAttempt, undefined);
    expect(list?.attempts).toEqual([...skipped.slice(0, ATTEMPTS_MAX - 2), lost, ANSWERED]);
    expect(list?.omitted).toBe(14 - ATTEMPTS_MAX);
  });

  it.each([
    ['12500', { cost: '12500' }],
    ['0', { cost: '0' }],
    ['-5', {}],
    ['99999999999', {}],
  ])('has the cost %s of a lost attempt only within bounds, and of no other attempt', (cost, stored) => {
    const costs = (errorCode: string) =>
      storableTried({ attempts: [attempt({ outcome: 'CUT', errorCode, cost })], omitted: 0 }).attempts.map(
        (one) => ('cost' in one ? { cost: one.cost } : {}),
      );
    expect([costs(LOST_RACE), costs('client_closed')]).toEqual([[stored], [{}]]);
  });

  it('is stored unchanged if it is within the limits', () => {
    const tried = many(20) ?? { attempts: [], omitted: 0 };
    expect(storableTried(tried)).toEqual(tried);
  });

  it.each([
    ['DELIVERED', null, 'ANSWERED', null],
    ['CLIENT_LEFT', null, 'CUT', null],
    ['KEY_CUT', null, 'CUT', null],
    ['NO_CONTENT', 'client_closed', 'CUT', 'client_closed'],
    ['UPSTREAM_FAILED', 'upstream_failed', 'BROKE_OFF', 'upstream_failed'],
    ['REFUSED', 'unavailable', 'ANSWERED', null],
  ] as const)(
    'has one attempt for outcome %s (%s) without a list: %s',
    (outcome, code, became, errorCode) => {
      const entry = { routeId: 'rte_1', outcome, errorCode: code, latencyMs: null };
      expect(allTried(null, entry).attempts).toMatchObject([{ outcome: became, errorCode, ms: 0 }]);
    },
  );
});
