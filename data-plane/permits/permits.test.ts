/** What a node does with permits: asks ahead, accounts for them, and keeps to its share alone. */
import { describe, expect, it } from 'vitest';
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS } from '@gateway/shared/permits';
import type { Place } from '@gateway/shared/permits';
import type { NodePermitAnswer } from '@gateway/shared/permit-api';
import { newPermitState } from './state.ts';
import type { PermitEffect, PermitEvent } from './state.ts';
import { step } from './step.ts';

const POOL = 'pool_1';

/** A node's rules with a clock of their own; what it asked for is answered by hand. */
class Played {
  now = 1_000;
  readonly state;
  cap = 60;
  #waiter = 0;
  #grants = 0;

  constructor({ remembers = true }: { remembers?: boolean } = {}) {
    this.state = newPermitState(this.now, remembers);
  }

  send(event: PermitEvent): PermitEffect[] {
    return step(this.state, event, this.now);
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
    return this.send({ type: 'PROMISED', sentAt: this.now, place, clock, accepted, hasRoom });
  }

  /** The first two messages of a node: it asks for the clock, then promises. */
  join(place: Place = { nodes: 1, index: 0 }): void {
    this.tick(place);
    this.promised(false, place);
    this.promised(true, place);
  }

  answer(granted: number, rest: Partial<NodePermitAnswer> = {}, sentAt: number = this.now): PermitEffect[] {
    this.#grants += 1;
    const grantId = granted > 0 ? `grant ${this.#grants}` : null;
    const said = { ttlMs: PERMIT_TTL_MS, resetMs: 0, remaining: 0, userErrors: [], ...rest };
    return this.send({ type: 'ANSWERED', poolId: POOL, sentAt, answer: { grantId, granted, ...said } });
  }
}

const types = (effects: PermitEffect[]): string[] => effects.map(({ type }) => type);
const found = <Type extends PermitEffect['type']>(effects: PermitEffect[], type: Type) =>
  effects.find((effect): effect is Extract<PermitEffect, { type: Type }> => effect.type === type);

