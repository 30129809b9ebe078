/** The attempts that a usage record lists for the receipt, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import type { AttemptRecord, UsageRecord } from '@gateway/shared/records';
import { usageText } from '@gateway/shared/usage-report';
import { makeRoute, startNode, until } from '../../test/request-path.ts';
import type { RouteChanges, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';

const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const STREAMED = { ...QUESTION, stream: true };
const SECRET_WORDS = 'bad key org-x';
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const WORDS = [event({ role: 'assistant', content: 'Hel' }), event({ content: 'lo' })];
const SSE = { 'content-type': 'text/event-stream' };

let upstreams: [FakeUpstream, FakeUpstream];
let node: TestNode;
let now = 0;

beforeEach(async () => {
  const answering = (): Play => ({ chunks: [ANSWER] });
  upstreams = [await startUpstream(answering), await startUpstream(answering)];
  now = performance.now();
  node = await startNode({ now: () => now });
});

afterEach(async () => {
  await node.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

/** Two routes, tried in this order. */
function useTwoRoutes(first: RouteChanges = {}): void {
  const [one, other] = upstreams;
  node.store.routes = [
    makeRoute(one.origin, { ...first, route: { id: 'route-1', priority: 1 } }),
    makeRoute(other.origin, { route: { id: 'route-2', priority: 2 } }),
  ];
}

function useOneRoute(): void {
  node.store.routes = [makeRoute(upstreams[0].origin)];
}

const failing = (play: Play): void => void (upstreams[0].play = () => play);
const attemptsOf = ({ tried }: UsageRecord): (string | number | null)[][] =>
  (tried?.attempts ?? []).map(({ routeId, outcome, errorCode, httpStatus }: AttemptRecord) => [
    routeId,
    outcome,
    errorCode,
    httpStatus,
  ]);
/** Of twelve upstreams only the last one accepts requests. */
const concurrencyLimitOf = (id: string): number | null => (id === 'route-11' ? null : 0);
const ANSWERED_BY_OTHER = ['route-2', 'ANSWERED', null, null];

describe('a request that the first upstream answers', () => {
  it('lists no attempts, neither in its record nor in its report', async () => {
    useTwoRoutes();
    await node.call({ body: QUESTION });
    const [charge] = node.ledger.charges;
    expect(charge).toMatchObject({ routeId: 'route-1', outcome: 'DELIVERED' });
    expect(charge?.tried).toBeUndefined();
    expect(charge && usageText(charge)).not.toContain('attempts');
  });
});

describe('a request that another upstream answers', () => {
  const cases: [string, Play, RouteChanges, (string | number | null)[]][] = [
    ['answers 500', { status: 500, chunks: ['{}'] }, {}, ['FAILED', 'upstream_failed', 500]],
    ['is busy', { status: 429, chunks: ['{}'] }, {}, ['FAILED', 'upstream_busy', 429]],
    [
      'refuses the credential',
      { status: 401, chunks: [`{"error":{"message":"${SECRET_WORDS}"}}`] },
      {},
      ['FAILED', 'upstream_failed', 401],
    ],
    ['answers garbage', { chunks: ['<html>'] }, {}, ['FAILED', 'upstream_failed', 200]],
    ['refuses the connection', { refuse: true }, {}, ['FAILED', 'upstream_failed', null]],
    [
      'has no credential for its address',
      {},
      { credentials: [{ id: 'c', origin: 'https://api.example.com', secret: 's' }] },
      ['SKIPPED', 'upstream_failed', null],
    ],
    [
      'has reached its limit of concurrent requests',
      {},
      { provider: { concurrencyLimit: 0 } },
      ['SKIPPED', 'too_many_concurrent', null],
    ],
  ];
  it.each(cases)('lists the first upstream, which %s', async (_name, play, changes, first) => {
    useTwoRoutes(changes);
    failing(play);
    expect((await node.call({ body: QUESTION })).status).toBe(200);
    const [charge] = node.ledger.charges;
    expect(charge?.routeId).toBe('route-2');
    expect(charge && attemptsOf(charge)).toEqual([['route-1', ...first], ANSWERED_BY_OTHER]);
    expect(charge && usageText(charge)).not.toContain(SECRET_WORDS);
  });

  it('lists the first upstream as skipped while its throttled credential is suspended', async () => {
    useTwoRoutes();
    failing({ status: 429, headers: { 'retry-after': '60' }, chunks: ['{}'] });
    await node.call({ body: QUESTION });
    await node.call({ body: QUESTION });
    const [, later] = node.ledger.charges;
    expect(later && attemptsOf(later)).toEqual([
      ['route-1', 'SKIPPED', 'upstream_busy', null],
      ANSWERED_BY_OTHER,
    ]);
    expect(upstreams[0].seen).toHaveLength(1);
  });

  it('lists the first upstream as skipped while it is ejected, until its probe succeeds', async () => {
    useTwoRoutes();
    failing({ status: 500, chunks: ['{}'] });
    for (let count = 0; count < 6; count += 1) await node.call({ body: QUESTION });
    const last = node.ledger.charges.at(-1);
    expect(last && attemptsOf(last)).toEqual([
      ['route-1', 'SKIPPED', 'unavailable', null],
      ANSWERED_BY_OTHER,
    ]);
    expect(upstreams[0].seen).toHaveLength(5);
    now += 60_000;
    failing({ chunks: [ANSWER] });
    await node.call({ body: QUESTION });
    expect(node.ledger.charges.at(-1)?.tried).toBeUndefined();
  });

  it('lists the duration of each attempt in ms', async () => {
    useTwoRoutes();
    upstreams[0].play = () => {
      now += 1_234;
      return { status: 500, chunks: ['{}'] };
    };
    await node.call({ body: QUESTION });
    expect(node.ledger.charges[0]?.tried?.attempts[0]?.ms).toBe(1_234);
  });

  it('reports the list together with the charge', async () => {
    useTwoRoutes();
    failing({ status: 500, chunks: ['{}'] });
    await node.call({ body: QUESTION });
    const [charge] = node.ledger.charges;
    if (!charge) throw new Error('nothing was charged');
    const wire: unknown = JSON.parse(usageText(charge));
    expect(wire).toMatchObject({
      attempts: [
        { routeId: 'route-1', outcome: 'FAILED', errorCode: 'upstream_failed', httpStatus: 500 },
        { routeId: 'route-2', outcome: 'ANSWERED', errorCode: null, httpStatus: null },
      ],
      attemptsOmitted: 0,
    });
  });
});

