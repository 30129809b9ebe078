/** The health of upstreams on a node: heartbeat reports, circuits and metrics. */
import { GatewayError } from '@gateway/shared/failures';
import { UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import { describe, expect, it } from 'vitest';
import { makeRoute } from '../../test/request-path.ts';
import { DIALECTS } from '../dialects/index.ts';
import { Metrics } from '../metrics.ts';
import type { Candidate } from './attempt.ts';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from './circuit.ts';
import { UpstreamStates } from './states.ts';
import { WINDOW_SPAN_MS } from './window.ts';

const FAILED = new GatewayError('upstream_failed', 'It failed.');

function candidateOf(id: string, baseUrl = 'https://one.example/v1'): Candidate {
  const { route, provider } = makeRoute(baseUrl);
  const dialect = DIALECTS['openai-chat'];
  const credential = { id: `crd-${id}`, origin: 'https://one.example', binding: null, secret: 'secret' };
  return {
    route,
    provider: { ...provider, id, baseUrl },
    credential,
    certificate: undefined,
    dialect,
    native: true,
  };
}

function newStates() {
  const clock = { at: 1_000_000 };
  const states = new UpstreamStates({ now: () => clock.at, random: () => 0 });
  const attempt = (candidate: Candidate, error?: GatewayError) =>
    states.start(candidate, clock.at)({ error });
  return { clock, states, attempt };
}

describe('the report of upstreams', () => {
  it('is empty before any upstream was asked, and after a window without requests', () => {
    const { clock, states, attempt } = newStates();
    expect(states.report()).toEqual({ upstreams: [], credentials: [], routes: [] });
    attempt(candidateOf('one'));
    expect(states.report().upstreams).toHaveLength(1);
    clock.at += WINDOW_SPAN_MS + 1;
    expect(states.report()).toEqual({ upstreams: [], credentials: [], routes: [] });
  });

  it('counts attempts by fault, without those that failed because of the client', () => {
    const { states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one);
    attempt(one, FAILED);
    attempt(one, new GatewayError('upstream_busy', 'Busy.'));
    attempt(one, new GatewayError('upstream_timeout', 'Late.'));
    states.start(one, 0)({ error: FAILED, refusal: { status: 401, unwell: false } });
    attempt(one, new GatewayError('client_closed', 'Gone.'));
    attempt(one, new GatewayError('invalid_request', 'Wrong.'));
    expect(states.report().upstreams).toEqual([
      {
        providerId: 'one',
        circuit: 'CLOSED',
        ...{ requests: 5, busy: 1, timeouts: 1, refused: 1, failed: 1 },
        ...{ p50Ms: null, p95Ms: null, inputTokens: 0, cachedTokens: 0, clockAheadMs: null },
      },
    ]);
  });

  it('counts an attempt once, even if it is settled twice', () => {
    const { clock, states } = newStates();
    const settle = states.start(candidateOf('one'), clock.at);
    settle();
    settle({ error: FAILED });
    expect(states.report().upstreams[0]).toMatchObject({ requests: 1, failed: 0 });
  });

  it('has the latency until answers began', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one);
    clock.at += 10;
    states.answered(one.provider, clock.at - 10);
    expect(states.report().upstreams[0]).toMatchObject({ p50Ms: 10, p95Ms: 10 });
  });

  it('adds up the input tokens, and ignores numbers that no answer can have', () => {
    const { states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one);
    const of = (input: number | null, cached: number | null) =>
      states.counted(one.provider, { input, cached, output: 1, reasoning: null });
    of(100, 90);
    of(50, null);
    of(10, 20);
    for (const wrong of [null, -1, Number.NaN, 2 ** 40]) of(wrong, 5);
    expect(states.report().upstreams[0]).toMatchObject({ inputTokens: 160, cachedTokens: 100 });
  });

  it('has the state of the circuit: closed, open, half open, closed', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    const circuit = () => states.report().upstreams[0]?.circuit;
    for (let at = 1; at < CONSECUTIVE_FAILURES; at += 1) attempt(one, FAILED);
    expect(circuit()).toBe('CLOSED');
    attempt(one, FAILED);
    expect(circuit()).toBe('OPEN');
    expect(states.isEjected(one.provider, clock.at)).toBe(true);
    clock.at += EJECTION_MS;
    expect(circuit()).toBe('HALF_OPEN');
    attempt(one);
    expect(circuit()).toBe('CLOSED');
  });

  it('keeps the circuit closed after refused credentials', () => {
    const { states } = newStates();
    const one = candidateOf('one');
    for (let at = 0; at < 2 * CONSECUTIVE_FAILURES; at += 1)
      states.start(one, 0)({ error: FAILED, refusal: { status: 403, unwell: false } });
    expect(states.report().upstreams[0]?.circuit).toBe('CLOSED');
  });

  it('stays half open after a refused token, because nobody reached the upstream', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    for (let at = 0; at < CONSECUTIVE_FAILURES; at += 1) attempt(one, FAILED);
    clock.at += EJECTION_MS;
    states.start(one, clock.at)({ error: FAILED, refusal: { status: 401 } });
    expect(states.report().upstreams[0]?.circuit).toBe('HALF_OPEN');
    expect(states.isEjected(one.provider, clock.at)).toBe(false);
    attempt(one, FAILED);
    expect(states.report().upstreams[0]?.circuit).toBe('OPEN');
  });

  it('starts from zero after a change of the base URL, not after other changes of the provider', () => {
    const { states, attempt } = newStates();
    attempt(candidateOf('one'), FAILED);
    attempt(candidateOf('one'), FAILED);
    expect(states.report().upstreams[0]?.failed).toBe(2);
    attempt(candidateOf('one', 'https://other.example/v1'));
    expect(states.report().upstreams).toHaveLength(1);
    expect(states.report().upstreams[0]).toMatchObject({ requests: 1, failed: 0 });
  });

  it('has the last use and the last failure of each credential, as ages in ms', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    states.start(one, clock.at)({ error: FAILED, refusal: { status: 401, unwell: false } });
    clock.at += 2_000;
    attempt(one);
    clock.at += 500;
    expect(states.report().credentials).toEqual([
      {
        ...{ credentialId: 'crd-one', usedMsAgo: 500, lastError: 'REFUSED', lastErrorMsAgo: 2_500 },
        ...{ suspendedMs: null, spentMs: null },
      },
    ]);
  });

  it('states until when credentials and routes are suspended', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one);
    states.suspended(one, clock.at + 5_000);
    states.spared(one, clock.at + 9_000);
    states.routeEjected(one, clock.at + 7_000);
    clock.at += 1_000;
    expect(states.report().credentials[0]).toMatchObject({ suspendedMs: 4_000, spentMs: 8_000 });
    expect(states.report().routes).toEqual([{ routeId: one.route.id, openMs: 6_000 }]);
    clock.at += 8_000;
    expect(states.report().credentials[0]).toMatchObject({ suspendedMs: null, spentMs: null });
    expect(states.report().routes).toEqual([]);
  });

  it('names a differing clock until the upstream answers or refuses for another reason', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one, FAILED);
    states.clockDiffers(one.provider, 300_000);
    expect(states.report().upstreams[0]?.clockAheadMs).toBe(300_000);
    states.answered(one.provider, clock.at);
    expect(states.report().upstreams[0]?.clockAheadMs).toBeNull();
    states.clockDiffers(one.provider, -300_000);
    states.clockDiffers(one.provider, undefined);
    expect(states.report().upstreams[0]?.clockAheadMs).toBeNull();
  });

  it('names the differing clock of a token service until it gives a token or the provider is changed', () => {
    const { clock, states, attempt } = newStates();
    const one = candidateOf('one');
    attempt(one);
    states.tokenClockDiffers(one.provider, 300_000);
    states.answered(one.provider, clock.at);
    expect(states.report().upstreams[0]?.clockAheadMs).toBe(300_000);
    states.tokenClockDiffers(one.provider, undefined);
    expect(states.report().upstreams[0]?.clockAheadMs).toBeNull();
    states.tokenClockDiffers(one.provider, 300_000);
    attempt(candidateOf('one'));
    expect(states.report().upstreams[0]?.clockAheadMs).toBeNull();
  });

  it('has at most the upstreams that were asked last', () => {
    const { clock, states, attempt } = newStates();
    for (let at = 0; at <= UPSTREAMS_MAX; at += 1) {
      attempt(candidateOf(`p${at}`));
      clock.at += 1;
    }
    const { upstreams } = states.report();
    expect(upstreams).toHaveLength(UPSTREAMS_MAX);
    expect(upstreams[0]?.providerId).toBe(`p${UPSTREAMS_MAX}`);
  });

  it('agrees with the metrics: circuit, attempts by fault, latencies', async () => {
    const { clock, states, attempt } = newStates();
    const metrics = new Metrics(undefined, states);
    const one = candidateOf('one');
    states.answered(one.provider, clock.at - 200);
    attempt(one);
    for (let at = 0; at < CONSECUTIVE_FAILURES; at += 1) attempt(one, FAILED);
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
