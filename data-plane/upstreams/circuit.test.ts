/** When upstreams are left alone, and in which order they are asked. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRoute } from '../../test/request-path.ts';
import { DIALECTS } from '../dialects/index.ts';
import {
  CLOSED_CIRCUIT,
  EJECTION_MAX_MS,
  FRESH_BUDGET,
  admission,
  afterFailure,
  afterNothing,
  afterRequest,
  afterRetry,
  afterStart,
  afterSuccess,
} from './circuit.ts';
import type { Circuit } from './circuit.ts';
import { inOrder } from './order.ts';
import { isPublic } from './pools.ts';
import { retryAfterOf } from './verdict.ts';

function failing(times: number, from: Circuit = CLOSED_CIRCUIT, now = 1_000): Circuit {
  let circuit = from;
  for (let count = 0; count < times; count += 1) circuit = afterFailure(circuit, now, 0);
  return circuit;
}

describe('a circuit', () => {
  it('ejects after five failures in a row, probes once, and closes after a success', () => {
    expect(admission(failing(4), 1_000)).toBe('open');
    const ejected = failing(5);
    expect(admission(ejected, 1_001)).toBe('ejected');
    expect(admission(ejected, 31_000)).toBe('probe');
    const probing = afterStart(ejected, 31_000);
    expect(admission(probing, 31_000)).toBe('ejected');
    expect(admission(afterSuccess(probing, 31_500), 31_500)).toBe('open');
    expect(admission(afterNothing(probing), 31_500)).toBe('probe');
  });

  it('ejects for longer each time the probe fails, up to a bound', () => {
    let circuit = failing(5);
    for (let count = 0; count < 30; count += 1) {
      const at = circuit.ejectedUntil;
      circuit = afterFailure(afterStart(circuit, at), at, 0);
      expect(circuit.ejectedUntil - at).toBeLessThanOrEqual(EJECTION_MAX_MS);
    }
    expect(circuit.ejections).toBe(31);
  });

  it('ejects when more than half of many fail, though never five in a row', () => {
    let circuit = CLOSED_CIRCUIT;
    for (let count = 0; count < 30; count += 1) {
      circuit = count % 3 === 0 ? afterSuccess(circuit, 1_000) : afterFailure(circuit, 1_000, 0);
    }
    expect(admission(circuit, 1_001)).toBe('ejected');
  });

  it('always lets somebody in again some day', () => {
    const steps = fc.array(fc.constantFrom('start', 'success', 'failure', 'nothing'), { maxLength: 50 });
    fc.assert(
      fc.property(steps, (events) => {
        let now = 0;
        let circuit = CLOSED_CIRCUIT;
        for (const event of events) {
          now += 100;
          if (event === 'start') circuit = afterStart(circuit, now);
          if (event === 'success') circuit = afterSuccess(circuit, now);
          if (event === 'failure') circuit = afterFailure(circuit, now, 1);
          if (event === 'nothing') circuit = afterNothing(circuit);
        }
        expect(admission(afterNothing(circuit), now + 2 * EJECTION_MAX_MS)).not.toBe('ejected');
      }),
    );
  });

  it('lets retries be a tenth of the requests', () => {
    let budget = FRESH_BUDGET;
    for (let count = 0; count < 1_000; count += 1) budget = afterRequest(budget, 1);
    let retries = 0;
    for (let next = afterRetry(budget, 1); next; next = afterRetry(next, 1)) retries += 1;
    expect(retries).toBe(100);
  });
});

describe('the order', () => {
  const route = (id: string, priority: number, weight = 1) =>
    makeRoute('http://x', { route: { id, priority, weight } });
  const ids = (routes: ReturnType<typeof route>[], random = Math.random) =>
    inOrder(routes, { dialects: DIALECTS, preferred: 'openai-chat', random }).map(
      ({ compiled }) => compiled.route.id,
    );

  it('goes by priority first, then by format, then by weight', () => {
    const foreign = makeRoute('http://x', {
      route: { id: 'foreign', priority: 1, weight: 1_000 },
      provider: { protocols: ['anthropic-messages'] },
    });
    const order = ids([route('late', 2), foreign, route('native', 1)]);
    expect(order.filter((id) => id !== 'foreign')).toEqual(['native', 'late']);
    if (DIALECTS['anthropic-messages']) expect(order).toEqual(['native', 'foreign', 'late']);
  });

  it('draws the first in proportion to the weights', () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    let heavy = 0;
    for (let count = 0; count < 4_000; count += 1) {
      if (ids([route('light', 1, 1), route('heavy', 1, 3)], random)[0] === 'heavy') heavy += 1;
    }
    expect(heavy / 4_000).toBeGreaterThan(0.71);
    expect(heavy / 4_000).toBeLessThan(0.79);
  });
});

describe('an address', () => {
  it('is reached only when it is global', () => {
    for (const address of ['1.1.1.1', '2606:4700::1111']) expect(isPublic(address)).toBe(true);
    const inner = [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '192.168.0.1',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '224.0.0.1',
      '2002:7f00:1::',
      'nonsense',
    ];
    for (const address of inner) expect(isPublic(address)).toBe(false);
  });
});

describe('an upstream’s wish to wait', () => {
  it('is read in each of its forms, and nonsense is no wish', () => {
    expect(retryAfterOf({ 'retry-after': '2' }, 0)).toBe(2_000);
    expect(retryAfterOf({ 'retry-after-ms': '150', 'retry-after': '2' }, 0)).toBe(150);
    expect(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 0)).toBe(9_000);
    expect(retryAfterOf({ 'retry-after': 'soon' }, 0)).toBeUndefined();
    expect(retryAfterOf({}, 0)).toBeUndefined();
  });
});
