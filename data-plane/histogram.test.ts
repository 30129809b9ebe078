/** A histogram shows what the one of the metrics library shows. */
import { Histogram, Registry } from 'prom-client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlainHistogram } from './histogram.ts';

const BUCKETS = [0.1, 0.5, 2];
const about = { name: 'gateway_test_seconds', help: 'A test.' };

/** The metrics of both histograms after the same durations, in ms. */
function both(durations: readonly (readonly [string, number])[], label?: string) {
  const [own, library] = [new Registry(), new Registry()];
  const plain = new PlainHistogram(own, {
    ...about,
    buckets: BUCKETS,
    ...(label !== undefined && { label }),
  });
  const labelNames = label === undefined ? [] : [label];
  const given = new Histogram({ ...about, labelNames, buckets: BUCKETS, registers: [library] });
  for (const [value, ms] of durations) {
    plain.add(ms, label === undefined ? undefined : value);
    given.observe(label === undefined ? {} : { [label]: value }, ms / 1_000);
  }
  return { own, library };
}

/** The values as a worker sends them to its node. */
async function valuesOf(registry: Registry) {
  return (await registry.getMetricsAsJSON()).map(({ values, ...metric }) => ({
    ...metric,
    values: values.map(({ labels, value, ...more }) => ({
      ...{ labels, value },
      name: 'metricName' in more && more.metricName,
    })),
  }));
}

const DURATIONS = fc.array(
  fc.tuple(fc.constantFrom('a', 'b "c"'), fc.constantFrom(0, 99, 100, 101, 500, 1_999, 2_000, 2_001, 9_000)),
  { maxLength: 20 },
);

describe('a histogram', () => {
  it.each([
    ['a label', 'model'],
    ['no label', undefined],
  ] as const)('with %s shows the same texts and values as that of the library', async (_, label) => {
    await fc.assert(
      fc.asyncProperty(DURATIONS, async (durations) => {
        const { own, library } = both(durations, label);
        expect(await own.metrics()).toBe(await library.metrics());
        // A node adds up the values of its workers.
        expect(await valuesOf(own)).toEqual(await valuesOf(library));
      }),
      { numRuns: 50 },
    );
  });
});
