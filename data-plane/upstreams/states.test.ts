import { GatewayError } from '@gateway/shared/failures';
import { UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import { describe, expect, it } from 'vitest';
import { makeRoute } from '../../test/request-path.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { Candidate } from '../exchange/exchange.ts';
import { Metrics } from '../metrics.ts';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './circuit.ts';
import { UpstreamStates } from './states.ts';
import { WINDOW_SPAN_MS } from './window.ts';

const FAILED = new GatewayError('upstream_failed', 'It failed.');

function candidateOf(id: string, baseUrl = 'https://one.example/v1'): Candidate {
  const { route, provider } = makeRoute(baseUrl);
  const dialect = DIALECTS['openai-chat'];
  const credential = { id: `crd-${id}`, origin: 'https://one.example', secret: 'secret' };
  return { route, provider: { ...provider, id, baseUrl }, credential, dialect, native: true };
}

function known() {
  const clock = { at: 1_000_000 };
  const states = new UpstreamStates({ now: () => clock.at, random: () => 0 });
  const turn = (candidate: Candidate, error?: GatewayError) => states.start(candidate, clock.at)({ error });
  return { clock, states, turn };
}

describe('what a node reports of its upstreams', () => {
  it('is nothing before any was asked, and nothing once all were quiet for long', () => {
    const { clock, states, turn } = known();
    expect(states.report()).toEqual({ upstreams: [], credentials: [] });
    turn(candidateOf('one'));
    expect(states.report().upstreams).toHaveLength(1);
    clock.at += WINDOW_SPAN_MS + 1;
    expect(states.report()).toEqual({ upstreams: [], credentials: [] });
  });

  it('counts turns by how they ended, and leaves out what clients did', () => {
    const { states, turn } = known();
    const one = candidateOf('one');
    turn(one);
    turn(one, FAILED);
    turn(one, new GatewayError('upstream_busy', 'Busy.'));
    turn(one, new GatewayError('upstream_timeout', 'Late.'));
    states.start(one, 0)({ error: FAILED, refusal: { status: 401, unwell: false } });
    turn(one, new GatewayError('client_closed', 'Gone.'));
    turn(one, new GatewayError('invalid_request', 'Wrong.'));
    expect(states.report().upstreams).toEqual([
      {
        providerId: 'one',
        circuit: 'CLOSED',
        ...{ requests: 5, busy: 1, timeouts: 1, refused: 1, failed: 1 },
        ...{ p50Ms: null, p95Ms: null },
      },
    ]);
  });

  it('counts a turn once, however often it is said to have ended', () => {
    const { clock, states } = known();
    const settle = states.start(candidateOf('one'), clock.at);
    settle();
    settle({ error: FAILED });
    expect(states.report().upstreams[0]).toMatchObject({ requests: 1, failed: 0 });
  });

  it('tells how long answers took to begin', () => {
    const { clock, states, turn } = known();
    const one = candidateOf('one');
    turn(one);
    clock.at += 10;
    states.answered(one.provider, clock.at - 10);
    expect(states.report().upstreams[0]).toMatchObject({ p50Ms: 10, p95Ms: 10 });
  });

  it('follows the circuit: closed, open, half open, closed', () => {
    const { clock, states, turn } = known();
    const one = candidateOf('one');
    const circuit = () => states.report().upstreams[0]?.circuit;
    for (let at = 1; at < CONSECUTIVE_FAILURES; at += 1) turn(one, FAILED);
    expect(circuit()).toBe('CLOSED');
    turn(one, FAILED);
    expect(circuit()).toBe('OPEN');
    expect(states.isEjected(one.provider, clock.at)).toBe(true);
    clock.at += EJECTION_MS;
    expect(circuit()).toBe('HALF_OPEN');
    turn(one);
    expect(circuit()).toBe('CLOSED');
  });

  it('does not open the circuit for a refused credential or a full rate', () => {
    const { states } = known();
    const one = candidateOf('one');
    for (let at = 0; at < 2 * CONSECUTIVE_FAILURES; at += 1)
      states.start(one, 0)({ error: FAILED, refusal: { status: 403, unwell: false } });
    expect(states.report().upstreams[0]?.circuit).toBe('CLOSED');
  });

  it('begins anew where the address of a provider was changed, and keeps it where only its name was', () => {
    const { states, turn } = known();
    turn(candidateOf('one'), FAILED);
    turn(candidateOf('one'), FAILED);
    expect(states.report().upstreams[0]?.failed).toBe(2);
    turn(candidateOf('one', 'https://other.example/v1'));
    expect(states.report().upstreams).toHaveLength(1);
    expect(states.report().upstreams[0]).toMatchObject({ requests: 1, failed: 0 });
  });

  it('tells when a credential was used and how it failed last, as ages', () => {
    const { clock, states, turn } = known();
    const one = candidateOf('one');
    states.start(one, clock.at)({ error: FAILED, refusal: { status: 401, unwell: false } });
    clock.at += 2_000;
    turn(one);
    clock.at += 500;
    expect(states.report().credentials).toEqual([
      { credentialId: 'crd-one', usedMsAgo: 500, lastError: 'REFUSED', lastErrorMsAgo: 2_500 },
    ]);
  });

  it('is bounded: those that were asked last are told', () => {
    const { clock, states, turn } = known();
    for (let at = 0; at <= UPSTREAMS_MAX; at += 1) {
      turn(candidateOf(`p${at}`));
      clock.at += 1;
    }
    const { upstreams } = states.report();
    expect(upstreams).toHaveLength(UPSTREAMS_MAX);
    expect(upstreams[0]?.providerId).toBe(`p${UPSTREAMS_MAX}`);
  });

  it('stands in the metrics, too: circuit, turns by fault, and latencies', async () => {
    const { clock, states, turn } = known();
    const metrics = new Metrics(undefined, states);
    const one = candidateOf('one');
    states.answered(one.provider, clock.at - 200);
    turn(one);
    for (let at = 0; at < CONSECUTIVE_FAILURES; at += 1) turn(one, FAILED);
    expect((await metrics.registry.metrics()).split('\n')).toEqual(
      expect.arrayContaining([
        'gateway_upstream_circuit{provider="one"} 2',
        'gateway_upstream_turns_total{provider="one",fault="none"} 1',
        `gateway_upstream_turns_total{provider="one",fault="failed"} ${CONSECUTIVE_FAILURES}`,
        'gateway_upstream_answer_seconds_count{provider="one"} 1',
      ]),
    );
  });
});
