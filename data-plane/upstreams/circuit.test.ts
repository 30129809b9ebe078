/** The circuit breaker of an upstream, and the retry budget of a node. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLOSED_CIRCUIT,
  EJECTION_MAX_MS,
  FRESH_BUDGET,
  allowedRequests,
  afterFailure,
  afterInconclusive,
  afterRequest,
  afterRetry,
  afterStart,
  afterSuccess,
} from './circuit.ts';
import type { Circuit } from './circuit.ts';

function failing(times: number, from: Circuit = CLOSED_CIRCUIT, now = 1_000): Circuit {
  let circuit = from;
  for (let count = 0; count < times; count += 1) circuit = afterFailure(circuit, now, 0);
  return circuit;
}

describe('a circuit', () => {
  it('ejects after five failures in a row, allows one probe, and closes after its success', () => {
    expect(allowedRequests(failing(4), 1_000)).toBe('all');
    const ejected = failing(5);
    expect(allowedRequests(ejected, 1_001)).toBe('none');
    expect(allowedRequests(ejected, 31_000)).toBe('probe');
    const probing = afterStart(ejected, 31_000);
    expect(allowedRequests(probing, 31_000)).toBe('none');
    expect(allowedRequests(afterSuccess(probing, 31_500), 31_500)).toBe('all');
    expect(allowedRequests(afterInconclusive(probing), 31_500)).toBe('probe');
  });

  it('ejects for longer after each failed probe, up to the maximum', () => {
    let circuit = failing(5);
    for (let count = 0; count < 30; count += 1) {
      const at = circuit.ejectedUntil;
      circuit = afterFailure(afterStart(circuit, at), at, 0);
      expect(circuit.ejectedUntil - at).toBeLessThanOrEqual(EJECTION_MAX_MS);
    }
    expect(circuit.ejections).toBe(31);
  });

  it('ejects after more than half of many requests failed, even if never five in a row', () => {
    let circuit = CLOSED_CIRCUIT;
    for (let count = 0; count < 30; count += 1) {
      circuit = count % 3 === 0 ? afterSuccess(circuit, 1_000) : afterFailure(circuit, 1_000, 0);
    }
    expect(allowedRequests(circuit, 1_001)).toBe('none');
  });

  it('allows a request again after the longest ejection, whatever happened before', () => {
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
          if (event === 'nothing') circuit = afterInconclusive(circuit);
        }
        expect(allowedRequests(afterInconclusive(circuit), now + 2 * EJECTION_MAX_MS)).not.toBe('none');
      }),
    );
  });
});

describe('the retry budget', () => {
  it('allows one retry for ten requests', () => {
    let budget = FRESH_BUDGET;
    for (let count = 0; count < 1_000; count += 1) budget = afterRequest(budget, 1);
    let retries = 0;
    for (let next = afterRetry(budget, 1); next; next = afterRetry(next, 1)) retries += 1;
    expect(retries).toBe(100);
  });
});
