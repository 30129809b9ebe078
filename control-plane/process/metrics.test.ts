/** The metrics of a control plane's HTTP server. */
import { describe, expect, it } from 'vitest';
import { TIME_LIMITS } from '../limits.ts';
import { httpRequests } from './metrics.ts';

describe('the histogram of request times', () => {
  it('has a bucket for the slowest request that the server accepts', async () => {
    const route = '/slow';
    httpRequests.observe({ route, status: '2xx' }, TIME_LIMITS.requestMs / 1_000);
    const { values } = await httpRequests.get();
    const counting = values.filter(({ labels, value }) => labels.route === route && value > 0);
    const bounds = counting.flatMap(({ labels }) => ('le' in labels ? [labels.le] : []));
    expect(bounds).toContain(TIME_LIMITS.requestMs / 1_000);
  });
});
