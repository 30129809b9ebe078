/** Turns of a conversation over several nodes, with an upstream that has a prompt cache per credential. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play, SeenRequest } from '../../test/upstream.ts';

const NODES = 3;
const CONVERSATIONS = 200;
const TURNS = 10;
const BUSY: Play = { status: 429, chunks: ['{}'] };

let nodes: TestNode[];
let upstream: FakeUpstream;
/** The prefixes that each credential has seen. */
let caches: Map<string, Set<string>>;
/** How requests with a credential are refused. */
let refused: Map<string, Play>;
/** Credentials whose answers state that the quota is nearly used up. */
let spent: Set<string>;

beforeAll(async () => {
  upstream = await startUpstream(answer);
  nodes = await Promise.all(Array.from({ length: NODES }, () => startNode()));
});
beforeEach(() => {
  caches = new Map();
  refused = new Map();
  spent = new Set();
  upstream.seen = [];
});
afterEach(() => {
  for (const { ledger } of nodes) ledger.charges = [];
});
afterAll(async () => {
  await Promise.all([...nodes.map((node) => node.close()), upstream.close()]);
});

const credentialOf = ({ headers }: SeenRequest): string => String(headers.authorization).slice(7);

/** Counts the prompt as cached if this credential has answered the turn before. */
function answer(request: SeenRequest): Play {
  const credential = credentialOf(request);
  const refusal = refused.get(credential);
  if (refusal) return refusal;
  const { messages }: { messages: object[] } = JSON.parse(request.body);
  const cache = caches.get(credential) ?? new Set();
  caches.set(credential, cache);
  const cached = cache.has(JSON.stringify(messages.slice(0, -2))) ? 90 : 0;
  cache.add(JSON.stringify(messages));
  const usage = {
    ...{ prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
    prompt_tokens_details: { cached_tokens: cached },
  };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  const left = spent.has(credential) ? '1' : '99';
  return {
    headers: { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': left },
    chunks: [JSON.stringify({ id: 'c1', object: 'chat.completion', choices, usage })],
  };
}

/**
 * One route with this number of credentials, on every node. Each test has new names, so that it has new
 * state.
 */
function useCredentials(test: string, count: number): string[] {
  const secrets = Array.from({ length: count }, (_, index) => `${test}-${index}`);
  const { origin } = upstream;
  const credentials = secrets.map((secret) => ({ id: secret, origin, secret }));
  for (const node of nodes) {
    node.store.routes = [makeRoute(origin, { route: { id: `route-${test}` }, credentials })];
  }
  return secrets;
}

/** The body of one turn of a conversation; each turn repeats those before it. */
function turnOf(name: string, turn: number): object {
  const messages: object[] = [{ role: 'system', content: 'You help with code.' }];
  for (let past = 0; past < turn; past += 1)
    messages.push(
      { role: 'user', content: `${name}: question ${past}` },
      { role: 'assistant', content: 'Hi' },
    );
  return { model: 'swift', messages: [...messages, { role: 'user', content: `${name}: question ${turn}` }] };
}

/** A node, by a number that may be larger than their number. */
function nodeAt(index: number): TestNode {
  const node = nodes[index % NODES];
  if (!node) throw new Error('no node runs');
  return node;
}

/** Sends this turn of each conversation to a node that changes with the turn. */
async function playTurn(names: readonly string[], turn: number): Promise<void> {
  for (let from = 0; from < names.length; from += 20) {
    const some = names.slice(from, from + 20);
    const answers = await Promise.all(
      some.map((name, index) => nodeAt(from + index + turn).call({ body: turnOf(name, turn) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(some.map(() => 200));
  }
}

/** Number of answers since the last call, and the share of those from a warm cache. */
function takeWarm(): { answers: number; warm: number } {
  const charges = nodes.flatMap(({ ledger }) => ledger.charges.splice(0));
  const warm = charges.filter(({ tokens }) => (tokens.cached ?? 0) > 0);
  return { answers: charges.length, warm: warm.length / charges.length };
}

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `talk ${index}`);

describe('later turns', () => {
  it('meet a warm cache on every node, with five credentials', { timeout: 30_000 }, async () => {
    useCredentials('warm', 5);
    const names = namesOf(CONVERSATIONS);
    await playTurn(names, 0);
    expect(takeWarm()).toEqual({ answers: CONVERSATIONS, warm: 0 });
    for (let turn = 1; turn < TURNS; turn += 1) await playTurn(names, turn);
    const { answers, warm } = takeWarm();
    expect(answers).toBe(CONVERSATIONS * (TURNS - 1));
    expect(warm).toBeGreaterThanOrEqual(0.95);
    expect(caches.size).toBe(5);
  });

  it('follow the session that the client names, even if they begin with other messages', async () => {
    useCredentials('session', 5);
    const sessions: [string, object][] = [
      ['session-id', {}],
      ['x-claude-code-session-id', {}],
      ['', { prompt_cache_key: 'one' }],
      ['', { metadata: { user_id: 'one' } }],
    ];
    for (const [header, members] of sessions) {
      upstream.seen = [];
      for (const name of namesOf(12))
        await nodes[0]?.call({
          body: { ...turnOf(name, 0), ...members },
          headers: header === '' ? {} : { [header]: 'one' },
        });
      expect(new Set(upstream.seen.map(credentialOf)).size).toBe(1);
    }
  });

  it('go to different routes for different wallets with the same session', async () => {
    useCredentials('wallets', 5);
    const [node] = nodes;
    for (let index = 0; index < 12; index += 1) {
      const { secret, record } = makeKey({ id: `key-${index + 2}`, walletId: `wallet-${index + 2}` });
      node?.store.keys.push(record);
      await node?.call({
        body: { ...turnOf('same', 0), prompt_cache_key: 'same' },
        headers: { authorization: `Bearer ${secret}` },
      });
    }
    expect(new Set(upstream.seen.map(credentialOf)).size).toBeGreaterThan(2);
  });
});

describe('a sixth credential', () => {
  it('takes over its share of the conversations and moves no others', async () => {
    useCredentials('sixth', 5);
    const names = namesOf(CONVERSATIONS);
    await playTurn(names, 0);
    const [, , , , , sixth = ''] = useCredentials('sixth', 6);
    takeWarm();
    upstream.seen = [];
    await playTurn(names, 1);
    const { answers, warm } = takeWarm();
    const moved = upstream.seen.filter((seen) => credentialOf(seen) === sixth).length;
    expect(warm).toBeCloseTo(1 - moved / answers, 10);
    expect(moved).toBeGreaterThan(0);
    expect(moved / CONVERSATIONS).toBeLessThanOrEqual(1 / 6 + 0.05);
  });
});

describe('a new credential in place of an old one', () => {
  it('fails no request, and costs each conversation one cold turn', async () => {
    const names = namesOf(40);
    const old = 'rotated-old';
    const fresh = 'rotated-new';
    const use = (...secrets: string[]): void => {
      const { origin } = upstream;
      const credentials = secrets.map((secret) => ({ id: secret, origin, secret }));
      for (const { store } of nodes)
        store.routes = [makeRoute(origin, { route: { id: 'route-rotated' }, credentials })];
    };
    use(old);
    await playTurn(names, 0);
    const running = playTurn(names, 1);
    use(old, fresh);
    await running;
    const last = playTurn(names, 2);
    use(fresh);
    await last;
    refused.set(old, { status: 401, chunks: ['{}'] });
    await playTurn(names, 3);
    takeWarm();
    await playTurn(names, 4);
    expect(takeWarm()).toEqual({ answers: 40, warm: 1 });
  });
});

describe('a credential that is refused', () => {
  const cases: [string, Play][] = [
    ['throttled', BUSY],
    ['revoked', { status: 401, chunks: ['{}'] }],
  ];
  it.each(cases)('costs one cold turn and no failed request (%s)', async (reason, refusal) => {
    const [lost = ''] = useCredentials(reason, 5);
    const names = namesOf(60);
    await playTurn(names, 0);
    const moved = new Set(upstream.seen.filter((seen) => credentialOf(seen) === lost)).size;
    expect(moved).toBeGreaterThan(0);
    refused.set(lost, refusal);
    takeWarm();
    await playTurn(names, 1);
    expect(takeWarm()).toEqual({ answers: 60, warm: (60 - moved) / 60 });
    await playTurn(names, 2);
    expect(takeWarm()).toEqual({ answers: 60, warm: 1 });
  });

  it('is replaced before the refusal when its provider states that the quota is nearly used', async () => {
    const [nearly = ''] = useCredentials('quota', 5);
    const names = namesOf(60);
    spent.add(nearly);
    await playTurn(names, 0);
    upstream.seen = [];
    await playTurn(names, 1);
    expect(upstream.seen.filter((seen) => credentialOf(seen) === nearly)).toEqual([]);
  });

  it('is used in spite of a nearly used quota if there is no other credential', async () => {
    const [only = ''] = useCredentials('only', 1);
    spent.add(only);
    await playTurn(namesOf(6), 0);
    await playTurn(namesOf(6), 1);
    expect(upstream.seen).toHaveLength(12);
  });

  it('fails the request if no other credential is accepted', async () => {
    const secrets = useCredentials('all', 3);
    for (const secret of secrets) refused.set(secret, BUSY);
    const answered = await nodes[0]?.call({ body: turnOf('talk', 0) });
    expect(answered?.status).toBe(503);
    // No more than two credentials of one upstream are tried, so that other upstreams are asked, too.
    expect(upstream.seen).toHaveLength(2);
  });
});