describe('permits', () => {
  it('are asked for by the first request, which waits for the answer', () => {
    const node = new Played();
    node.join();
    expect(node.arrive()).toMatchObject([{ type: 'ASK', want: 1, finished: [] }]);
    expect(node.arrive()).toEqual([]);
    expect(types(node.answer(1, { remaining: 59 }))).toEqual(['ADMIT', 'ASK']);
  });

  it('are asked for ahead at the rate of the last second, and nobody waits any more', () => {
    const node = new Played();
    node.join();
    for (let at = 0; at < 10; at += 1) node.arrive();
    node.answer(1, { remaining: 1_000 });
    const effects = node.answer(10, { remaining: 989 });
    expect(effects.filter(({ type }) => type === 'ADMIT')).toHaveLength(9);
    expect(found(effects, 'ASK')).toMatchObject({ want: 9 });
    node.answer(9, { remaining: 980 });
    expect(types(node.arrive())).toContain('ADMIT');
  });

  it('are not hoarded where few are left', () => {
    const node = new Played();
    node.join();
    for (let at = 0; at < 10; at += 1) node.arrive();
    node.answer(1, { remaining: 9 });
    expect(found(node.answer(9, { remaining: 0 }), 'ASK')).toBeUndefined();
  });

  it('end 2 s after their request was sent; what was not used is told, once', () => {
    const node = new Played();
    node.join();
    node.arrive();
    node.answer(3);
    node.now += PERMIT_TTL_MS - 1;
    expect(types(node.arrive())).toEqual(['ADMIT']);
    node.now += 1;
    const told = found(node.promised(), 'ASK');
    expect(told).toMatchObject({ want: 0, finished: [{ grantId: 'grant 1', used: 2, agoMs: 1 }] });
    node.answer(0, { remaining: 58 });
    node.now += 5_000;
    expect(found(node.tick(), 'ASK')).toBeUndefined();
  });

  it('told of without an answer are told of again', () => {
    const node = new Played();
    node.join();
    node.arrive();
    node.answer(1);
    node.now += 1_000;
    expect(found(node.tick(), 'ASK')?.finished).toHaveLength(1);
    node.send({ type: 'UNANSWERED', poolId: POOL });
    node.now += 1_000;
    expect(found(node.promised(), 'ASK')?.finished).toMatchObject([
      { grantId: 'grant 1', used: 1, agoMs: 2_000 },
    ]);
  });

  it('given back by a request that went no further are used by the next', () => {
    const node = new Played();
    node.join();
    node.arrive();
    const { grantId } = found(node.answer(2), 'ADMIT') ?? {};
    node.arrive();
    node.send({ type: 'GIVE_BACK', poolId: POOL, grantId: grantId ?? '' });
    expect(types(node.arrive())).toEqual(['ADMIT']);
  });

  it('refused mean 429 for those that wait, and nobody asks for a while', () => {
    const node = new Played();
    node.join();
    node.arrive();
    node.arrive();
    node.answer(1, { remaining: 0, resetMs: 700 });
    const refused = node.answer(0, { remaining: 0, resetMs: 700 });
    expect(refused).toMatchObject([{ type: 'REFUSE', code: 'rate_limited', waitMs: 1_000 }]);
    expect(node.arrive()).toMatchObject([{ type: 'REFUSE', code: 'rate_limited' }]);
    node.now += 700;
    expect(found(node.arrive(), 'ASK')).toMatchObject({ want: 1 });
  });

  it('refused to many spread them over the time that their permits take', () => {
    const node = new Played();
    node.join();
    node.arrive();
    node.answer(0, { resetMs: 1_000 });
    let last: PermitEffect[] = [];
    for (let at = 0; at < 15; at += 1) last = node.arrive();
    expect(found(last, 'REFUSE')?.spreadMs).toBe(16_000);
  });

  it('are not asked for without a promise that holds', () => {
    const node = new Played();
    node.tick();
    expect(node.arrive()).toEqual([]);
    expect(types(node.promised(false))).toEqual(['PROMISE']);
    expect(types(node.promised(true))).toEqual(['ASK']);
    const effects = node.answer(0, { remaining: 60 });
    expect(types(effects)).toEqual(['PROMISE']);
  });

  it('that do not come in time mean 503, not 429', () => {
    const node = new Played();
    node.join();
    node.arrive();
    const effects = node.send({ type: 'GIVE_UP', poolId: POOL, waiter: 1 });
    expect(effects).toMatchObject([{ type: 'REFUSE', code: 'unavailable' }]);
  });
});

