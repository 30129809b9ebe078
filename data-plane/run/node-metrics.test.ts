import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { ProcessMetrics } from './messages.ts';
import { NodeMetrics } from './node-metrics.ts';

/** The metrics of a process that served this many requests, has this revision and waits for these records. */
function metricsOf(requests: number, revision: number, backlog: number): Promise<ProcessMetrics> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['code'], registers })
    .labels('ok')
    .inc(requests);
  new Gauge({ name: 'revision', help: 'Revision.', aggregator: 'min', registers }).set(revision);
  new Gauge({ name: 'backlog', help: 'Backlog.', registers }).set(backlog);
  const seconds = new Histogram({ name: 'seconds', help: 'Seconds.', buckets: [1], registers });
  for (let count = 0; count < requests; count += 1) seconds.observe(0.5);
  return registry.getMetricsAsJSON();
}

describe('the metrics of a node', () => {
  it('are the sums over its processes, with the types of the metrics', async () => {
    const node = new NodeMetrics();
    node.set('1', await metricsOf(3, 7, 1));
    node.set('2', await metricsOf(4, 6, 2));
    const text = await node.text();
    for (const line of [
      ...['# TYPE requests_total counter', 'requests_total{code="ok"} 7', '# TYPE revision gauge'],
      ...[
        'revision 6',
        'backlog 3',
        '# TYPE seconds histogram',
        'seconds_bucket{le="1"} 7',
        'seconds_count 7',
      ],
    ])
      expect(text).toContain(`${line}\n`);
  });

  it('have no counter that falls when a process ends, and no gauge of that process', async () => {
    const node = new NodeMetrics();
    node.set('1', await metricsOf(3, 7, 1));
    for (let round = 1; round <= 3; round += 1) {
      node.set('2', await metricsOf(4, 6, 2));
      node.end('2');
      const text = await node.text();
      expect(text).toContain(`requests_total{code="ok"} ${3 + 4 * round}\n`);
      expect(text).toContain(`seconds_count ${3 + 4 * round}\n`);
      expect(text).toContain('revision 7\n');
      expect(text).toContain('backlog 1\n');
    }
  });

  it('count a process that ended once, also if it was never scraped', async () => {
    const node = new NodeMetrics();
    node.set('1', await metricsOf(3, 7, 1));
    node.end('1');
    node.end('1');
    node.end('never asked');
    expect(await node.text()).toContain('requests_total{code="ok"} 3\n');
  });
});
