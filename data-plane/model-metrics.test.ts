/** The metrics of requests by model. */
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { ModelMetrics } from './model-metrics.ts';

type Usage = Parameters<ModelMetrics['add']>[0];

const USAGE: Usage = {
  model: 'swift',
  family: 'chat_completions',
  status: 'SUCCEEDED',
  cost: '100000',
  lossesInAnswer: 1,
  firstContentMs: 300,
  latencyMs: 2_000,
  tokens: { input: 10, output: 4, cached: 6, reasoning: null },
};

async function linesAfter(...requests: Usage[]): Promise<string[]> {
  const registry = new Registry();
  const metrics = new ModelMetrics(registry);
  for (const request of requests) metrics.add(request);
  await registry.metrics();
  return (await registry.metrics()).split('\n');
}

describe('the metrics of a model', () => {
  it('have requests, tokens, charges, losses and times, the same at every scrape', async () => {
    const lines = await linesAfter(USAGE, USAGE, { ...USAGE, status: 'FAILED', cost: '0' });
    expect(lines).toEqual(
      expect.arrayContaining([
        'gateway_model_requests_total{model="swift",family="chat_completions",status="succeeded"} 2',
        'gateway_model_requests_total{model="swift",family="chat_completions",status="failed"} 1',
        'gateway_model_tokens_total{model="swift",kind="input"} 30',
        'gateway_model_tokens_total{model="swift",kind="reasoning"} 0',
        'gateway_model_charged_usd_total{model="swift"} 0.2',
        'gateway_model_losses_total{model="swift"} 3',
        'gateway_model_answer_seconds_count{model="swift"} 2',
        'gateway_model_first_content_seconds_bucket{le="0.25",model="swift"} 0',
        'gateway_model_first_content_seconds_bucket{le="0.5",model="swift"} 2',
      ]),
    );
  });

  it('are bounded in number', async () => {
    const many = Array.from({ length: 600 }, (_, at) => ({ ...USAGE, model: `model-${at}` }));
    const lines = await linesAfter(...many);
    const counted = lines.filter((line) => line.startsWith('gateway_model_charged_usd_total{'));
    expect(counted).toHaveLength(501);
    expect(lines).toContain('gateway_model_charged_usd_total{model="other"} 10');
  });
});
