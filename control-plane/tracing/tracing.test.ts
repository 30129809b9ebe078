/** Tests traces of GraphQL operations as a receiver gets them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tracing } from '@gateway/shared/tracing';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { startOtlpReceiver } from '../../test/otlp-receiver.ts';
import type { OtlpReceiver } from '../../test/otlp-receiver.ts';
import { openTracing } from './open-tracing.ts';

const SETTLE = `mutation Report($input: NodeUsageReportInput!) { nodeUsageReport(input: $input) {
  accepted userErrors { code } } }`;

let receiver: OtlpReceiver;
let tracing: Tracing;
let test: TestApp;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_TRACES_SAMPLER_ARG: '1' };
  const opened = await openTracing(env, 'control-1');
  if (!opened) throw new Error('Tracing is off.');
  tracing = opened;
  test = await startTestApp({ tracing, findNode: async () => ({ id: 'nod_1', name: 'node-1' }) });
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});

it('operations are traced by root field and name, settlement by its own, and without content', async () => {
  const browser = test.browser();
  await browser.send('query Hello($text: String!) { catalogModel(name: $text) { id } }', {
    text: 'a private text',
  });
  await browser.send('mutation { apiKeyDisable(input: { id: "key_private" }) { userErrors { code } } }');
  const input = { nodeId: 'nod_1', batchId: 'b', records: [] };
  await browser.send(SETTLE, { input }, { authorization: 'Bearer gnt_secret' });
  await tracing.close();
  const spans = receiver.spans();
  expect(spans.map(({ name }) => name)).toEqual([
    'mutation apiKeyDisable',
    'query catalogModel',
    'settlement',
  ]);
  const [refused, asked] = spans;
  expect(refused).toMatchObject({ isFailed: true, attributes: { 'error.type': 'UNAUTHENTICATED' } });
  expect(asked).toMatchObject({ isFailed: false, attributes: { 'graphql.operation.name': 'Hello' } });
  for (const secret of ['a private text', 'key_private', 'gnt_secret'])
    expect(receiver.text()).not.toContain(secret);
});