describe('a node that hears nothing', () => {
  /** Has used `used` permits when the control plane falls silent. */
  function silent(used: number, place: Place): Played {
    const node = new Played();
    node.join(place);
    node.now += 2 * WINDOW_MS;
    node.join(place);
    for (let at = 0; at < used; at += 1) node.arrive();
    node.answer(1);
    if (used > 1) node.answer(used - 1);
    node.tick(place);
    node.send({ type: 'UNPROMISED' });
    node.promised(true, place);
    return node;
  }

  function admitted(node: Played, asked: number): number {
    let count = 0;
    for (let at = 0; at < asked; at += 1) if (found(node.arrive(), 'ADMIT')) count += 1;
    return count;
  }

  it('admits nothing alone before its promise is over', () => {
    const node = silent(5, { nodes: 3, index: 0 });
    node.now += PROMISE_MS - 1;
    expect(admitted(node, 10)).toBe(0);
  });

  it('repeats in the first minute at most what it used before, then takes its share', () => {
    const node = silent(5, { nodes: 3, index: 0 });
    node.now += WINDOW_MS;
    expect(admitted(node, 50)).toBe(5);
    node.now += WINDOW_MS + 100;
    expect(admitted(node, 50)).toBe(20);
    expect(admitted(node, 1)).toBe(0);
    node.now += WINDOW_MS + 100;
    expect(admitted(node, 50)).toBe(20);
  });

  it('waits for the permits that others had when its promise ended', () => {
    const node = silent(5, { nodes: 3, index: 0 });
    node.now += PROMISE_MS + WINDOW_MS + PERMIT_TTL_MS - 1;
    expect(admitted(node, 50)).toBe(5);
    node.now += 1;
    expect(admitted(node, 50)).toBe(15);
  });

  it('is 503 while too little is known, 429 once its share is used', () => {
    const node = silent(1, { nodes: 3, index: 0 });
    node.now += PROMISE_MS;
    expect(found(node.arrive(), 'REFUSE')).toMatchObject({ code: 'unavailable' });
    node.now += 2 * WINDOW_MS;
    admitted(node, 20);
    expect(found(node.arrive(), 'REFUSE')).toMatchObject({ code: 'rate_limited' });
  });

  it('that is the only one goes on at once with what is left of the cap', () => {
    const node = silent(15, { nodes: 1, index: 0 });
    node.now += PROMISE_MS;
    expect(admitted(node, 100)).toBe(45);
  });

  it('repeats what it used before where it has not been the only one for a minute', () => {
    const node = silent(15, { nodes: 2, index: 0 });
    node.tick();
    node.now += 1_000;
    node.tick();
    node.promised();
    node.now += PROMISE_MS;
    expect(admitted(node, 100)).toBe(0);
    node.now += PERMIT_TTL_MS + WINDOW_MS;
    expect(admitted(node, 100)).toBe(60);
  });

  it('takes no share for which there was no room, and keeps to the least where there was', () => {
    const fresh = new Played();
    fresh.tick({ nodes: 2, index: 1 });
    fresh.promised(false, { nodes: 2, index: 1 });
    fresh.promised(true, { nodes: 2, index: 1 }, false);
    fresh.now += 10 * WINDOW_MS;
    expect(admitted(fresh, 100)).toBe(0);
    const node = silent(1, { nodes: 3, index: 0 });
    node.now += 1_000;
    node.tick({ nodes: 2, index: 0 });
    node.promised(true, { nodes: 2, index: 0 }, false);
    node.now += 2 * WINDOW_MS;
    expect(admitted(node, 100)).toBe(20);
  });

  it('uses no permits that it asked for before it went on alone, and says so', () => {
    const node = silent(15, { nodes: 1, index: 0 });
    node.now += PROMISE_MS - 100;
    const sentAt = node.now;
    expect(found(node.arrive(), 'ASK')).toMatchObject({ want: 1 });
    node.now += 100;
    expect(admitted(node, 100)).toBe(44);
    node.now += 1_000;
    const effects = node.answer(1, { remaining: 1 }, sentAt);
    expect(found(effects, 'ADMIT')).toBeUndefined();
    expect(found(node.arrive(), 'ADMIT')).toBeUndefined();
    node.promised(false);
    expect(found(node.promised(), 'ASK')?.finished.at(-1)).toMatchObject({ grantId: 'grant 3', used: 0 });
  });

  it('never goes on alone where no promise of this process was accepted, nor after a day', () => {
    const fresh = new Played();
    fresh.tick();
    fresh.promised(false);
    fresh.now += 10 * WINDOW_MS;
    expect(admitted(fresh, 3)).toBe(0);
    const old = silent(1, { nodes: 1, index: 0 });
    old.now += ALONE_MAX_MS;
    expect(admitted(old, 3)).toBe(0);
  });

  it('marks the disk before the first request, and tells all it admitted when it is heard again', () => {
    const node = silent(30, { nodes: 1, index: 0 });
    node.now += PROMISE_MS;
    expect(types(node.arrive())).toEqual(['MARK', 'ADMIT']);
    node.now += 20_000;
    expect(types(node.arrive())).toEqual(['ADMIT']);
    const probe = found(node.tick(), 'PROMISE');
    expect(probe).toMatchObject({ heard: null, alone: [] });
    const promise = found(node.promised(false), 'PROMISE');
    expect(promise).toMatchObject({ heard: String(node.now), alone: [{ used: 1 }, { used: 1, agoMs: 0 }] });
    expect(found(node.promised(true), 'MARK')).toMatchObject({ alone: false });
    node.now += 1_000;
    expect(found(node.tick(), 'PROMISE')).toMatchObject({ alone: [] });
  });

  it('does not know what it did before a crash, and says so', () => {
    const node = new Played({ remembers: false });
    node.tick();
    expect(found(node.promised(false), 'PROMISE')).toMatchObject({ alone: null });
    expect(found(node.promised(true), 'MARK')).toMatchObject({ alone: false });
  });
});
