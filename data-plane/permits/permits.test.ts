/** The permit rules of a node: requesting ahead, reporting, and admitting within its share while alone. */
import { describe, expect, it } from 'vitest';
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAnswer } from '@gateway/shared/permit-api';
import { newPermitState } from './state.ts';
import type { PermitEffect, PermitEvent } from './state.ts';
import { applyEvent } from './step.ts';

const POOL = 'pool_1';

/** The permit rules of a node with a clock of its own. The test gives the answers. */
class NodeUnderTest {
  now = 1_000;
  readonly state;
  cap = 60;
  #waiter = 0;
  #grants = 0;

  constructor({ knowsAloneUses = true }: { knowsAloneUses?: boolean } = {}) {
    this.state = newPermitState(this.now, knowsAloneUses);
  }

  send(event: PermitEvent): PermitEffect[] {
    return applyEvent(this.state, event, this.now);
  }

  arrive(): PermitEffect[] {
    this.#waiter += 1;
    return this.send({ type: 'ARRIVE', poolId: POOL, cap: this.cap, waiter: this.#waiter });
  }

  tick(place: Place = { nodes: 1, index: 0 }): PermitEffect[] {
    return this.send({ type: 'TICK', place });
  }

  promised(accepted = true, place: Place = { nodes: 1, index: 0 }, hasRoom = accepted): PermitEffect[] {
    const clock = String(this.now);
    return this.send({ type: 'PROMISE_ANSWERED', sentAt: this.now, place, clock, accepted, hasRoom });
  }

  /** Sends the first two messages of a node, a request for the clock and a promise, and answers them. */
  join(place: Place = { nodes: 1, index: 0 }): void {
    this.tick(place);
    this.promised(false, place);
    this.promised(true, place);
  }

  answer(granted: number, rest: Partial<NodePermitAnswer> = {}, sentAt: number = this.now): PermitEffect[] {
    this.#grants += 1;
    const grantId = granted > 0 ? `grant ${this.#grants}` : null;
    const details = { ttlMs: PERMIT_TTL_MS, resetMs: 0, remaining: 0, userErrors: [], ...rest };
    return this.send({ type: 'ANSWERED', poolId: POOL, sentAt, answer: { grantId, granted, ...details } });
  }
}

const types = (effects: PermitEffect[]): string[] => effects.map(({ type }) => type);
const found = <Type extends PermitEffect['type']>(effects: PermitEffect[], type: Type) =>
  effects.find((effect): effect is Extract<PermitEffect, { type: Type }> => effect.type === type);

describe('permits', () => {
  it('are requested by the first request, which waits for the answer', () => {
    const node = new NodeUnderTest();
    node.join();
    expect(node.arrive()).toMatchObject([{ type: 'REQUEST', want: 1, finished: [] }]);
    expect(node.arrive()).toEqual([]);
    expect(types(node.answer(1, { remaining: 59 }))).toEqual(['ADMIT', 'REQUEST']);
  });

  it('are requested ahead at the rate of the last second, so that no request waits', () => {
    const node = new NodeUnderTest();
    node.join();
    for (let at = 0; at < 10; at += 1) node.arrive();
    node.answer(1, { remaining: 1_000 });
    const effects = node.answer(10, { remaining: 989 });
    expect(effects.filter(({ type }) => type === 'ADMIT')).toHaveLength(9);
    expect(found(effects, 'REQUEST')).toMatchObject({ want: 9 });
    node.answer(9, { remaining: 980 });
    expect(types(node.arrive())).toContain('ADMIT');
  });

  it('are not requested ahead when few are left', () => {
    const node = new NodeUnderTest();
    node.join();
    for (let at = 0; at < 10; at += 1) node.arrive();
    node.answer(1, { remaining: 9 });
    expect(found(node.answer(9, { remaining: 0 }), 'REQUEST')).toBeUndefined();
  });

  it('expire 2 s after they were requested, and their uses are reported once', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    node.answer(3);
    node.now += PERMIT_TTL_MS - 1;
    expect(types(node.arrive())).toEqual(['ADMIT']);
    node.now += 1;
    const report = found(node.promised(), 'REQUEST');
    expect(report).toMatchObject({ want: 0, finished: [{ grantId: 'grant 1', used: 2, agoMs: 1 }] });
    node.answer(0, { remaining: 58 });
    node.now += 5_000;
    expect(found(node.tick(), 'REQUEST')).toBeUndefined();
  });

  it('are reported again if the report got no answer', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    node.answer(1);
    node.now += 1_000;
    expect(found(node.tick(), 'REQUEST')?.finished).toHaveLength(1);
    node.send({ type: 'UNANSWERED', poolId: POOL });
    node.now += 1_000;
    expect(found(node.promised(), 'REQUEST')?.finished).toMatchObject([
      { grantId: 'grant 1', used: 1, agoMs: 2_000 },
    ]);
  });

  it('are used by the next request after they are given back', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    const { grantId } = found(node.answer(2), 'ADMIT') ?? {};
    node.arrive();
    node.send({ type: 'PERMIT_RETURNED', poolId: POOL, grantId: grantId ?? '' });
    expect(types(node.arrive())).toEqual(['ADMIT']);
  });

