/** Cutting a request: once, for the first reason, which decides about its charge. */
import { describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { Cut } from './cut.ts';

const left = new GatewayError('client_closed', 'Left.');
const stopped = new GatewayError('unavailable', 'Stopped.');

describe('a cut', () => {
  it('keeps its first reason, and calls every listener once', () => {
    const cut = new Cut();
    const calls: unknown[] = [];
    cut.onCut({ abort: (reason) => calls.push(reason) });
    cut.onCut({ abort: (reason) => calls.push(reason) });
    expect(cut.reason).toBeUndefined();
    expect(() => cut.throwIfCut()).not.toThrow();
    cut.trigger(left);
    cut.trigger(stopped);
    expect([cut.reason, calls]).toEqual([left, [left, left]]);
    expect(() => cut.throwIfCut()).toThrow(left);
  });

  it('calls a listener that is added later at once, and only once', () => {
    const cut = new Cut();
    cut.trigger(left);
    const calls: unknown[] = [];
    const listener = { abort: (reason: GatewayError) => calls.push(reason) };
    cut.onCut(listener);
    cut.offCut(listener);
    cut.trigger(stopped);
    expect(calls).toEqual([left]);
  });

  it('does not call a listener that was taken back, whether it came first or later', () => {
    const cut = new Cut();
    const calls: string[] = [];
    const listener = (name: string) => ({ abort: () => calls.push(name) });
    const [one, two, three] = [listener('one'), listener('two'), listener('three')];
    for (const each of [one, two, three]) cut.onCut(each);
    cut.offCut(one);
    cut.offCut(three);
    cut.trigger(left);
    expect(calls).toEqual(['two']);
  });

  it('calls every other listener if one unsubscribes during the cut', () => {
    const cut = new Cut();
    const calls: string[] = [];
    const listeners = ['one', 'two', 'three'].map((name) => ({
      abort: () => {
        calls.push(name);
        for (const other of listeners) cut.offCut(other);
      },
    }));
    for (const listener of listeners) cut.onCut(listener);
    cut.trigger(left);
    expect(calls).toEqual(['one', 'two', 'three']);
  });
});
