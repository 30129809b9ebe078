/** Second requests over real sockets: asked when the first upstream is slow, charged once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';

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

let upstreams: FakeUpstream[];
let node: TestNode;

beforeAll(async () => {
  upstreams = await Promise.all([startUpstream(() => FAST), startUpstream(() => FAST)]);
});
afterAll(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});
beforeEach(async () => {
  node = await startNode();
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
    ...makeRoute(origin, { route: { id: `route ${index}`, priority: index, cost: String(100 + index) } }),
    isHedged,
  }));
}

const ask = (leaveAfter?: Promise<void>): Promise<CallResult> =>
  node.call({
    body: { model: 'swift', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
    ...(leaveAfter && { leaveAfter }),
  });

async function warmUp(): Promise<void> {
  for (let count = 0; count < WARM; count += 1) expect((await ask()).status).toBe(200);
  node.ledger.charges = [];
  for (const upstream of upstreams) upstream.seen = [];
}

const asked = (): number[] => upstreams.map(({ seen }) => seen.length);

describe('a slow answer of a hedged model', () => {
  it('is replaced by the answer of a second upstream, charged once, and listed as an attempt', async () => {
    useModel(true);
    await warmUp();
    const [first] = upstreams;
    if (first) first.play = () => HANGING;
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
    await vi.waitFor(() => expect(first?.openSockets()).toBe(0));
    expect(node.ledger.open).toBe(0);
  });

  it('is delivered if it arrives before the second answer', async () => {
    useModel(true);
    await warmUp();
    const [first, second] = upstreams;
    if (!first || !second) return;
    const { chunks = [], headers = {} } = FAST;
    first.play = () => ({ headers, chunks: [': wait\n\n', ...chunks], gapMs: 500 });
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
    await vi.waitFor(() => expect(second.openSockets()).toBe(0));
  });

  it('costs nothing and leaves no request open if the client disconnects during both attempts', async () => {
    useModel(true);
    await warmUp();
    for (const upstream of upstreams) upstream.play = () => HANGING;
    const bothAsked = vi.waitFor(() => expect(asked()).toEqual([1, 1]), { timeout: 5_000 });
    await ask(bothAsked);
    await vi.waitFor(() => expect(upstreams.map((upstream) => upstream.openSockets())).toEqual([0, 0]));
    await vi.waitFor(() => expect(node.ledger.open).toBe(0));
    expect(node.ledger.charges).toEqual([]);
    // No upstream lost to another one: the client's departure cut both attempts.
    await vi.waitFor(() => expect(node.ledger.free).toHaveLength(1));
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
    if (!first || !second) return;
    const { chunks = [], headers = {} } = FAST;
    first.play = () => ({ status: 500, chunks: ['', '{}'], gapMs: 300 });
    second.play = () => ({ headers, chunks: [': wait\n\n', ...chunks], gapMs: 400 });
    expect((await ask()).status).toBe(200);
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
    if (!first || !second) return;
    first.play = () => ({ status: 400, chunks: ['', '{}'], gapMs: 300 });
    second.play = () => HANGING;
    expect((await ask()).status).toBe(400);
    expect(asked()).toEqual([1, 1]);
    await vi.waitFor(() => expect(node.ledger.free).toHaveLength(1));
    expect(node.ledger.charges).toEqual([]);
    const attempts = node.ledger.free[0]?.tried?.attempts ?? [];
    expect(attempts.map(({ routeId, outcome, errorCode }) => [routeId, outcome, errorCode])).toEqual([
      ['route 0', 'FAILED', 'invalid_request'],
      ['route 1', 'CUT', 'invalid_request'],
    ]);
    expect(attempts.some((attempt) => 'cost' in attempt)).toBe(false);
    await vi.waitFor(() => expect(second.openSockets()).toBe(0));
  });

  it('is repeated at a second upstream for at most a twentieth of the requests', async () => {
    useModel(true);
    await warmUp();
    const [first] = upstreams;
    const { chunks = [], headers = {} } = FAST;
    if (first) first.play = () => ({ headers, chunks: [': wait\n\n', ...chunks], gapMs: 400 });
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    // One at the start, and one for every twenty requests.
    expect(upstreams[1]?.seen.length).toBeLessThanOrEqual(1 + Math.floor((WARM + 20) / 20));
    expect(node.ledger.charges).toHaveLength(20);
  });
});

describe('a slow answer of another model', () => {
  it('has no second attempt', async () => {
    useModel(false);
    await warmUp();
    const { chunks = [], headers = {} } = FAST;
    const [first] = upstreams;
    if (first) first.play = () => ({ headers, chunks: [': wait\n\n', ...chunks], gapMs: 500 });
    expect((await ask()).status).toBe(200);
    expect(asked()).toEqual([1, 0]);
  });
});