  it('are followed by 429 for waiting requests and by a pause if they are refused', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    node.arrive();
    node.answer(1, { remaining: 0, resetMs: 700 });
    const refused = node.answer(0, { remaining: 0, resetMs: 700 });
    expect(refused).toMatchObject([{ type: 'REFUSE', code: 'rate_limited', waitMs: 1_000 }]);
    expect(node.arrive()).toMatchObject([{ type: 'REFUSE', code: 'rate_limited' }]);
    node.now += 700;
    expect(found(node.arrive(), 'REQUEST')).toMatchObject({ want: 1 });
  });

  it('spread the retries of many clients over a longer time if they are refused', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    node.answer(0, { resetMs: 1_000 });
    let last: PermitEffect[] = [];
    for (let at = 0; at < 15; at += 1) last = node.arrive();
    expect(found(last, 'REFUSE')?.spreadMs).toBe(16_000);
  });

  it('are not requested before a promise is accepted', () => {
    const node = new NodeUnderTest();
    node.tick();
    expect(node.arrive()).toEqual([]);
    expect(types(node.promised(false))).toEqual(['PROMISE']);
    expect(types(node.promised(true))).toEqual(['REQUEST']);
    const effects = node.answer(0, { remaining: 60 });
    expect(types(effects)).toEqual(['PROMISE']);
  });

  it('are followed by 503, not 429, if they do not arrive in time', () => {
    const node = new NodeUnderTest();
    node.join();
    node.arrive();
    const effects = node.send({ type: 'WAIT_TIMED_OUT', poolId: POOL, waiter: 1 });
    expect(effects).toMatchObject([{ type: 'REFUSE', code: 'unavailable' }]);
  });
});

