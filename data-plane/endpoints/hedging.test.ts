/** Second requests over real sockets: asked when the first upstream is slow, charged once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LONG_TIMEOUTS, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';
import { UpstreamStates } from '../upstreams/states.ts';

const head = { id: 'c1', object: 'chat.completion.chunk', model: 'm' };
const event = (choice: object): string =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })}\n\n`;
const ANSWER = [
  event({ delta: { content: 'Hi' } }),
  event({ delta: {}, finish_reason: 'stop' }),
  'data: [DONE]\n\n',
].join('');
const FAST: Play = { headers: { 'content-type': 'text/event-stream' }, chunks: [ANSWER] };
const HANGING: Play = { hang: 'before-headers' };
/** Answers that a node must know before it asks a second upstream. */
const WARM = 24;

let upstreams: [FakeUpstream, FakeUpstream];
let node: TestNode;
let states: UpstreamStates;
/** The node's clock, in ms. It stands still during `warmUp`. */
let now: () => number;

beforeAll(async () => {
  upstreams = await Promise.all([startUpstream(() => FAST), startUpstream(() => FAST)]);
});
afterAll(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});
beforeEach(async () => {
  now = () => performance.now();
  const clock = (): number => now();
  states = new UpstreamStates({ now: clock, random: Math.random });
  node = await startNode({ now: clock, upstreamStates: states });
  for (const upstream of upstreams) {
    upstream.play = () => FAST;
    upstream.seen = [];
  }
});
afterEach(async () => {
  await node.close();
});

function useModel(isHedged: boolean): void {
  node.store.routes = upstreams.map(({ origin }, index) => ({
    ...makeRoute(origin, {
      route: { id: `route ${index}`, priority: index, cost: String(100 + index) },
      provider: { timeouts: LONG_TIMEOUTS },
    }),
    isHedged,
  }));
}

