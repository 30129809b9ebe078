/** The circuits of routes. */
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './circuit.ts';
import { RouteCircuits } from './route-circuits.ts';

const FAILED = new GatewayError('upstream_failed', 'Try again.');
const BUSY = new GatewayError('upstream_busy', 'Try again.');
const WALLETS = ['one', 'two', 'three'];

/** Fails as often on a route, for these wallets in turn; returns whether the last failure ejected it. */
function fail(circuits: RouteCircuits, times: number, wallets = WALLETS, credentialRefused = false): boolean {
  let ejected = false;
  for (let count = 0; count < times; count += 1) {
    const walletId = wallets[count % wallets.length] ?? '';
    const failed = { walletId, error: FAILED, credentialRefused, now: 1 };
    ejected = circuits.failed('route', failed) !== undefined;
  }
  return ejected;
}

describe('a route', () => {
  it('is ejected after failures in a row, and gets one request when the ejection ends', () => {
    const circuits = new RouteCircuits(() => 0);
    expect(fail(circuits, CONSECUTIVE_FAILURES - 1)).toBe(false);
    expect(circuits.isEjected('route', 1)).toBe(false);
    expect(fail(circuits, 1)).toBe(true);
    expect([circuits.isEjected('route', 1), circuits.isEjected('other', 1)]).toEqual([true, false]);
    const end = 1 + EJECTION_MS;
    expect(circuits.isEjected('route', end)).toBe(false);
    circuits.started('route', end);
    expect(circuits.isEjected('route', end)).toBe(true);
    circuits.succeeded('route');
    expect(circuits.isEjected('route', end)).toBe(false);
  });

  it('is not ejected by the requests of one wallet, however many fail', () => {
    const circuits = new RouteCircuits(() => 0);
    expect(fail(circuits, 100, ['one'])).toBe(false);
    expect(circuits.isEjected('route', 1)).toBe(false);
  });

  it('is not ejected by busy answers, refused credentials, or failures between successes', () => {
    const circuits = new RouteCircuits(() => 0);
    fail(circuits, 20, WALLETS, true);
    fail(circuits, CONSECUTIVE_FAILURES - 1);
    circuits.failed('route', { walletId: 'one', error: BUSY, credentialRefused: true, now: 1 });
    expect(circuits.isEjected('route', 1)).toBe(false);
    circuits.succeeded('route');
    fail(circuits, 1);
    expect(circuits.isEjected('route', 1)).toBe(false);
  });
});