describe('a node without an answer of the control plane', () => {
  /** A node that has used `used` permits and gets no further answer. */
  function withoutAnswers(used: number, place: Place): NodeUnderTest {
    const node = new NodeUnderTest();
    node.join(place);
    node.now += 2 * WINDOW_MS;
    node.join(place);
    for (let at = 0; at < used; at += 1) node.arrive();
    node.answer(1);
    if (used > 1) node.answer(used - 1);
    node.tick(place);
    node.send({ type: 'PROMISE_UNANSWERED' });
    node.promised(true, place);
    return node;
  }

  function admitted(node: NodeUnderTest, asked: number): number {
    let count = 0;
    for (let at = 0; at < asked; at += 1) if (found(node.arrive(), 'ADMIT')) count += 1;
    return count;
  }

  it('admits nothing alone before its promise is over', () => {
    const node = withoutAnswers(5, { nodes: 3, index: 0 });
    node.now += PROMISE_MS - 1;
    expect(admitted(node, 10)).toBe(0);
  });

  it('admits in the first minute at most as much as in the minute before, and its share afterwards', () => {
    const node = withoutAnswers(5, { nodes: 3, index: 0 });
    node.now += WINDOW_MS;
    expect(admitted(node, 50)).toBe(5);
    node.now += WINDOW_MS + 100;
    expect(admitted(node, 50)).toBe(20);
    expect(admitted(node, 1)).toBe(0);
    node.now += WINDOW_MS + 100;
    expect(admitted(node, 50)).toBe(20);
  });

  it('waits until permits of other nodes have expired before it uses its whole share', () => {
    const node = withoutAnswers(5, { nodes: 3, index: 0 });
    node.now += PROMISE_MS + WINDOW_MS + PERMIT_TTL_MS - 1;
    expect(admitted(node, 50)).toBe(5);
    node.now += 1;
    expect(admitted(node, 50)).toBe(15);
  });

  it('answers 503 while it may not use its share yet, and 429 once the share is used', () => {
    const node = withoutAnswers(1, { nodes: 3, index: 0 });
    node.now += PROMISE_MS;
    expect(found(node.arrive(), 'REFUSE')).toMatchObject({ code: 'unavailable' });
    node.now += 2 * WINDOW_MS;
    admitted(node, 20);
    expect(found(node.arrive(), 'REFUSE')).toMatchObject({ code: 'rate_limited' });
  });

  it('uses the rest of the cap at once if it is the only node', () => {
    const node = withoutAnswers(15, { nodes: 1, index: 0 });
    node.now += PROMISE_MS;
    expect(admitted(node, 100)).toBe(45);
  });

  it('admits only as much as before if it has not been the only node for a minute', () => {
    const node = withoutAnswers(15, { nodes: 2, index: 0 });
    node.tick();
    node.now += 1_000;
    node.tick();
    node.promised();
    node.now += PROMISE_MS;
    expect(admitted(node, 100)).toBe(0);
    node.now += PERMIT_TTL_MS + WINDOW_MS;
    expect(admitted(node, 100)).toBe(60);
  });

  it('uses no share without room for it, and the smallest share of its possible places', () => {
    const fresh = new NodeUnderTest();
    fresh.tick({ nodes: 2, index: 1 });
    fresh.promised(false, { nodes: 2, index: 1 });
    fresh.promised(true, { nodes: 2, index: 1 }, false);
    fresh.now += 10 * WINDOW_MS;
    expect(admitted(fresh, 100)).toBe(0);
    const node = withoutAnswers(1, { nodes: 3, index: 0 });
    node.now += 1_000;
    node.tick({ nodes: 2, index: 0 });
    node.promised(true, { nodes: 2, index: 0 }, false);
    node.now += 2 * WINDOW_MS;
    expect(admitted(node, 100)).toBe(20);
  });

  it('does not use permits that were requested before it was alone, and reports them', () => {
    const node = withoutAnswers(15, { nodes: 1, index: 0 });
    node.now += PROMISE_MS - 100;
    const sentAt = node.now;
    expect(found(node.arrive(), 'REQUEST')).toMatchObject({ want: 1 });
    node.now += 100;
    expect(admitted(node, 100)).toBe(44);
    node.now += 1_000;
    const effects = node.answer(1, { remaining: 1 }, sentAt);
    expect(found(effects, 'ADMIT')).toBeUndefined();
    expect(found(node.arrive(), 'ADMIT')).toBeUndefined();
    node.promised(false);
    expect(found(node.promised(), 'REQUEST')?.finished.at(-1)).toMatchObject({ grantId: 'grant 3', used: 0 });
  });

  it('never admits alone without an accepted promise, or after a day', () => {
    const fresh = new NodeUnderTest();
    fresh.tick();
    fresh.promised(false);
    fresh.now += 10 * WINDOW_MS;
    expect(admitted(fresh, 3)).toBe(0);
    const old = withoutAnswers(1, { nodes: 1, index: 0 });
    old.now += ALONE_MAX_MS;
    expect(admitted(old, 3)).toBe(0);
  });

  it('writes the mark before it admits alone, and reports all such requests later', () => {
    const node = withoutAnswers(30, { nodes: 1, index: 0 });
    node.now += PROMISE_MS;
    expect(types(node.arrive())).toEqual(['MARK', 'ADMIT']);
    node.now += 20_000;
    expect(types(node.arrive())).toEqual(['ADMIT']);
    const probe = found(node.tick(), 'PROMISE');
    expect(probe).toMatchObject({ clock: null, aloneUses: [] });
    const promise = found(node.promised(false), 'PROMISE');
    expect(promise).toMatchObject({
      clock: String(node.now),
      aloneUses: [{ used: 1 }, { used: 1, agoMs: 0 }],
    });
    expect(found(node.promised(true), 'MARK')).toMatchObject({ alone: false });
    node.now += 1_000;
    expect(found(node.tick(), 'PROMISE')).toMatchObject({ aloneUses: [] });
  });

  it('reports after a crash that it does not know what was admitted alone', () => {
    const node = new NodeUnderTest({ knowsAloneUses: false });
    node.tick();
    expect(found(node.promised(false), 'PROMISE')).toMatchObject({ aloneUses: null });
    expect(found(node.promised(true), 'MARK')).toMatchObject({ alone: false });
  });
});