const ask = (leaveAfter?: Promise<void>): Promise<CallResult> =>
  node.call({
    body: { model: 'swift', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
    ...(leaveAfter && { leaveAfter }),
  });

/**
 * Makes known answers that took no time. On a busy machine they take longer, and a second upstream would then
 * be asked later.
 */
async function warmUp(): Promise<void> {
  const startedAt = now();
  now = () => startedAt;
  for (let count = 0; count < WARM; count += 1) expect((await ask()).status).toBe(200);
  now = () => performance.now();
  node.ledger.charges = [];
  for (const upstream of upstreams) upstream.seen = [];
}

const asked = (): number[] => upstreams.map(({ seen }) => seen.length);
const bothAsked = (): Promise<void> => until(() => asked().every((requests) => requests > 0));

/** An answer whose first content comes once the promise resolves. */
function slow(waitFor: Promise<unknown>): Play {
  const { chunks = [], headers = {} } = FAST;
  return { headers, chunks: [': wait\n\n', ...chunks], waitFor };
}

/** A refusal that ends once both upstreams were asked. */
const refusing = (status: number): Play => ({ status, chunks: ['', '{}'], waitFor: bothAsked() });

describe('a slow answer of a hedged model', () => {
  it('is replaced by the answer of a second upstream, charged once, and listed as an attempt', async () => {
    useModel(true);
    await warmUp();
    const [first] = upstreams;
    first.play = () => HANGING;
    const answer = await ask();
    expect([answer.status, answer.broken]).toEqual([200, false]);
    expect(answer.text).toContain('Hi');
    expect(asked()).toEqual([1, 1]);
    expect(node.ledger.charges).toHaveLength(1);
    expect(node.ledger.charges[0]).toMatchObject({
      routeId: 'route 1',
      tried: {
        attempts: [
          { routeId: 'route 0', outcome: 'CUT', errorCode: 'lost_race', cost: '100' },
          { outcome: 'ANSWERED', errorCode: null },
        ],
      },
    });
    await expect.poll(() => first.openSockets()).toBe(0);
    expect(node.ledger.open).toBe(0);
  });

  it('is delivered if it arrives before the second answer', async () => {
    useModel(true);
    await warmUp();
    const [first, second] = upstreams;
    // The pause makes the second attempt longer than the time between its end and the charge.
    first.play = () => ({ ...slow(bothAsked()), gapMs: 300 });
    second.play = () => HANGING;
    const { status, text } = await ask();
    expect([status, text.includes('Hi')]).toEqual([200, true]);
    expect(asked()).toEqual([1, 1]);
    expect(node.ledger.charges).toHaveLength(1);
    expect(node.ledger.charges[0]).toMatchObject({
      routeId: 'route 0',
      tried: { attempts: [{ routeId: 'route 1', errorCode: 'lost_race', cost: '101' }, {}] },
    });
    // The time of the winner includes its wait before the second request.
    const [lost, won] = node.ledger.charges[0]?.tried?.attempts ?? [];
    expect(won?.ms).toBeGreaterThan(lost?.ms ?? Infinity);
    await expect.poll(() => second.openSockets()).toBe(0);
  });

  it('costs nothing and leaves no request open if the client disconnects during both attempts', async () => {
    useModel(true);
    await warmUp();
    for (const upstream of upstreams) upstream.play = () => HANGING;
    await ask(bothAsked());
    expect(asked()).toEqual([1, 1]);
    await expect.poll(() => upstreams.map((upstream) => upstream.openSockets())).toEqual([0, 0]);
    await expect.poll(() => node.ledger.open).toBe(0);
    expect(node.ledger.charges).toEqual([]);
    // No upstream lost to another one: the client's departure cut both attempts.
    await expect.poll(() => node.ledger.free).toHaveLength(1);
    expect(
      node.ledger.free[0]?.tried?.attempts.map(({ outcome, errorCode }) => [outcome, errorCode]),
    ).toEqual([
      ['CUT', 'client_closed'],
      ['CUT', 'client_closed'],
    ]);
  });

  it('lists no lost attempt if the first upstream refuses before the second one answers', async () => {
    useModel(true);
    await warmUp();
    const [first, second] = upstreams;
    const provider = node.store.routes[0]?.provider;
    if (!provider) throw new Error('The model has no route.');
    first.play = () => refusing(500);
    second.play = () => slow(until(() => states.inFlight(provider) === 0));
    expect((await ask()).status).toBe(200);
    expect(asked()).toEqual([1, 1]);
    const [charge] = node.ledger.charges;
    expect(charge?.tried?.attempts.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
      ['FAILED', 'upstream_failed'],
      ['ANSWERED', null],
    ]);
  });

  it('lists no lost attempt if the first upstream refuses the request during the second one', async () => {
    useModel(true);
    await warmUp();
    const [first, second] = upstreams;
    first.play = () => refusing(400);
    second.play = () => HANGING;
    expect((await ask()).status).toBe(400);
    expect(asked()).toEqual([1, 1]);
    await expect.poll(() => node.ledger.free).toHaveLength(1);
    expect(node.ledger.charges).toEqual([]);
    const attempts = node.ledger.free[0]?.tried?.attempts ?? [];
    expect(attempts.map(({ routeId, outcome, errorCode }) => [routeId, outcome, errorCode])).toEqual([
      ['route 0', 'FAILED', 'invalid_request'],
      ['route 1', 'CUT', 'invalid_request'],
    ]);
    expect(attempts.some((attempt) => 'cost' in attempt)).toBe(false);
    await expect.poll(() => second.openSockets()).toBe(0);
  });

  it('is repeated at a second upstream for at most a twentieth of the requests', async () => {
    useModel(true);
    await warmUp();
    const [first] = upstreams;
    // One at the start, and one for every twenty requests.
    const allowed = 1 + Math.floor((WARM + 20) / 20);
    const allBegun = until(() => upstreams[0].seen.length === 20 && upstreams[1].seen.length >= allowed);
    first.play = () => slow(allBegun);
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(asked()).toEqual([20, allowed]);
    expect(node.ledger.charges).toHaveLength(20);
    expect(node.ledger.charges.filter(({ tried }) => tried)).toHaveLength(allowed);
  });
});

describe('a slow answer of another model', () => {
  it('has no second attempt', async () => {
    useModel(false);
    await warmUp();
    // A hedged model asks its second upstream after 200 ms. That timer starts before this pause.
    upstreams[0].play = () => ({ ...slow(Promise.resolve()), gapMs: 500 });
    expect((await ask()).status).toBe(200);
    expect(asked()).toEqual([1, 0]);
  });
});
