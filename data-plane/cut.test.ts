/** The one way a request is stopped: once, for the first reason, which decides about its charge. */
import { expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { Cut } from './cut.ts';

const left = new GatewayError('client_closed', 'Left.');
const stopped = new GatewayError('unavailable', 'Stopped.');

it('the first reason counts, and every listener hears it once', () => {
  const cut = new Cut();
  const heard: unknown[] = [];
  cut.onCut((reason) => heard.push(reason));
  cut.onCut((reason) => heard.push(reason));
  expect(cut.reason).toBeUndefined();
  expect(() => cut.throwIfCut()).not.toThrow();
  cut.trigger(left);
  cut.trigger(stopped);
  expect([cut.reason, heard]).toEqual([left, [left, left]]);
  expect(() => cut.throwIfCut()).toThrow(left);
});

it('who listens after the cut hears of it at once, and only once', () => {
  const cut = new Cut();
  cut.trigger(left);
  const heard: unknown[] = [];
  const stop = cut.onCut((reason) => heard.push(reason));
  stop();
  cut.trigger(stopped);
  expect(heard).toEqual([left]);
});

it('who has stopped listening hears nothing', () => {
  const cut = new Cut();
  const heard: unknown[] = [];
  const stop = cut.onCut((reason) => heard.push(reason));
  stop();
  cut.trigger(left);
  expect(heard).toEqual([]);
});

it('a listener that stops another while it hears does not keep a third from hearing', () => {
  const cut = new Cut();
  const heard: string[] = [];
  const stops = ['one', 'two', 'three'].map((name) =>
    cut.onCut(() => {
      heard.push(name);
      stops[0]?.();
    }),
  );
  cut.trigger(left);
  expect(heard).toEqual(['one', 'two', 'three']);
});
