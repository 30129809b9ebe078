/** Idempotency keys on a node: messages to the control plane, refusals of requests, and releases. */
import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { asGatewayError, GatewayError } from '@gateway/shared/failures';
import type { NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from '../call/call.ts';
import { Pieces, piecesOf } from '../call/pieces.ts';
import { RELEASED_KEYS_PER_MINUTE } from '../limits.ts';
import { fingerprintBody, PENDING_RELEASES_MAX, RemoteIdempotencyStore, reserveKey } from './idempotency.ts';
import type { FingerprintedCall, IdempotencyStore, IdempotencyStoreParts } from './idempotency.ts';
import { Cut } from '../call/cut.ts';
import { Reply } from '../call/reply.ts';
import { FakeStore, makeIncoming } from '../../test/request-path.ts';

const BODY = '{"model":"swift"}';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function callWith(headers: IncomingHttpHeaders): Call {
  const { current } = new FakeStore();
  if (!current) throw new Error('no configuration');
  const incoming = new IncomingMessage(new Socket());
  return {
    ...{ id: 'request-1', method: 'POST', path: '/v1/chat/completions', query: new URLSearchParams() },
    ...{ headers, address: '192.0.2.7', at: 0, startedAt: 0, config: current, cut: new Cut() },
    reply: new Reply(new ServerResponse(incoming), {}),
    body: async () => Buffer.from(BODY),
    pieces: async () => new Pieces([Buffer.from(BODY.slice(0, 2)), Buffer.from(BODY.slice(2))]),
    incoming: makeIncoming(),
    identified: () => undefined,
    onEnd: () => undefined,
  };
}

/** A call with this key whose body was not read yet. */
function unreadCall(key: string): FingerprintedCall {
  const unread = fingerprintBody(callWith({ 'idempotency-key': key }));
  if (!unread) throw new Error('the call has no key');
  return unread;
}

/** A call with this key whose body was read. */
async function readCall(key: string): Promise<FingerprintedCall> {
  const read = unreadCall(key);
  await read.call.body(100);
  return read;
}

/** A store that gives every reservation this answer, and remembers its calls. */
function storeOf(answer: Partial<NodeRequestClaimAnswer> | Error) {
  const reservations: object[] = [];
  const releases: string[] = [];
  const store: IdempotencyStore = {
    reserve: async (input) => {
      reservations.push(input);
      if (answer instanceof Error) throw answer;
      return { state: null, requestId: null, cost: null, ...answer };
    },
    release: (requestId) => void releases.push(requestId),
  };
  return { store, reservations, releases };
}

describe('fingerprintBody', () => {
  it('returns nothing for a request without a key', () => {
    expect(fingerprintBody(callWith({}))).toBeUndefined();
  });

  it('passes the body on and returns its digest', async () => {
    const { call, fingerprint } = unreadCall('order-7');
    expect(String(await call.body(100))).toBe(BODY);
    expect(fingerprint()).toBe(digest(BODY));
  });

  it('returns the same digest for a body in pieces', async () => {
    const { call, fingerprint } = unreadCall('a');
    const bytes = piecesOf(await call.pieces(100));
    expect([bytes.toString(), fingerprint()]).toEqual([BODY, digest(BODY)]);
  });

  it('takes the digest of a streamed body from the code that reads the stream', () => {
    const { call, fingerprint } = unreadCall('order-7');
    call.fingerprint?.('digest of a stream');
    expect(fingerprint()).toBe('digest of a stream');
  });

  it('throws for a body that was not read', () => {
    const { fingerprint } = unreadCall('order-7');
    expect(() => fingerprint()).toThrow('the body of /v1/chat/completions was not read');
  });
});

describe('reserveKey', () => {
  it('sends the digests of key and body and the path, never the key itself', async () => {
    const { store, reservations } = storeOf({ state: 'CLAIMED' });
    await reserveKey(await readCall('order-7'), 'wallet-1', store);
    expect(reservations).toEqual([
      {
        walletId: 'wallet-1',
        fingerprint: digest(BODY),
        route: '/v1/chat/completions',
        keyDigest: digest('order-7'),
        requestId: 'request-1',
      },
    ]);
  });

  it('keeps the key of a charged request and releases the key of any other', async () => {
    const { store, releases } = storeOf({ state: 'CLAIMED' });
    (await reserveKey(await readCall('order-7'), 'wallet-1', store)).end(true);
    expect(releases).toEqual([]);
    (await reserveKey(await readCall('order-7'), 'wallet-1', store)).end(false);
    expect(releases).toEqual(['request-1']);
  });

  it.each([
    [{ state: 'IN_FLIGHT', requestId: 'other' }, 'idempotency_in_flight', /Request other has this/, true],
    [
      { state: 'DONE', requestId: 'other', cost: '0.30' },
      'idempotency_done',
      /Request other .* 0.30 USD\. Answers are not kept\. Use a new key/,
      false,
    ],
    [{ state: 'MISMATCH' }, 'idempotency_mismatch', /with another body/, false],
    [{ state: null }, 'unavailable', /cannot check/, true],
    [new Error('away'), 'unavailable', /cannot check/, true],
    [undefined, 'unavailable', /cannot check/, true],
  ] as const)('refuses the request after the answer %o with %s', async (answer, code, words, mayRetry) => {
    const store = answer === undefined ? undefined : storeOf(answer).store;
    const error = await reserveKey(await readCall('order-7'), 'wallet-1', store).then(
      () => undefined,
      (reason: unknown) => asGatewayError(reason),
    );
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(error?.details.retryAfterMs).toBe(mayRetry ? 2_000 : undefined);
    expect(error?.details.cause).toBe(answer instanceof Error ? answer : undefined);
  });

  it.each(['', 'x'.repeat(256), 'with space', 'ümlaut', 'line\nbreak'])(
    'refuses the malformed key %j with 400 and sends nothing',
    async (key) => {
      const { store, reservations } = storeOf({ state: 'CLAIMED' });
      await expect(reserveKey(await readCall(key), 'wallet-1', store)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('1 to 255 visible ASCII characters'),
        details: { parameter: 'Idempotency-Key' },
      });
      expect(reservations).toEqual([]);
    },
  );

  it('refuses a key that was sent twice', async () => {
    const twice = fingerprintBody(callWith({ 'idempotency-key': ['order-7', 'order-8'] }));
    if (!twice) throw new Error('the call has no key');
    await twice.call.body(100);
    const { store } = storeOf({ state: 'CLAIMED' });
    await expect(reserveKey(twice, 'wallet-1', store)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    new GatewayError('internal', 'It broke.'),
    Object.assign(new Error('another rate_limited'), { code: 'rate_limited' }),
  ])('hides the failure of the store %o', async (failure) => {
    const { store } = storeOf(failure);
    await expect(reserveKey(await readCall('order-7'), 'wallet-1', store)).rejects.toMatchObject({
      code: 'unavailable',
      details: { cause: failure },
    });
  });

  it.each(['x', 'x'.repeat(255), '!~'])('accepts the key %j', async (key) => {
    const { store } = storeOf({ state: 'CLAIMED' });
    expect(await reserveKey(await readCall(key), 'wallet-1', store)).toBeDefined();
  });
});

describe('the remote idempotency store', () => {
  const SELF = { nodeId: 'node-1', instanceId: 'process-1' };
  const INPUT = {
    ...{ walletId: 'wallet-1', fingerprint: 'print' },
    ...{ route: '/v1/messages', keyDigest: 'digest', requestId: 'request-1' },
  };

  let time = 0;
  /** A clock on which a minute passes before each call. */
  const everyMinute = (): number => (time += 60_000);

  /** Time limit of a drain in these tests. Longer than every pause between tries. */
  const DRAIN_MS = 10_000;

  /** A store over this control plane, every message that it sends, and its pauses in ms. */
  function storeOver(
    control: Partial<IdempotencyStoreParts['control']>,
    parts: Partial<Omit<IdempotencyStoreParts, 'control'>> = {},
  ) {
    const sent: object[] = [];
    const pauses: number[] = [];
    const store = new RemoteIdempotencyStore({
      self: () => SELF,
      now: everyMinute,
      random: () => 1,
      pause: (ms) => {
        if (ms >= DRAIN_MS) return sleep(ms, undefined, { ref: false });
        pauses.push(ms);
        return sleep(0);
      },
      ...parts,
      control: {
        reserveIdempotencyKey: (input: NodeRequestClaimInput) => {
          sent.push(input);
          return (
            control.reserveIdempotencyKey?.(input) ??
            Promise.resolve({ state: 'CLAIMED', requestId: null, cost: null })
          );
        },
        releaseIdempotencyKey: (input) => {
          sent.push(input);
          return control.releaseIdempotencyKey?.(input) ?? Promise.resolve({ ok: true, userErrors: [] });
        },
      },
    });
    return { store, sent, pauses };
  }

  /** A control plane that acknowledges no release while `state.isAway`. */
  function awayControl() {
    const state = { isAway: true };
    const releaseIdempotencyKey = async () => {
      if (state.isAway) throw new Error('no answer');
      return { ok: true, userErrors: [] };
    };
    return { state, control: { releaseIdempotencyKey } };
  }

  it('rejects before the node is registered, and afterwards names node and process', async () => {
    let self: typeof SELF | undefined;
    const { store, sent } = storeOver({}, { self: () => self });
    await expect(store.reserve(INPUT)).rejects.toThrow('not registered yet');
    expect(sent).toEqual([]);
    self = SELF;
    await store.reserve(INPUT);
    store.release('request-1', 'wallet-1');
    await store.drain(DRAIN_MS);
    expect(sent).toEqual([
      { ...INPUT, ...SELF },
      { nodeId: 'node-1', requestId: 'request-1' },
    ]);
  });

  it('pauses 100 ms between the tries of a reservation, and reports the last failure', async () => {
    let tries = 0;
    const { store, pauses } = storeOver({
      reserveIdempotencyKey: async () => Promise.reject(new Error(`try ${(tries += 1)}`)),
    });
    await expect(store.reserve(INPUT)).rejects.toThrow('try 4');
    expect(pauses).toEqual([100, 100, 100]);
  });

  it('doubles the pause after each failed release up to a second, until one succeeds', async () => {
    let failures = 5;
    const { store, pauses } = storeOver({
      releaseIdempotencyKey: async () => {
        if ((failures -= 1) >= 0) throw new Error('no answer');
        return { ok: true, userErrors: [] };
      },
    });
    store.release('first', 'wallet-1');
    await store.drain(DRAIN_MS);
    expect(pauses).toEqual([200, 400, 800, 1_000, 1_000]);
    failures = 1;
    store.release('second', 'wallet-1');
    await store.drain(DRAIN_MS);
    expect(pauses.slice(5)).toEqual([200]);
  });

  it('pauses while some releases fail, although others succeed', async () => {
    let failures = 2;
    const { store, pauses } = storeOver({
      releaseIdempotencyKey: async ({ requestId }) => {
        if (requestId === 'lost' && (failures -= 1) >= 0) throw new Error('no answer');
        return { ok: true, userErrors: [] };
      },
    });
    store.release('lost', 'wallet-1');
    store.release('other', 'wallet-1');
    await store.drain(DRAIN_MS);
    expect(pauses).toEqual([200, 400]);
  });

  it('keeps releases while the node is not registered', async () => {
    let self: typeof SELF | undefined;
    const { store, sent } = storeOver({}, { self: () => self });
    store.release('request-1', 'wallet-1');
    await sleep(5);
    expect(sent).toEqual([]);
    self = SELF;
    await store.drain(DRAIN_MS);
    expect(sent).toEqual([{ nodeId: 'node-1', requestId: 'request-1' }]);
  });

  it('pauses a random part of that time, so that nodes do not retry at the same moment', async () => {
    const { state, control } = awayControl();
    const { store, pauses } = storeOver(control, { random: () => 0.25 });
    store.release('first', 'wallet-1');
    await expect.poll(() => pauses.slice(0, 2)).toEqual([50, 100]);
    state.isAway = false;
    await store.drain(DRAIN_MS);
  });

  it('sends eight releases at once, and the next ones after their answers', async () => {
    const answers: (() => void)[] = [];
    const { store, sent } = storeOver({
      releaseIdempotencyKey: () =>
        new Promise((resolve) => {
          answers.push(() => resolve({ ok: true, userErrors: [] }));
        }),
    });
    for (let at = 0; at < 20; at += 1) store.release(`request ${at}`, 'wallet-1');
    expect(sent).toHaveLength(1);
    answers.shift()?.();
    await expect.poll(() => sent.length).toBe(9);
    for (const answer of answers.splice(0)) answer();
    await expect.poll(() => sent.length).toBe(17);
    for (const answer of answers.splice(0)) answer();
    await expect.poll(() => sent.length).toBe(20);
    for (const answer of answers.splice(0)) answer();
  });

  it('drains at once if every release is acknowledged, and gives up after the limit', async () => {
    const { state, control } = awayControl();
    const limits: number[] = [];
    let limitReached = (): void => undefined;
    const pause = async (ms: number): Promise<void> => {
      if (ms !== 5_000) return sleep(0);
      limits.push(ms);
      return new Promise((resolve) => {
        limitReached = resolve;
      });
    };
    const { store } = storeOver(control, { pause });
    await store.drain(5_000);
    store.release('request-1', 'wallet-1');
    let drained = false;
    const draining = store.drain(5_000).then(() => (drained = true));
    await sleep(5);
    expect(drained).toBe(false);
    limitReached();
    await draining;
    state.isAway = false;
    await store.drain(5_000);
    expect(limits).toEqual([5_000, 5_000, 5_000]);
  });

  it('counts a request once, however often its release is queued', async () => {
    const { state, control } = awayControl();
    const { store } = storeOver(control);
    for (let count = 0; count < PENDING_RELEASES_MAX; count += 1) store.release('request-1', 'wallet-1');
    expect(await store.reserve(INPUT)).toMatchObject({ state: 'CLAIMED' });
    state.isAway = false;
    await store.drain(DRAIN_MS);
  });

  it('counts the pending releases of each wallet, and forgets those that are acknowledged', async () => {
    const { state, control } = awayControl();
    const { store } = storeOver(control);
    const HALF = PENDING_RELEASES_MAX / 2;
    for (let at = 0; at < HALF; at += 1) store.release(`request ${at}`, 'wallet-1');
    await expect(store.reserve(INPUT)).rejects.toThrow('is the control plane reachable?');
    state.isAway = false;
    await store.drain(DRAIN_MS);
    state.isAway = true;
    for (let at = 0; at < HALF - 1; at += 1) store.release(`request ${at}`, 'wallet-1');
    expect(await store.reserve(INPUT)).toMatchObject({ state: 'CLAIMED' });
    state.isAway = false;
    await store.drain(DRAIN_MS);
  });

  it('releases an unanswered reservation, and retries until the release is acknowledged', async () => {
    let unanswered = 3;
    const { store, sent } = storeOver({
      reserveIdempotencyKey: async () => Promise.reject(new Error('no answer')),
      releaseIdempotencyKey: async () => {
        if ((unanswered -= 1) >= 0) throw new Error('no answer');
        return { ok: true, userErrors: [] };
      },
    });
    await expect(store.reserve(INPUT)).rejects.toThrow('no answer');
    await store.drain(DRAIN_MS);
    expect(sent.slice(4)).toEqual(Array(4).fill({ nodeId: 'node-1', requestId: 'request-1' }));
  });

  it('repeats an unanswered reservation, and releases nothing if one try is answered', async () => {
    let unanswered = 3;
    const { store, sent } = storeOver({
      reserveIdempotencyKey: async ({ requestId }) => {
        if ((unanswered -= 1) >= 0) throw new Error('no answer');
        return { state: 'CLAIMED', requestId, cost: null };
      },
    });
    expect(await store.reserve(INPUT)).toMatchObject({ state: 'CLAIMED' });
    await store.drain(DRAIN_MS);
    expect(sent).toEqual(Array(4).fill({ ...INPUT, ...SELF }));
  });

  it('refuses keys of a wallet with too many pending releases, and takes those of others', async () => {
    const { store } = storeOver({ releaseIdempotencyKey: () => new Promise<never>(() => undefined) });
    const flood = async (walletId: string): Promise<number> => {
      for (let count = 0; count < PENDING_RELEASES_MAX; count += 1) {
        const isRefused = await store.reserve({ ...INPUT, walletId }).then(
          () => false,
          () => true,
        );
        if (isRefused) return count;
        store.release(`${walletId} ${count}`, walletId);
      }
      return PENDING_RELEASES_MAX;
    };
    const [first, second] = [await flood('hostile'), await flood('hostile-2')];
    expect([first, second]).toEqual([PENDING_RELEASES_MAX / 2, PENDING_RELEASES_MAX / 4]);
    expect(await store.reserve({ ...INPUT, walletId: 'wallet-1' })).toMatchObject({ state: 'CLAIMED' });
  });

  it('refuses keys of a wallet that released many within a minute, and takes those of others', async () => {
    let now = 0;
    const { store } = storeOver({}, { now: () => now });
    for (let at = 0; at < RELEASED_KEYS_PER_MINUTE; at += 1) {
      await store.reserve(INPUT);
      store.release(`request ${at}`, INPUT.walletId);
    }
    const message = expect.stringMatching(
      `More than ${RELEASED_KEYS_PER_MINUTE} requests .* within a minute. Find out why they fail`,
    );
    const refusal = { code: 'rate_limited', message, details: { retryAfterMs: 60_000 } };
    await expect(store.reserve(INPUT)).rejects.toMatchObject(refusal);
    await expect(reserveKey(await readCall('order-7'), INPUT.walletId, store)).rejects.toMatchObject(refusal);
    expect(await store.reserve({ ...INPUT, walletId: 'wallet-2' })).toMatchObject({ state: 'CLAIMED' });
    now = 60_000;
    expect(await store.reserve(INPUT)).toMatchObject({ state: 'CLAIMED' });
  });

  it('does not delay a release behind others that fail', async () => {
    const acknowledged = new Set<string>();
    let isAnswered = false;
    const { store } = storeOver({
      releaseIdempotencyKey: async ({ requestId }) => {
        if (requestId.startsWith('lost') && !isAnswered) throw new Error('no answer');
        acknowledged.add(requestId);
        return { ok: true, userErrors: [] };
      },
    });
    for (let at = 0; at < 20; at += 1) store.release(`lost ${at}`, 'wallet-1');
    store.release('other', 'wallet-1');
    await expect.poll(() => [...acknowledged]).toEqual(['other']);
    isAnswered = true;
    await store.drain(DRAIN_MS);
  });

  it('reserves no key while too many releases are unacknowledged', async () => {
    const { state, control } = awayControl();
    const { store } = storeOver(control);
    for (let at = 0; at < PENDING_RELEASES_MAX; at += 1) store.release(`request ${at}`, 'wallet-2');
    await expect(store.reserve(INPUT)).rejects.toThrow('too many Idempotency-Keys');
    state.isAway = false;
    await store.drain(DRAIN_MS);
    expect(await store.reserve(INPUT)).toMatchObject({ state: 'CLAIMED' });
  });
});
