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
    cut.onCut((reason) => calls.push(reason));
    cut.onCut((reason) => calls.push(reason));
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
    const stop = cut.onCut((reason) => calls.push(reason));
    stop();
    cut.trigger(stopped);
    expect(calls).toEqual([left]);
  });

  it('does not call an unsubscribed listener', () => {
    const cut = new Cut();
    const calls: unknown[] = [];
    const stop = cut.onCut((reason) => calls.push(reason));
    stop();
    cut.trigger(left);
    expect(calls).toEqual([]);
  });

  it('calls every other listener if one unsubscribes during the cut', () => {
    const cut = new Cut();
    const calls: string[] = [];
    const stops = ['one', 'two', 'three'].map((name) =>
      cut.onCut(() => {
        calls.push(name);
        stops[0]?.();
      }),
    );
    cut.trigger(left);
    expect(calls).toEqual(['one', 'two', 'three']);
  });
});