describe('a request that no upstream answers', () => {
  it('lists every upstream that was asked', async () => {
    useTwoRoutes();
    failing({ status: 500, chunks: ['{}'] });
    upstreams[1].play = () => ({ status: 529, chunks: ['{}'] });
    await node.call({ body: QUESTION });
    const [free] = node.ledger.free;
    expect(free && attemptsOf(free)).toEqual([
      ['route-1', 'FAILED', 'upstream_failed', 500],
      ['route-2', 'FAILED', 'upstream_busy', 529],
    ]);
  });

  it('lists an upstream that refused the request itself, with its status', async () => {
    useTwoRoutes();
    failing({ status: 400, chunks: ['{"error":{"message":"bad temperature"}}'] });
    expect((await node.call({ body: QUESTION })).status).toBe(400);
    const [free] = node.ledger.free;
    expect(free && attemptsOf(free)).toEqual([['route-1', 'FAILED', 'invalid_request', 400]]);
  });

  it('lists the only upstream twice after a broken connection and a retry', async () => {
    useOneRoute();
    failing({ refuse: true });
    await node.call({ body: QUESTION });
    const [free] = node.ledger.free;
    const failed = ['route-1', 'FAILED', 'upstream_failed', null];
    expect(free && attemptsOf(free)).toEqual([failed, failed]);
  });

  it('lists the first seven attempts and the last one, and counts the others', async () => {
    const routes = Array.from({ length: 12 }, (_, at) => ({ id: `route-${at}`, priority: at }));
    node.store.routes = routes.map((route) =>
      makeRoute(upstreams[0].origin, { route, provider: { concurrencyLimit: concurrencyLimitOf(route.id) } }),
    );
    await node.call({ body: QUESTION });
    const [charge] = node.ledger.charges;
    expect(charge?.routeId).toBe('route-11');
    expect(charge?.tried?.omitted).toBe(4);
    expect(charge?.tried?.attempts.map(({ routeId }) => routeId)).toEqual([
      ...routes.slice(0, 7).map(({ id }) => id),
      'route-11',
    ]);
  });

  it('lists nothing if it was refused before any upstream was asked', async () => {
    useOneRoute();
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Top up.');
    await node.call({ body: QUESTION });
    const [free] = node.ledger.free;
    expect(free?.routeId).toBeNull();
    expect(free?.tried).toBeUndefined();
  });
});

describe('a request whose client leaves', () => {
  it('lists the attempt in progress as cut, and tries no other upstream', async () => {
    useTwoRoutes();
    failing({ hang: 'before-headers' });
    await node.call({ body: QUESTION, leaveAfter: until(() => upstreams[0].seen.length > 0) });
    await until(() => node.ledger.free.length > 0);
    const [free] = node.ledger.free;
    expect(free && attemptsOf(free)).toEqual([['route-1', 'CUT', 'client_closed', null]]);
    expect(upstreams[1].seen).toEqual([]);
  });

  it('lists the second upstream as cut if its answer was being relayed', async () => {
    useTwoRoutes();
    failing({ status: 500, chunks: ['{}'] });
    upstreams[1].play = () => ({ headers: SSE, chunks: WORDS, hang: 'after-chunks' });
    await node.call({ body: STREAMED, leaveWhen: (text) => text.includes('lo') });
    await until(() => node.ledger.charges.length > 0);
    const [charge] = node.ledger.charges;
    expect(charge?.outcome).toBe('CLIENT_LEFT');
    expect(charge && attemptsOf(charge)).toEqual([
      ['route-1', 'FAILED', 'upstream_failed', 500],
      ['route-2', 'CUT', null, null],
    ]);
  });
});

describe('a request whose answer breaks off', () => {
  it('lists the failed first upstream and the second one as broken off', async () => {
    useTwoRoutes();
    failing({ status: 500, chunks: ['{}'] });
    upstreams[1].play = () => ({ headers: SSE, chunks: WORDS });
    await node.call({ body: STREAMED });
    const [free] = node.ledger.free;
    expect(free && attemptsOf(free)).toEqual([
      ['route-1', 'FAILED', 'upstream_failed', 500],
      ['route-2', 'BROKE_OFF', 'upstream_failed', null],
    ]);
  });
});
