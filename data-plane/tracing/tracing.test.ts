/** Tests traces of requests as a receiver gets them from the official SDK. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTracingSettings } from '@gateway/shared/tracing';
import type { Tracing } from '@gateway/shared/tracing';
import { startOtlpReceiver } from '../../test/otlp-receiver.ts';
import type { OtlpReceiver } from '../../test/otlp-receiver.ts';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';
import { openTracing } from './open-tracing.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-00`;
const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'a secret question' }] };
const ANSWER = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'vendor-model' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'a secret answer' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

describe('the trace of a request', () => {
  let receiver: OtlpReceiver;
  let upstream: FakeUpstream;
  let node: TestNode;
  let tracing: Tracing;

  beforeEach(async () => {
    [receiver, upstream] = await Promise.all([
      startOtlpReceiver(),
      startUpstream(() => ({ chunks: [ANSWER] })),
    ]);
  });
  afterEach(async () => {
    await node.close();
    await Promise.all([receiver.close(), upstream.close()]);
  });

  /** Serves one request on a node that traces this share, and returns the spans. */
  async function spansOf(ratio: string) {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=house%20one',
      OTEL_TRACES_SAMPLER_ARG: ratio,
    };
    const opened = await openTracing(env, 'node-1');
    if (!opened) throw new Error('Tracing is off.');
    tracing = opened;
    node = await startNode({ tracing });
    node.store.routes.push(makeRoute(upstream.origin));
    await node.call({ body: QUESTION, headers: { traceparent: TRACEPARENT } });
    await tracing.close();
    return receiver.spans();
  }

  it('has a span below the span of the client, and one for the upstream, with the GenAI names', async () => {
    const [own, asked, ...others] = await spansOf('1').then((spans) =>
      spans.toSorted((left, right) => left.kind - right.kind),
    );
    const [server, client] = [own, asked];
    expect(others).toEqual([]);
    expect(server).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, kind: 2, isFailed: false });
    expect(server?.attributes).toMatchObject({
      'http.response.status_code': 200,
      'gateway.family': 'chat_completions',
    });
    expect(client).toMatchObject({ traceId: TRACE_ID, parentSpanId: server?.spanId, kind: 3 });
    expect(client?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': upstream.seen[0] && JSON.parse(upstream.seen[0].body).model,
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 1,
    });
    expect(upstream.seen[0]?.headers['traceparent']).toBe(`00-${TRACE_ID}-${client?.spanId}-01`);
  });

  it('holds no content, no key and no address of a client, and is sent with the headers', async () => {
    await spansOf('1');
    const text = receiver.text();
    for (const secret of ['a secret', node.secret, '127.0.0.1"']) expect(text).not.toContain(secret);
    expect(text).toContain('house one');
    expect(text).toContain('gateway-node');
  });

  it('names the failure of the upstream', async () => {
    upstream.play = () => ({ status: 500, chunks: ['a secret error'] });
    const spans = await spansOf('1');
    expect(spans.every(({ isFailed }) => isFailed)).toBe(true);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toContain('upstream_failed');
    expect(receiver.text()).not.toContain('a secret error');
  });

  it('is omitted beyond the sampled share, and the context of the client passes unchanged', async () => {
    expect(await spansOf('0')).toEqual([]);
    expect(upstream.seen[0]?.headers['traceparent']).toBe(TRACEPARENT);
  });
});

it('nothing is traced without an endpoint, and bad settings are named', async () => {
  expect(await openTracing({}, 'node-1')).toBeUndefined();
  const read = (more: Record<string, string>) => () =>
    readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...more }, 'x');
  expect(read({})()).toMatchObject({ ratio: 0.01, serviceName: 'x' });
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' })).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT');
  for (const ratio of ['2', '-1', 'all'])
    expect(read({ OTEL_TRACES_SAMPLER_ARG: ratio })).toThrow('OTEL_TRACES_SAMPLER_ARG');
  expect(read({ OTEL_EXPORTER_OTLP_HEADERS: 'token' })).toThrow('OTEL_EXPORTER_OTLP_HEADERS');
});
